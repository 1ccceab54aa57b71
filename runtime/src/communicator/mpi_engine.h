//===- mpi_engine.h - The thread that calls MPI -----------------*- C -*-===//
//
// A process has one engine, which all its communicators share: a single thread
// makes every call of MPI, from the first to the last. Messages move only
// inside such calls, and MPI's own waiting would spin and take a processor from
// the threads that compute. So the thread tests what was posted and sleeps in
// between. While the process waits, it sleeps for 50 us at first, and longer
// when little moves. While the process computes, it sleeps longer still, as
// each test takes some 20 us from the computation. When nothing is posted, it
// sleeps until it is woken.
//
// MPI can be initialised only once in a process. So the thread runs until the
// process ends or, where the host program has initialised MPI, until the last
// communicator is closed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
#define HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H

#include "communicator/mpi_heartbeat.h"
#include "communicator/posted.h"

#include <stdatomic.h>
#include <time.h>

/// The number of contexts: numbers that keep the messages of different
/// communicators apart. Number 0 is the engine's own.
#define HFTA_MAX_CONTEXTS 1024

/// A set of contexts, one bit for each.
typedef struct hfta_contexts {
  uint8_t bits[HFTA_MAX_CONTEXTS / 8];
} hfta_contexts;

/// Returns the tag that a message has in MPI: the post's own tag in the low
/// bits, the context above it.
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
  bool is_hosts;      ///< the host program has initialised MPI
  int launched;       ///< the number of ranks that the launcher reports
  void *communicator; ///< the MPI communicator of all ranks
  hfta_heartbeats heartbeats;
  _Atomic uint64_t
      counter; ///< counts the steps of progress that this rank has made
  pthread_t thread;
  hfta_posted
      *active;   ///< the posts that have started; only the thread uses them
  double broken; ///< when the thread has noticed a failure, by hfta_now; 0: it
                 ///< has noticed none

  pthread_mutex_t mutex;  ///< protects all members that follow
  pthread_cond_t changed; ///< signalled when the thread has something to do
  pthread_cond_t
      ended; ///< signalled when posts have ended or `state` has changed
  hfta_engine_state state;
  double now;      ///< seconds for which the thread has run
  double timeout;  ///< seconds, the longest that any communicator asks for
  double interval; ///< seconds between two heartbeats
  bool is_urgent;  ///< the thread must not sleep now
  bool is_patient; ///< the thread sleeps while the process computes, and wakes
                   ///< when it waits
  hfta_posted *posted, **posted_end; ///< the posts that haven't started yet
  hfta_contexts contexts;            ///< the contexts in use
  hfta_error error;                  ///< code HFTA_OK while nothing has failed
  bool settles; ///< a thread has waited for the end of posts after a failure
  struct timespec settles_until; ///< when the thread counts as stuck, if
                                 ///< `settles`; one time for all who wait
  bool is_settled;   ///< after a failure all posts have ended, or their time to
                     ///< end is over
  bool keeps_memory; ///< some posts haven't ended: MPI still uses their memory
  bool fails;        ///< this rank is about to report an error
  int failing_rank; ///< the lowest other rank that is about to report an error;
                    ///< -1 if none
  bool aborts;      ///< the thread is to end all ranks
  int abort_code;
} hfta_engine;

/// A communicator, with the number in `world` that each of its ranks has among
/// all ranks.
typedef struct hfta_mpi_communicator {
  hfta_communicator base;
  hfta_engine *engine;
  int context;
  double timeout; ///< seconds
  hfta_posted_pool pool;
  hfta_own_transfers own;
  int world[];
} hfta_mpi_communicator;

/// Returns the process' engine, and starts it if there is none yet; each
/// acquire has its release.
hfta_status hfta_engine_acquire(const hfta_rank_options *options,
                                hfta_engine **out, hfta_error *error);
void hfta_engine_release(hfta_engine *engine);

/// Records a failure; only the first one is kept. The caller holds the mutex.
void hfta_engine_break(hfta_engine *engine, hfta_status code,
                       const char *message);

/// Waits, after a failure, until all posts have ended or their time to end is
/// over. If the engine's thread is stuck in a call of MPI, the first waits end
/// after two seconds, and later ones at once. Returns true if some haven't
/// ended: MPI may read and write their memory for as long as the process calls
/// it. The caller holds the mutex, which is released meanwhile.
bool hfta_engine_settle(hfta_engine *engine);

/// Reports an error for all ranks, and ends them; doesn't return.
void hfta_engine_fail(hfta_engine *engine, hfta_status code, const char *line);

/// The main function of the engine's thread.
void *hfta_engine_main(void *engine);

#endif // HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
