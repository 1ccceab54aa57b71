//===- communicator.h - Processes that work together ------------*- C -*-===//
//
// Ranks are the processes of one program, numbered from 0. A communicator is an
// ordered set of them, reached through a table of functions only: `self` is one
// rank alone, `mpi` are those that a launcher such as mpirun has started.
//
// What is exchanged is posted and waited for: messages of a post start at once
// and end together. Gathers, broadcasts and exchanges of pieces are posts of
// messages from rank to rank, so that nothing depends on how a library adds
// or forwards; each kind of communicator gets them from the same functions.
//
// Threads: post, wait and progress may be called by any threads at once; open,
// split and close by one thread of the process at a time, in the same order on
// all ranks. Ownership: memory that a message names stays untouched from the
// post to its wait (sent memory may be read); all posts are waited for before a
// communicator is closed.
//
// Errors: after any failure but one of `open` the communicator can only be
// closed, or `hfta_communicator_fail`ed, which ends all ranks; later posts and
// waits fail with the same message.
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

/// Seconds that a rank may be without progress, unless an option says another
/// number.
#define HFTA_DEFAULT_RANK_TIMEOUT 120.0

typedef struct hfta_communicator hfta_communicator;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

typedef enum hfta_ranks {
  HFTA_RANKS_AUTO, ///< those of the launcher; without one, this process alone
  HFTA_RANKS_ONE   ///< this process alone, whoever has started it
} hfta_ranks;

/// Zeros are the defaults.
typedef struct hfta_rank_options {
  hfta_ranks ranks;
  const char *library; ///< of MPI; NULL: the host program's own, if it has
                       ///< one, else libmpi.so.40
  double timeout;      ///< seconds that a rank may be without progress before
                       ///< it counts as lost; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_rank_options;

/// What a launcher says of this process in its environment. Without a launcher,
/// or with one that says nothing or nonsense, rank 0 of 1.
typedef struct hfta_launcher {
  int rank, size;
  int local_size; ///< ranks on this host; `size` if the launcher doesn't say
  bool is_bound;  ///< the launcher has chosen processors for each rank
} hfta_launcher;

/// Needs no MPI and opens nothing.
void hfta_launcher_find(hfta_launcher *out);

/// All ranks of the launcher, or this process alone. With several ranks all of
/// them must open, as often and in the same order; it returns when all have.
///
/// `options` NULL: the defaults. No library, or one whose ABI isn't Open MPI's,
/// one that sees other ranks than the launcher has started, or a host program
/// whose own MPI can't be called by several threads are HFTA_UNSUPPORTED; ranks
/// of different versions HFTA_USAGE; ranks that don't open in time HFTA_LOST.
///
/// A host program that has initialised MPI keeps it: it finalizes MPI itself,
/// after the last communicator is closed. Otherwise MPI is finalized when the
/// process ends by exit(0) or by return from main, which waits for all ranks; a
/// process that ends with another code takes the other ranks with it.
hfta_status hfta_communicator_open(const hfta_rank_options *options,
                                   hfta_communicator **out, hfta_error *error);

/// NULL is allowed.
void hfta_communicator_close(hfta_communicator *communicator);

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Of a communicator, by number. A rank may name itself: its own messages are
/// copies. A message and its counterpart have the same number of bytes, 0 too.
typedef struct hfta_message {
  int peer;
  bool sends; ///< else it receives
  void *memory;
  uint64_t bytes;
} hfta_message;

/// What a post is, for messages about it.
typedef struct hfta_label {
  const char *what;    ///< "reduce of gradients.3"; stays until the wait
  int64_t micro_batch; ///< -1: none
  int tag; ///< messages between two ranks pair in order where tags are equal
} hfta_label;

typedef struct hfta_post {
  hfta_label label;
  const hfta_message *messages; ///< copied
  uint32_t count;
} hfta_post;

/// A post that was not waited for yet.
typedef struct hfta_posted hfta_posted;

typedef struct hfta_communicator_functions {
  const char *kind; ///< "self", "mpi", "workers"

  hfta_status (*open)(const hfta_rank_options *options, hfta_communicator **out,
                      hfta_error *error);
  void (*close)(hfta_communicator *communicator);

  /// Called by all ranks: those of equal color become a communicator, ranks by
  /// ascending `key`, by their rank in this one where keys are equal. A rank
  /// of a negative color gets NULL.
  hfta_status (*split)(hfta_communicator *communicator, int color, int key,
                       hfta_communicator **out, hfta_error *error);

  /// Starts the messages and returns at once. In steps that post alike nothing
  /// is allocated but in the first.
  hfta_status (*post)(hfta_communicator *communicator, const hfta_post *post,
                      hfta_posted **out, hfta_error *error);
  /// Returns when all messages of the post have ended, and frees it, failed or
  /// not. The thread sleeps. A rank that keeps it without progress for the
  /// timeout is HFTA_LOST, a message of another length HFTA_INTERNAL.
  hfta_status (*wait)(hfta_communicator *communicator, hfta_posted *posted,
                      hfta_error *error);

  /// Tells the other ranks that this one works, if slowly: called whenever
  /// something is done that isn't a message. Costs a few nanoseconds.
  void (*progress)(hfta_communicator *communicator);

  /// See hfta_communicator_give_up.
  void (*give_up)(hfta_communicator *communicator, hfta_status code,
                  const char *message);

  /// See hfta_communicator_fail.
  void (*fail)(hfta_communicator *communicator, hfta_status code,
               const char *line);
} hfta_communicator_functions;

/// The common head of every communicator's own struct.
struct hfta_communicator {
  const hfta_communicator_functions *functions;
  int rank, size;
  int local_size; ///< ranks of this communicator on this host
  /// Of each rank, whether messages to it go through a network; owned by the
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

/// Posts and waits.
hfta_status hfta_communicator_complete(hfta_communicator *communicator,
                                       const hfta_post *post,
                                       hfta_error *error);

void hfta_communicator_progress(hfta_communicator *communicator);

/// After a failure that the communicator doesn't know of: its posts and waits
/// fail with this from now on, unless they have failed already, and threads
/// that sleep in them wake up. It is for this process' communicators of this
/// kind, all of them; other ranks aren't told.
void hfta_communicator_give_up(hfta_communicator *communicator,
                               hfta_status code, const char *message);

/// Ends all ranks of the launcher with this exit code, those that are stopped
/// too, and doesn't return. `line` is a whole message without its line break,
/// for the standard error. Where several ranks fail at the same time one of
/// them prints its line. Alone it prints and exits.
void hfta_communicator_fail(hfta_communicator *communicator, hfta_status code,
                            const char *line) HFTA_NORETURN;

//===----------------------------------------------------------------------===//
// Posts that all ranks of a communicator take part in
//===----------------------------------------------------------------------===//
//
// `offsets` has size + 1 entries in bytes, equal on all ranks: piece q is
// [offsets[q], offsets[q + 1]) and may be empty.

/// Each rank's piece of `memory` goes to all ranks, to the same place.
hfta_status hfta_communicator_post_gather(hfta_communicator *communicator,
                                          const hfta_label *label, void *memory,
                                          const uint64_t *offsets,
                                          hfta_posted **out, hfta_error *error);

/// The root's `memory` goes to all ranks, from it to each.
hfta_status hfta_communicator_post_broadcast(hfta_communicator *communicator,
                                             const hfta_label *label, int root,
                                             void *memory, uint64_t bytes,
                                             hfta_posted **out,
                                             hfta_error *error);

/// Each rank sends piece q of `memory` to rank q, and receives its own piece of
/// every rank's, in the order of ranks (its own one included), to `received`,
/// which has size · (bytes of its own piece).
hfta_status hfta_communicator_post_exchange(hfta_communicator *communicator,
                                            const hfta_label *label,
                                            const void *memory,
                                            const uint64_t *offsets,
                                            void *received, hfta_posted **out,
                                            hfta_error *error);

//===----------------------------------------------------------------------===//
// What all ranks agree on; each returns when all have called it
//===----------------------------------------------------------------------===//
//
// Called by all ranks in the same order. They have a tag of their own.

/// `value` becomes the largest of all ranks'.
hfta_status hfta_communicator_max(hfta_communicator *communicator,
                                  const char *what, int64_t *value,
                                  hfta_error *error);

/// Whether these bytes are the same on all ranks. `out_rank` becomes the lowest
/// rank whose bytes aren't those of rank 0, the same on all ranks; -1: none.
hfta_status hfta_communicator_compare(hfta_communicator *communicator,
                                      const char *what, const void *bytes,
                                      uint64_t count, int *out_rank,
                                      hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_COMMUNICATOR_H
