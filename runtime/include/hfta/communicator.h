//===- communicator.h - Processes that work together ------------*- C -*-===//
//
// Ranks are the processes of one program, numbered from 0. A communicator is an
// ordered set of ranks, as in MPI, and is used only through a table of
// functions. Its kind is `self` (one process alone), `mpi` (the processes that
// a launcher such as mpirun has started) or `workers` (the workers of all
// processes: communicator/worker_group.h).
//
// Messages are exchanged by a post and a wait: all messages of a post start at
// once, and the wait returns when all of them have ended. All-gathers,
// broadcasts and all-to-all exchanges are posts of messages from rank to rank,
// built by the same code for each kind of communicator. So results don't depend
// on how a library reduces or forwards data.
//
// Threads: post, wait and progress may be called by several threads at once;
// open, split and close by one thread of the process at a time, in the same
// order on all ranks. Ownership: memory that a message names must not change
// from the post to its wait (memory that is sent may be read). After a failure
// it may have to stay allocated for longer: see hfta_communicator_keeps_memory.
// Every post must be waited for before its communicator is closed.
//
// Errors: after a failure of any function except `open`, later posts and waits
// fail with the same message. The communicator can then only be closed, or
// passed to hfta_communicator_fail, which ends all ranks.
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

/// The largest tag of a post; tags begin with 0.
#define HFTA_MAX_TAG ((1 << 19) - 1)

/// The default time in seconds without progress after which a rank counts as
/// lost.
#define HFTA_DEFAULT_RANK_TIMEOUT 120.0

/// An open communicator.
typedef struct hfta_communicator hfta_communicator;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Which processes are ranks.
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
  double timeout; ///< seconds without progress after which a rank counts as
                  ///< lost; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_rank_options;

/// The rank of this process and the number of ranks, as the launcher's
/// environment variables state them. It is rank 0 of 1 without a launcher, or
/// if its variables are missing or malformed.
typedef struct hfta_launcher {
  int rank, size;
  int local_size; ///< number of ranks on this host; `size` if the launcher
                  ///< doesn't say
  bool is_bound;  ///< the launcher has bound each rank to processors
  bool is_found;  ///< whether a launcher has started this process
} hfta_launcher;

/// Fills `out` from the launcher's environment variables; uses no MPI.
void hfta_launcher_find(hfta_launcher *out);

/// Opens a communicator of all ranks that the launcher has started, or of this
/// process alone. With several ranks, all of them must open communicators
/// equally often and in the same order; the call returns when all have made it.
/// The caller closes `*out`, which is NULL after a failure.
///
/// `options` may be NULL for the defaults. Fails with HFTA_UNSUPPORTED if there
/// is no MPI library, if the library's ABI isn't Open MPI's, if MPI sees other
/// ranks than the launcher has started, or if the host program's own MPI can't
/// be called by several threads; with HFTA_USAGE if ranks have different
/// versions; with HFTA_LOST if some rank doesn't open in time.
///
/// If the host program has initialised MPI, it must also finalize it, after the
/// last communicator is closed. Otherwise the runtime finalizes MPI when the
/// process ends by exit(0) or by return from main, which waits for all ranks. A
/// process that ends with another exit code also ends the other ranks.
hfta_status hfta_communicator_open(const hfta_rank_options *options,
                                   hfta_communicator **out, hfta_error *error);

/// Closes a communicator; NULL is allowed.
void hfta_communicator_close(hfta_communicator *communicator);

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

/// A message that this rank sends to a rank of the communicator, or receives
/// from it. A rank may name itself: such messages are copies. A message and its
/// counterpart on the other rank have the same number of bytes, which may be 0.
typedef struct hfta_message {
  int peer;
  bool sends; ///< true: `memory` is sent to the peer; false: it receives the
              ///< peer's message
  void *memory;
  uint64_t bytes;
} hfta_message;

/// Identifies a post, in error messages and, by its tag, to the other ranks.
typedef struct hfta_label {
  /// For example "reduce of gradients.3"; must live until the wait.
  const char *what;
  int64_t micro_batch; ///< number of the micro-batch that the messages are for;
                       ///< -1: none
  int tag; ///< messages between two ranks that have the same tag are matched in
           ///< the order of their posts
} hfta_label;

/// Messages that start together.
typedef struct hfta_post {
  hfta_label label;
  const hfta_message *messages; ///< the array is copied by the post
  uint32_t count;
} hfta_post;

/// A post in flight, from its post to its wait.
typedef struct hfta_posted hfta_posted;

/// The functions of a kind of communicator.
typedef struct hfta_communicator_functions {
  const char *kind; ///< name of the kind: "self", "mpi" or "workers"

  hfta_status (*open)(const hfta_rank_options *options, hfta_communicator **out,
                      hfta_error *error);
  void (*close)(hfta_communicator *communicator);

  /// Splits the communicator as MPI_Comm_split does; all ranks must call it.
  /// Ranks with the same color form a new communicator, in ascending order of
  /// `key`, and where keys are equal, of their rank in this one. A rank with a
  /// negative color gets NULL.
  hfta_status (*split)(hfta_communicator *communicator, int color, int key,
                       hfta_communicator **out, hfta_error *error);

  /// Starts the messages and returns at once; `*out` must be passed to `wait`.
  /// If every step posts the same messages, memory is allocated only in the
  /// first step.
  hfta_status (*post)(hfta_communicator *communicator, const hfta_post *post,
                      hfta_posted **out, hfta_error *error);
  /// Returns when all messages of the post have ended, and frees the post, even
  /// after a failure. The calling thread sleeps meanwhile. HFTA_LOST: a rank
  /// that delays the post has made no progress for the timeout. HFTA_INTERNAL:
  /// a message has another length than its counterpart. After a failure it
  /// doesn't wait for messages that don't end soon, so that their memory may
  /// still be in use: see `keeps_memory`.
  hfta_status (*wait)(hfta_communicator *communicator, hfta_posted *posted,
                      hfta_error *error);
  /// See hfta_communicator_keeps_memory. NULL in a kind for which the answer is
  /// always false.
  bool (*keeps_memory)(hfta_communicator *communicator);

  /// Reports to the other ranks that this rank still works, so that it doesn't
  /// count as lost even if it is slow. Called whenever work other than a
  /// message is done; costs a few nanoseconds.
  void (*progress)(hfta_communicator *communicator);

  /// See hfta_communicator_give_up.
  void (*give_up)(hfta_communicator *communicator, hfta_status code,
                  const char *message);

  /// See hfta_communicator_fail.
  void (*fail)(hfta_communicator *communicator, hfta_status code,
               const char *line);
} hfta_communicator_functions;

/// The base of all communicators: the first member of each kind's own struct.
struct hfta_communicator {
  const hfta_communicator_functions *functions;
  int rank, size;
  int local_size; ///< number of this communicator's ranks on this host
  /// For each rank, whether messages to it go through a network. Owned by the
  /// communicator; NULL: none do.
  bool *is_far;
};

extern const hfta_communicator_functions hfta_communicator_self;
extern const hfta_communicator_functions hfta_communicator_mpi;

/// Calls `split` of the communicator's table of functions.
hfta_status hfta_communicator_split(hfta_communicator *communicator, int color,
                                    int key, hfta_communicator **out,
                                    hfta_error *error);

/// Calls `post` of the communicator's table of functions.
hfta_status hfta_communicator_post(hfta_communicator *communicator,
                                   const hfta_post *post, hfta_posted **out,
                                   hfta_error *error);

/// Calls `wait` of the communicator's table of functions.
hfta_status hfta_communicator_wait(hfta_communicator *communicator,
                                   hfta_posted *posted, hfta_error *error);

/// Posts the messages and waits until all of them have ended.
hfta_status hfta_communicator_complete(hfta_communicator *communicator,
                                       const hfta_post *post,
                                       hfta_error *error);

/// Returns whether, after a failure, MPI may still read or write memory that
/// was posted, because it can't cancel a message. If so, all memory that was
/// ever posted must stay allocated until the process ends, even if its post was
/// waited for. Messages of a few bytes are an exception, as they arrive whole.
/// After a failure, the process waits for messages that are about to end: up to
/// about half a second in all, or two seconds if MPI itself hangs.
bool hfta_communicator_keeps_memory(hfta_communicator *communicator);

/// Frees posted memory that came from malloc, unless it must stay allocated
/// (hfta_communicator_keeps_memory). NULL is allowed.
void hfta_communicator_free(hfta_communicator *communicator, void *memory);

/// Calls `progress` of the communicator's table of functions: reports to other
/// ranks that this one still works.
void hfta_communicator_progress(hfta_communicator *communicator);

/// Makes all posts and waits fail with this error from now on, unless they fail
/// already, and wakes the threads that sleep in a wait. For failures outside of
/// the communicator. It affects all communicators of this kind in this process;
/// other ranks aren't notified.
void hfta_communicator_give_up(hfta_communicator *communicator,
                               hfta_status code, const char *message);

/// Ends all ranks of the launcher, even stopped ones, with exit code `code`,
/// and doesn't return. `line` is a whole message without its line break, for
/// standard error. If several ranks fail at the same time, only one of them
/// prints its line. A process without other ranks prints the line and exits.
void hfta_communicator_fail(hfta_communicator *communicator, hfta_status code,
                            const char *line) HFTA_NORETURN;

//===----------------------------------------------------------------------===//
// Collective operations
//===----------------------------------------------------------------------===//
//
// All ranks of the communicator post them, with equal `offsets`. These are size
// + 1 offsets in bytes: rank q's piece is the range [offsets[q], offsets[q +
// 1]), which may be empty. The caller must wait for `*out`.

/// Posts an all-gather: each rank's piece of `memory` is sent to all other
/// ranks, to the same offset in their `memory`.
hfta_status hfta_communicator_post_gather(hfta_communicator *communicator,
                                          const hfta_label *label, void *memory,
                                          const uint64_t *offsets,
                                          hfta_posted **out, hfta_error *error);

/// Posts a broadcast: rank `root` sends the `bytes` bytes at its `memory` to
/// each other rank directly.
hfta_status hfta_communicator_post_broadcast(hfta_communicator *communicator,
                                             const hfta_label *label, int root,
                                             void *memory, uint64_t bytes,
                                             hfta_posted **out,
                                             hfta_error *error);

/// Posts an all-to-all exchange: each rank sends piece q of `memory` to rank q.
/// `received` gets the pieces that all ranks, itself included, send to this
/// rank, in the order of ranks. It has room for `size` times the bytes of this
/// rank's own piece.
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
// All ranks must call these functions in the same order. Their messages have
// reserved tags. `what` names the operation in error messages.

/// Sets `*value` on all ranks to the largest of all ranks' values.
hfta_status hfta_communicator_max(hfta_communicator *communicator,
                                  const char *what, int64_t *value,
                                  hfta_error *error);

/// Compares `count` bytes between all ranks. Sets `*out_rank`, on all ranks, to
/// the lowest rank whose bytes (or their number) differ from those of rank 0;
/// -1 if none differ.
hfta_status hfta_communicator_compare(hfta_communicator *communicator,
                                      const char *what, const void *bytes,
                                      uint64_t count, int *out_rank,
                                      hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_COMMUNICATOR_H
