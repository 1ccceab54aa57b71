//===- mpi_engine.h - The thread that calls MPI -----------------*- C -*-===//
//
// A process has one engine, which all its communicators share: a single thread
// makes every call of MPI, from the first to the last. Messages advance only
// inside such calls, but MPI's own waiting would spin and take a processor from
// the threads that compute. So the thread tests the posts and sleeps in
// between. While the process waits, the thread sleeps for 50 us at first, and
// longer when few messages end. While the process computes, the thread sleeps
// longer still, as each test takes some 20 us from the computation. When
// nothing is posted, the thread wakes every 50 ms for heartbeats.
//
// MPI can be initialised only once in a process. So the thread runs until the
// process ends or, if the host program has initialised MPI, until the last
// communicator is closed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
#define HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H

#include "communicator/mpi_heartbeat.h"
#include "communicator/posted.h"

#include <stdatomic.h>
#include <time.h>

/// The number of contexts. A context is a number that keeps the messages of one
/// communicator apart from those of others. Context 0 is the engine's own.
#define HFTA_MAX_CONTEXTS 1024

/// A set of contexts, one bit for each.
typedef struct hfta_contexts {
  uint8_t bits[HFTA_MAX_CONTEXTS / 8];
} hfta_contexts;

/// Returns the tag of a message in MPI: the post's own tag in the low bits, the
/// context above them.
static inline int hfta_mpi_tag(int context, int tag) {
  return context << HFTA_TAG_BITS | tag;
}

typedef enum hfta_engine_state {
  HFTA_ENGINE_STARTS,
  HFTA_ENGINE_RUNS,
  HFTA_ENGINE_ENDS, ///< the engine was asked to end, and waits for the other
                    ///< ranks
  HFTA_ENGINE_ENDED ///< the engine has ended, or it could not start
} hfta_engine_state;

typedef struct hfta_engine {
  hfta_mpi mpi;
  bool is_hosts; ///< whether the host program, not the engine, has initialised
                 ///< MPI
  int launched;  ///< the number of ranks that the launcher reports
  void *communicator; ///< the MPI communicator of all ranks
  hfta_heartbeats heartbeats;
  /// The number of steps of progress that this rank has made.
  _Atomic uint64_t counter;
  pthread_t thread;
  /// A list of the posts that have started; used only by the thread.
  hfta_posted *active;
  double broken; ///< time (hfta_now) at which the thread noticed a failure; 0
                 ///< before that

  pthread_mutex_t mutex;  ///< protects all members that follow
  pthread_cond_t changed; ///< signalled when the thread has something to do
  /// Signalled when posts have ended or `state` has changed.
  pthread_cond_t ended;
  hfta_engine_state state;
  double now;      ///< the engine's clock: seconds for which the thread has run
  double timeout;  ///< the longest timeout of any communicator, in seconds
  double interval; ///< seconds between two heartbeats
  bool is_urgent;  ///< asks the thread not to sleep before its next round
  bool is_patient; ///< whether the thread is in a sleep that is to end when the
                   ///< process stops computing
  hfta_posted *posted, **posted_end; ///< posts that the thread hasn't taken
                                     ///< yet, and the end of their list
  hfta_contexts contexts;            ///< the contexts in use
  hfta_error error;                  ///< code HFTA_OK while nothing has failed
  bool settles; ///< whether a thread has begun to wait for posts to end after a
                ///< failure
  struct timespec settles_until; ///< time at which the engine's thread counts
                                 ///< as stuck, the same for all waiting
                                 ///< threads; valid if `settles`
  bool is_settled; ///< whether, after a failure, all posts have ended or their
                   ///< time to end is over
  bool keeps_memory; ///< whether posts are still active after a failure, so
                     ///< that MPI may access their memory
  bool fails;        ///< this rank is about to report an error
  int failing_rank; ///< the lowest other rank that is about to report an error;
                    ///< -1 if none
  bool aborts;      ///< asks the thread to end all ranks, with exit code
                    ///< `abort_code`
  int abort_code;
} hfta_engine;

/// A communicator of the kind `mpi`.
typedef struct hfta_mpi_communicator {
  hfta_communicator base;
  hfta_engine *engine;
  int context;
  double timeout; ///< seconds
  hfta_posted_pool pool;
  hfta_own_transfers own;
  int world[]; ///< for each rank of this communicator, its number among all
               ///< ranks
} hfta_mpi_communicator;

/// Returns the process' engine, and starts it if there is none yet. Each
/// successful call must be followed by one of hfta_engine_release.
hfta_status hfta_engine_acquire(const hfta_rank_options *options,
                                hfta_engine **out, hfta_error *error);
void hfta_engine_release(hfta_engine *engine);

/// Records a failure and wakes waiting threads; only the first failure is kept.
/// The caller holds the mutex.
void hfta_engine_break(hfta_engine *engine, hfta_status code,
                       const char *message);

/// Waits, after a failure, until all posts have ended or their time to end is
/// over. If the engine's thread is stuck in a call of MPI, this takes up to two
/// seconds the first time, and no time later. Returns true if some posts
/// haven't ended: then MPI may access their memory whenever the process calls
/// MPI. The caller holds the mutex, which is released during the wait.
bool hfta_engine_settle(hfta_engine *engine);

/// Reports an error on behalf of all ranks, and ends them with the exit code
/// `code`. Doesn't return.
void hfta_engine_fail(hfta_engine *engine, hfta_status code, const char *line);

/// The main function of the engine's thread; the argument is the hfta_engine.
void *hfta_engine_main(void *engine);

#endif // HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
