//===- journal.h - What a search has done and decided -----------*- C -*-===//
//
// The journal of a search is a file of JSON lines to which lines are only
// appended. From its lines, and from the trials' state files, a search goes on
// after any end of the process:
//
//   {"event":"search","version":1,"job":"tune",...}
//   {"event":"trial","trial":3,"settings":{"lr":0.01}}
//   {"event":"evaluated","fold":0,"epoch":1,"trials":[0,1],"train_loss":[...],
//    "validation_loss":[...],"validation_metric":[...]}
//   {"event":"decided","trial":3,"epoch":1,"verdict":"goes on",...}
//   {"event":"cloned","trial":5,"epoch":3,"donor":2,"settings":{...}}
//   {"event":"command","command":"stop","trials":[3]}
//
// A search runs in the same way whether it is new or resumed. Scores that the
// journal has aren't computed again, and commands are followed again, where
// they were. Everything else follows from both: a resumed search says it again,
// and the journal compares it with what it said before. After a kill
// while states are saved, only the trials that share a line "evaluated" may be
// others.
//
// Numbers are written so that they read back as the same doubles; those that
// aren't finite are the strings "nan", "inf" and "-inf". A line is complete or,
// after a crash, the last one and cut off; then it is removed.
//
// With several ranks, rank 0 reads and writes the file, and shares what it has
// read.
//
// Threads: one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_JOURNAL_H
#define HFTA_SRC_TUNING_JOURNAL_H

#include "hfta/communicator.h"
#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hfta_journal hfta_journal;

/// Something that all runs of a search have in common, as a name and a text.
typedef struct hfta_journal_fact {
  const char *name; ///< for messages, such as "sampler"
  const char *text;
  bool may_change; ///< whether a resumed search may have another one
} hfta_journal_fact;

/// Opens the journal `path`; NULL: nothing is written, and nothing is known. If
/// the file doesn't exist, it will begin with the facts; else it must begin
/// with equal ones, and fails with HFTA_INVALID_INPUT, naming the fact, if it
/// doesn't. All ranks must make the call. `*out` is NULL after a failure.
hfta_status hfta_journal_open(const char *path, const hfta_journal_fact *facts,
                              int64_t count, hfta_communicator *communicator,
                              hfta_journal **out, hfta_error *error);

/// Opens the journal `path`, which must exist, for reading alone: what isn't in
/// it is never written. Its facts aren't compared. With a communicator, rank 0
/// reads it for all ranks, which all make the call; NULL: this process reads
/// it.
hfta_status hfta_journal_read(const char *path, hfta_communicator *communicator,
                              hfta_journal **out, hfta_error *error);

/// Checks that a journal that has been read begins with these facts, as
/// hfta_journal_open does; `path` is for messages.
hfta_status hfta_journal_check(const hfta_journal *self, const char *path,
                               const hfta_journal_fact *facts, int64_t count,
                               hfta_error *error);

/// Returns a fact of the first line of a journal that has been read, which the
/// caller frees; NULL if it has none by this name.
char *hfta_journal_find_fact(const hfta_journal *self, const char *name);

/// Returns whether a file has at least one complete line.
bool hfta_journal_has_lines(const char *path);

/// Closes the journal; NULL is allowed. Lines that haven't been synced are
/// lost.
void hfta_journal_close(hfta_journal *self);

/// One run's values of an evaluated line.
typedef struct hfta_evaluated {
  int64_t trial, fold;
  int64_t epoch; ///< counted from 1
  double train_loss;
  double loss;
  double metric; ///< NaN if the job has none
  bool is_told;  ///< whether a score has been told from outside (`tell`)
  double told;   ///< this score
} hfta_evaluated;

/// Calls `function` for each evaluated and command line that the file had when
/// it was opened, in their order, until it fails. `number` is the line's,
/// from 1.
hfta_status hfta_journal_visit(const hfta_journal *self,
                               hfta_status (*function)(void *argument,
                                                       int64_t number,
                                                       const char *line),
                               void *argument);

/// Returns whether a line is a command's, and sets `*members` to what follows
/// its event, up to the end of the object.
bool hfta_journal_is_command(const char *line, const char **members);

/// Appends a line about several runs of one fold at one epoch.
hfta_status hfta_journal_add_evaluated(hfta_journal *self,
                                       const hfta_evaluated *values,
                                       int64_t count, hfta_error *error);

/// Appends the line of a command, an object whose text is `members` after its
/// event, up to its end.
hfta_status hfta_journal_add_command(hfta_journal *self, const char *members,
                                     hfta_error *error);

/// Says a line, which begins with its key: the part that no other line has in
/// common with it, of `key_bytes` bytes. It is appended, unless the file has
/// the line already. Fails with HFTA_INTERNAL if the file has another line with
/// this key: the search decides otherwise than before.
hfta_status hfta_journal_say(hfta_journal *self, const char *line,
                             size_t key_bytes, hfta_error *error);

/// Writes what has been appended, and syncs the file. What was appended before
/// must not have any effect, such as the removal of a file, until then.
hfta_status hfta_journal_sync(hfta_journal *self, hfta_error *error);

/// Returns the lines that have been appended since the journal was opened,
/// written or not; `*size` becomes their size. They are the journal's.
const char *hfta_journal_added(const hfta_journal *self, size_t *size);

/// Returns whether the file had lines of an earlier run.
bool hfta_journal_is_resumed(const hfta_journal *self);

#endif // HFTA_SRC_TUNING_JOURNAL_H
