//===- queue.h - Work that is done later, in order --------------*- C -*-===//
//
// The command queues of one device. Queue 0 has no thread: the host does its
// work itself when it waits, so that kernels run without a hand-over between
// threads. Each other queue has a thread, which begins work at once.
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
  hfta_store *store; ///< FETCH, EVICT
  uint64_t extent,
      extents;         ///< FETCH, EVICT: the first extent, and their number
  uint32_t number;     ///< RUN: the task's number; RECORD, AWAIT: the event's
  uint64_t records;    ///< AWAIT: how many records of the event it waits for
  hfta_task_call call; ///< RUN; `segments` and `copies` are copied with it
  hfta_host_call host_call; ///< CALL
} hfta_work;

/// A thread pool for the tasks of one or several devices; one task at a time
/// holds it.
typedef struct hfta_shared_pool {
  hfta_pool *pool;
  atomic_uint users;     ///< the number of devices
  pthread_mutex_t mutex; ///< protects all members below
  pthread_cond_t freed;
  bool is_taken;
  const hfta_queues
      *first; ///< the queues whose tasks take precedence; NULL if none
} hfta_shared_pool;

/// Makes queues whose tasks run on `pool`, one at a time. If the pool is taken,
/// a small task (one whose kernels need no scratch) of a queue other than the
/// first runs on that queue's own thread instead of waiting. Returns
/// HFTA_UNSUPPORTED if there isn't enough memory or a thread can't be started.
hfta_status hfta_queues_create(const hfta_device_options *options,
                               hfta_shared_pool *pool, hfta_queues **out,
                               hfta_error *error);

/// Uses another pool from the next task on; no work may be in flight.
void hfta_queues_use_pool(hfta_queues *queues, hfta_shared_pool *pool);

/// Gives these queues precedence over others that use the same pool.
void hfta_queues_go_first(hfta_queues *queues);

/// Returns the seconds for which their tasks have held pools, since
/// hfta_queues_use_pool was first called.
double hfta_queues_computed(hfta_queues *queues);

/// Destroys the queues after they have done all their work. NULL is allowed.
void hfta_queues_destroy(hfta_queues *queues);

/// A function that runs tasks in place of the pool; several queues may call it
/// at once.
typedef struct hfta_task_runner {
  hfta_status (*run)(void *argument, uint32_t queue, uint32_t task,
                     const hfta_task_call *call, hfta_error *error);
  void *argument;
} hfta_task_runner;

/// Sets the runner from the next task on.
void hfta_queues_run_by(hfta_queues *queues, const hfta_task_runner *runner);

/// Adds a command; `work->records` is filled in. Does some of the host's work
/// first if a queue is full.
void hfta_queues_push(hfta_queues *queues, uint32_t queue,
                      const hfta_work *work);

/// Does the work of queue 0 and waits for all or some of the other queues, as
/// hfta_device_functions.wait_for does. Returns the first error since the last
/// call.
hfta_status hfta_queues_wait(hfta_queues *queues, uint64_t which,
                             hfta_error *error);

void hfta_queues_observe(hfta_queues *queues, const hfta_observer *observer);

#endif // HFTA_SRC_DEVICE_QUEUE_H
