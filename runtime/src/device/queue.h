//===- queue.h - Work that is done later, in order --------------*- C -*-===//
//
// Queues of one device. Queue 0 has no thread: the host does its work when it
// waits, so that nothing is handed over where kernels run. Each other queue has
// a thread, which begins at once.
//
// Threads: everything here is called by the host's thread.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_QUEUE_H
#define HFTA_SRC_DEVICE_QUEUE_H

#include "hfta/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct hfta_queues hfta_queues;

typedef enum hfta_work_kind {
  HFTA_WORK_RUN,
  HFTA_WORK_COPY,
  HFTA_WORK_FILL,
  HFTA_WORK_FETCH,
  HFTA_WORK_EVICT,
  HFTA_WORK_CALL,
  HFTA_WORK_RECORD,
  HFTA_WORK_AWAIT
} hfta_work_kind;

typedef struct hfta_work {
  hfta_work_kind kind;
  void *to;         ///< COPY, FILL, FETCH
  const void *from; ///< COPY, EVICT
  uint64_t bytes;
  hfta_store *store;        ///< FETCH, EVICT
  uint64_t extent, extents; ///< FETCH, EVICT: the first, and how many
  uint32_t number;          ///< RUN: of the task; RECORD, AWAIT: of the event
  uint64_t records;    ///< AWAIT: how many records of the event it waits for
  hfta_task_call call; ///< RUN; `segments` and `copies` are copied with it
  hfta_host_call host_call; ///< CALL
} hfta_work;

/// Threads for the tasks of one device or of several: one task at a time has
/// them.
typedef struct hfta_shared_pool {
  hfta_pool *pool;
  atomic_uint users;     ///< devices
  pthread_mutex_t mutex; ///< of what follows
  pthread_cond_t freed;
  bool is_taken;
  const hfta_queues *first; ///< whose tasks go before others'; NULL: nobody's
} hfta_shared_pool;

/// Tasks run on `pool`, one at a time; a small one of another queue than the
/// first, whose kernels need no scratch, rather on its own thread than wait for
/// the pool. Not enough memory or threads are
/// HFTA_UNSUPPORTED.
hfta_status hfta_queues_create(const hfta_device_options *options,
                               hfta_shared_pool *pool, hfta_queues **out,
                               hfta_error *error);

/// From the next task on; none is under way.
void hfta_queues_use_pool(hfta_queues *queues, hfta_shared_pool *pool);

/// Of those that share their pool.
void hfta_queues_go_first(hfta_queues *queues);

/// Seconds for which their tasks have had pools, since one was first chosen.
double hfta_queues_computed(hfta_queues *queues);

/// After the last work is done. NULL is allowed.
void hfta_queues_destroy(hfta_queues *queues);

/// Runs tasks in place of the pool, of several queues at once.
typedef struct hfta_task_runner {
  hfta_status (*run)(void *argument, uint32_t queue, uint32_t task,
                     const hfta_task_call *call, hfta_error *error);
  void *argument;
} hfta_task_runner;

/// From the next task on.
void hfta_queues_run_by(hfta_queues *queues, const hfta_task_runner *runner);

/// `work->records` is filled in. Does some of the work first if a queue is
/// full.
void hfta_queues_push(hfta_queues *queues, uint32_t queue,
                      const hfta_work *work);

/// Does what queue 0 holds and waits for the other queues, all or some, as
/// hfta_device_functions.wait_for. The first error since the last call.
hfta_status hfta_queues_wait(hfta_queues *queues, uint64_t which,
                             hfta_error *error);

void hfta_queues_observe(hfta_queues *queues, const hfta_observer *observer);

#endif // HFTA_SRC_DEVICE_QUEUE_H
