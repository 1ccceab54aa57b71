//===- queue.h - Command queues of a device on the CPU ------------*- C -*-===//
//
// The command queues of one device on the CPU. Queue 0 has no thread: the host
// executes its commands itself when it waits, so that kernels start without
// waking another thread. Each other queue has a thread, which executes commands
// as soon as they are pushed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CPU_QUEUE_H
#define HFTA_SRC_DEVICE_CPU_QUEUE_H

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
  /// FETCH, EVICT: the first extent, and the number of extents.
  uint64_t extent, extents;
  uint32_t number;  ///< RUN: number of the task; RECORD, AWAIT: number of the
                    ///< event
  uint64_t records; ///< AWAIT: the number of the event's records to wait for
  hfta_task_call call; ///< RUN; its arrays `segments`, `copies` and `slabs` are
                       ///< copied when the command is pushed, `keeps` is
                       ///< borrowed
  hfta_host_call host_call; ///< CALL
} hfta_work;

/// A thread pool that runs the tasks of one or several devices, one task at a
/// time.
typedef struct hfta_shared_pool {
  hfta_pool *pool;
  atomic_uint users;     ///< the number of devices that use the pool
  pthread_mutex_t mutex; ///< protects all members below
  pthread_cond_t freed;  ///< signalled when a task has left the pool
  bool is_taken;         ///< whether a task is using the pool
  /// The queues whose tasks take precedence; NULL if none.
  const hfta_queues *first;
} hfta_shared_pool;

/// Creates queues whose tasks run on `pool`, one at a time. If the pool is in
/// use, a small task (one whose kernels need no scratch memory) of a queue
/// other than queue 0 runs on that queue's own thread instead of waiting. Fails
/// with HFTA_UNSUPPORTED if there isn't enough memory or a thread can't be
/// started.
hfta_status hfta_queues_create(const hfta_device_options *options,
                               hfta_shared_pool *pool, hfta_queues **out,
                               hfta_error *error);

/// Makes tasks run on another pool, from the next task on, and begins to
/// measure for how long they hold pools. No work may be in flight.
void hfta_queues_use_pool(hfta_queues *queues, hfta_shared_pool *pool);

/// Gives these queues precedence over other queues that use the same pool.
void hfta_queues_go_first(hfta_queues *queues);

/// Returns the seconds for which tasks of these queues have held a pool, since
/// hfta_queues_use_pool was first called.
double hfta_queues_computed(hfta_queues *queues);

/// Destroys the queues after their threads have executed all commands. NULL is
/// allowed.
void hfta_queues_destroy(hfta_queues *queues);

/// A function that runs tasks instead of the pool. Several queues may call it
/// at the same time.
typedef struct hfta_task_runner {
  hfta_status (*run)(void *argument, uint32_t queue, uint32_t task,
                     const hfta_task_call *call, hfta_error *error);
  void *argument;
} hfta_task_runner;

/// Sets the function that runs tasks, from the next task on.
void hfta_queues_run_by(hfta_queues *queues, const hfta_task_runner *runner);

/// Appends a command to a queue; fills in `work->records` itself. If the queue
/// is full, first executes commands of queue 0 on the calling thread, and waits
/// for the queue's thread if necessary.
void hfta_queues_push(hfta_queues *queues, uint32_t queue,
                      const hfta_work *work);

/// Executes the commands of queue 0, and waits for all or some of the other
/// queues, as hfta_device_functions.wait_for does. Returns the first error
/// since the last call.
hfta_status hfta_queues_wait(hfta_queues *queues, uint64_t which,
                             hfta_error *error);

/// Sets the observer, from the next command on; NULL: none.
void hfta_queues_observe(hfta_queues *queues, const hfta_observer *observer);

#endif // HFTA_SRC_DEVICE_CPU_QUEUE_H
