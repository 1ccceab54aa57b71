//===- communicator.h - Processes that work together ------------*- C -*-===//
//
// Ranks are the processes of one program, numbered from 0. A communicator is an
// ordered set of ranks, reached only through a table of functions: `self` is
// one rank alone, `mpi` are the ranks that a launcher such as mpirun has
// started.
//
// Messages are exchanged by a post and a wait: the messages of a post start at
// once and end together. All-gathers, broadcasts and all-to-all exchanges are
// posts of messages from rank to rank, so that results don't depend on how a
// library reduces or forwards; each kind of communicator gets them from the
// same functions.
//
// Threads: post, wait and progress may be called by any threads at once; open,
// split and close by one thread of the process at a time, in the same order on
// all ranks. Ownership: the memory that a message names must not change from
// the post to its wait (memory that is sent may be read), and after a failure
// for longer, as hfta_communicator_keeps_memory says; every post is waited for
// before its communicator is closed.
//
// Errors: after any failure except one of `open` the communicator can only be
// closed, or passed to `hfta_communicator_fail`, which ends all ranks; later
// posts and waits fail with the same message.
//===----------------------------------------------------------------------===//

#ifndef HFTA_COMMUNICATOR_H
#define HFTA_COMMUNICATOR_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HFTA_NORETURN __attribute__((noreturn))
#else
#define HFTA_NORETURN
#endif

#define HFTA_MAX_RANKS 1024

/// Tags of posts are 0 .. HFTA_MAX_TAG.
#define HFTA_MAX_TAG ((1 << 19) - 1)

/// The default for how many seconds a rank may make no progress before it
/// counts as lost.
#define HFTA_DEFAULT_RANK_TIMEOUT 120.0

typedef struct hfta_communicator hfta_communicator;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

typedef enum hfta_ranks {
  HFTA_RANKS_AUTO, ///< the launcher's ranks; without a launcher, this process
                   ///< alone
  HFTA_RANKS_ONE   ///< this process alone, even if a launcher has started it
} hfta_ranks;

/// Options of hfta_communicator_open; zeros are the defaults.
typedef struct hfta_rank_options {
  hfta_ranks ranks;
  const char *library; ///< path of the MPI library; NULL: the one that the host
                       ///< program has loaded, else libmpi.so.40
  double timeout; ///< seconds that a rank may make no progress before it counts
                  ///< as lost; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_rank_options;

/// The place among its ranks that a launcher gives this process in the
/// environment. Without a launcher, or where its variables are missing or
/// malformed, that is rank 0 of 1.
typedef struct hfta_launcher {
  int rank, size;
  int local_size; ///< ranks on this host; `size` if the launcher doesn't say
  bool is_bound;  ///< the launcher has chosen processors for each rank
} hfta_launcher;

/// Reads the launcher's environment variables; needs no MPI and opens nothing.
void hfta_launcher_find(hfta_launcher *out);

/// Opens all ranks of the launcher, or this process alone. With several ranks
/// all of them must open equally often and in the same order; it returns when
/// all have opened.
///
/// `options` may be NULL for the defaults. It fails with HFTA_UNSUPPORTED if
/// there is no MPI library, if the library's ABI isn't Open MPI's, if it sees
/// other ranks than the launcher has started, or if the host program's own MPI
/// can't be called by several threads; with HFTA_USAGE if ranks have different
/// versions; with HFTA_LOST if ranks don't open in time.
///
/// If the host program has initialised MPI, it must finalize MPI too, after the
/// last communicator is closed. Otherwise MPI is finalized when the process
/// ends by exit(0) or by return from main, which waits for all ranks; a process
/// that ends with another code ends the other ranks as well.
hfta_status hfta_communicator_open(const hfta_rank_options *options,
                                   hfta_communicator **out, hfta_error *error);

/// Closes a communicator; NULL is allowed.
void hfta_communicator_close(hfta_communicator *communicator);

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

/// One message to or from a rank of the communicator. A rank may name itself:
/// messages to itself are copies. A message and its counterpart have the same
/// number of bytes, which may be 0.
typedef struct hfta_message {
  int peer;
  bool sends; ///< true: it is sent; false: received
  void *memory;
  uint64_t bytes;
} hfta_message;

/// Describes a post in error messages.
typedef struct hfta_label {
  const char *what;    ///< "reduce of gradients.3"; must live until the wait
  int64_t micro_batch; ///< -1: none
  int tag; ///< messages between two ranks with equal tags are matched in order
} hfta_label;

typedef struct hfta_post {
  hfta_label label;
  const hfta_message *messages; ///< the array is copied
  uint32_t count;
} hfta_post;

/// A post that wasn't waited for yet.
typedef struct hfta_posted hfta_posted;

typedef struct hfta_communicator_functions {
  const char *kind; ///< "self", "mpi", "workers"

  hfta_status (*open)(const hfta_rank_options *options, hfta_communicator **out,
                      hfta_error *error);
  void (*close)(hfta_communicator *communicator);

  /// Splits the communicator; all ranks call it. Ranks of equal color form a
  /// new communicator, in ascending order of `key`, or of their rank in this
  /// one where keys are equal. A rank of a negative color gets NULL.
  hfta_status (*split)(hfta_communicator *communicator, int color, int key,
                       hfta_communicator **out, hfta_error *error);

  /// Starts the messages and returns at once. If every step posts the same
  /// messages, memory is allocated only in the first step.
  hfta_status (*post)(hfta_communicator *communicator, const hfta_post *post,
                      hfta_posted **out, hfta_error *error);
  /// Returns when all messages of the post have ended, and frees the post, even
  /// after a failure. The thread sleeps meanwhile. If a rank makes no progress
  /// for the timeout and so delays it, that is HFTA_LOST; a message of another
  /// length is HFTA_INTERNAL. After a failure it doesn't wait for messages that
  /// don't end soon: see `keeps_memory`.
  hfta_status (*wait)(hfta_communicator *communicator, hfta_posted *posted,
                      hfta_error *error);
  /// See hfta_communicator_keeps_memory. NULL in a kind for which that always
  /// returns false.
  bool (*keeps_memory)(hfta_communicator *communicator);

  /// Reports to the other ranks that this one works, even if slowly: called
  /// whenever something other than a message is done. Costs a few nanoseconds.
  void (*progress)(hfta_communicator *communicator);

  /// See hfta_communicator_give_up.
  void (*give_up)(hfta_communicator *communicator, hfta_status code,
                  const char *message);

  /// See hfta_communicator_fail.
  void (*fail)(hfta_communicator *communicator, hfta_status code,
               const char *line);
} hfta_communicator_functions;

/// The first member of every communicator's own struct.
struct hfta_communicator {
  const hfta_communicator_functions *functions;
  int rank, size;
  int local_size; ///< ranks of this communicator on this host
  /// Whether messages to each rank go through a network; owned by the
  /// communicator. NULL: none do.
  bool *is_far;
};

extern const hfta_communicator_functions hfta_communicator_self;
extern const hfta_communicator_functions hfta_communicator_mpi;

hfta_status hfta_communicator_split(hfta_communicator *communicator, int color,
                                    int key, hfta_communicator **out,
                                    hfta_error *error);

hfta_status hfta_communicator_post(hfta_communicator *communicator,
                                   const hfta_post *post, hfta_posted **out,
                                   hfta_error *error);

hfta_status hfta_communicator_wait(hfta_communicator *communicator,
                                   hfta_posted *posted, hfta_error *error);

/// Posts the messages and waits for them.
hfta_status hfta_communicator_complete(hfta_communicator *communicator,
                                       const hfta_post *post,
                                       hfta_error *error);

/// Returns whether MPI may, after a failure, still read or write memory that
/// was posted, because a message can't be cancelled. All memory that was posted
/// must then stay allocated until the process ends, whether its post was waited
/// for or not; messages of a few bytes are an exception, as they arrive whole.
/// After a failure, the process waits for up to about half a second in all for
/// messages that are about to end, and for two if MPI itself hangs.
bool hfta_communicator_keeps_memory(hfta_communicator *communicator);

/// Frees memory from malloc that was posted, unless it must stay allocated
/// after a failure.
void hfta_communicator_free(hfta_communicator *communicator, void *memory);

void hfta_communicator_progress(hfta_communicator *communicator);

/// Makes posts and waits fail with this error from now on, unless they have
/// failed already, and wakes the threads that sleep in them. For failures that
/// the communicator doesn't see itself. It affects all of this process's
/// communicators of this kind; other ranks aren't notified.
void hfta_communicator_give_up(hfta_communicator *communicator,
                               hfta_status code, const char *message);

/// Ends all ranks of the launcher with this exit code, stopped ones included,
/// and doesn't return. `line` is a whole message without its line break, for
/// the standard error. If several ranks fail at the same time, one of them
/// prints its line. A process without other ranks prints the line and exits.
void hfta_communicator_fail(hfta_communicator *communicator, hfta_status code,
                            const char *line) HFTA_NORETURN;

//===----------------------------------------------------------------------===//
// Posts that all ranks of a communicator take part in
//===----------------------------------------------------------------------===//
//
// `offsets` has size + 1 entries in bytes, equal on all ranks: piece q is the
// range [offsets[q], offsets[q + 1]) and may be empty.

/// Posts an all-gather: each rank's piece of `memory` goes to the same place on
/// all ranks.
hfta_status hfta_communicator_post_gather(hfta_communicator *communicator,
                                          const hfta_label *label, void *memory,
                                          const uint64_t *offsets,
                                          hfta_posted **out, hfta_error *error);

/// Posts a broadcast: the root sends its `memory` directly to each rank.
hfta_status hfta_communicator_post_broadcast(hfta_communicator *communicator,
                                             const hfta_label *label, int root,
                                             void *memory, uint64_t bytes,
                                             hfta_posted **out,
                                             hfta_error *error);

/// Posts an all-to-all exchange: each rank sends piece q of `memory` to rank q,
/// and receives every rank's piece for it (its own included) into `received`,
/// in the order of ranks; `received` has size · (bytes of its own piece).
hfta_status hfta_communicator_post_exchange(hfta_communicator *communicator,
                                            const hfta_label *label,
                                            const void *memory,
                                            const uint64_t *offsets,
                                            void *received, hfta_posted **out,
                                            hfta_error *error);

//===----------------------------------------------------------------------===//
// Agreement of all ranks; each call returns when all ranks have called it
//===----------------------------------------------------------------------===//
//
// All ranks call these functions in the same order. Their messages have a
// reserved tag.

/// Sets `value` to the largest value of all ranks.
hfta_status hfta_communicator_max(hfta_communicator *communicator,
                                  const char *what, int64_t *value,
                                  hfta_error *error);

/// Compares these bytes between all ranks. `out_rank` becomes the lowest rank
/// whose bytes differ from those of rank 0, the same on all ranks; -1 if none
/// differ.
hfta_status hfta_communicator_compare(hfta_communicator *communicator,
                                      const char *what, const void *bytes,
                                      uint64_t count, int *out_rank,
                                      hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_COMMUNICATOR_H
