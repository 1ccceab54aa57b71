//===- mpi_engine.h - The thread that calls MPI -----------------*- C -*-===//
//
// A process has one, which all communicators share: a thread makes every call
// of MPI, from the first to the last. Messages move only inside such calls, and
// MPI's own waiting would take a processor from the threads that compute; so it
// tests what was posted and sleeps in between: 50 us at first and longer where
// little moves while the process waits, longer yet while it computes, as each
// look takes some 20 us from that, and until it is woken where nothing was
// posted.
//
// MPI can be initialised once in a process: the thread stays until the process
// ends; where the host program has initialised MPI, until the last communicator
// is closed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
#define HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H

#include "communicator/mpi_heartbeat.h"
#include "communicator/posted.h"

#include <stdatomic.h>

/// Numbers that keep the messages of communicators apart; number 0 is the
/// engine's own.
#define HFTA_MAX_CONTEXTS 1024

/// A set of them.
typedef struct hfta_contexts {
  uint8_t bits[HFTA_MAX_CONTEXTS / 8];
} hfta_contexts;

/// What MPI calls a message's tag: above the post's own lies the context.
static inline int hfta_mpi_tag(int context, int tag) {
  return context << HFTA_TAG_BITS | tag;
}

typedef enum hfta_engine_state {
  HFTA_ENGINE_STARTS,
  HFTA_ENGINE_RUNS,
  HFTA_ENGINE_ENDS, ///< asked to, and waits for the other ranks
  HFTA_ENGINE_ENDED ///< or could not start
} hfta_engine_state;

typedef struct hfta_engine {
  hfta_mpi mpi;
  bool is_hosts;      ///< the host program has initialised MPI
  int launched;       ///< ranks, as the launcher says
  void *communicator; ///< of MPI, with all ranks
  hfta_heartbeats heartbeats;
  _Atomic uint64_t counter; ///< of what this rank has done
  pthread_t thread;
  hfta_posted *active; ///< posts that have started; the thread's own

  pthread_mutex_t mutex;  ///< of all that follows
  pthread_cond_t changed; ///< the thread is to look
  pthread_cond_t ended;   ///< posts have, or the state is another
  hfta_engine_state state;
  double now;                        ///< seconds in which the thread ran
  double timeout;                    ///< seconds, the longest asked for
  double interval;                   ///< seconds between two heartbeats
  bool is_urgent;                    ///< the thread isn't to sleep
  bool is_patient;                   ///< sleeps until the process waits, too
  hfta_posted *posted, **posted_end; ///< not yet started
  hfta_contexts contexts;            ///< in use
  hfta_error error;                  ///< code HFTA_OK: nothing has failed
  bool fails;                        ///< this rank is about to report an error
  int failing_rank;                  ///< the lowest other one that is; -1
  bool aborts;                       ///< the thread is to end all ranks
  int abort_code;
} hfta_engine;

/// A communicator's ranks by their number among all.
typedef struct hfta_mpi_communicator {
  hfta_communicator base;
  hfta_engine *engine;
  int context;
  double timeout; ///< seconds
  hfta_posted_pool pool;
  hfta_own_transfers own;
  int world[];
} hfta_mpi_communicator;

/// The process' engine, started if it isn't there; each acquire has its
/// release.
hfta_status hfta_engine_acquire(const hfta_rank_options *options,
                                hfta_engine **out, hfta_error *error);
void hfta_engine_release(hfta_engine *engine);

/// With the mutex held: the first failure stays.
void hfta_engine_break(hfta_engine *engine, hfta_status code,
                       const char *message);

/// Reports an error for all ranks, and ends them; doesn't return.
void hfta_engine_fail(hfta_engine *engine, hfta_status code, const char *line);

/// What the thread does.
void *hfta_engine_main(void *engine);

#endif // HFTA_SRC_COMMUNICATOR_MPI_ENGINE_H
