//===- run.c - Calls of schedules -----------------------------------------===//

#include "schedule/run.h"

/// The arguments of run_worker, which all workers share.
typedef struct run {
  hfta_instance *instance;
  const hfta_schedule_call *call;
} run;

/// Runs a schedule on one worker. If it fails, makes the other workers give up,
/// since they may be waiting for messages that this worker won't send.
static void run_worker(void *argument, uint32_t index) {
  const run *self = argument;
  hfta_instance *instance = self->instance;
  hfta_worker *worker = &instance->workers[index];
  hfta_status status = hfta_worker_run(worker, self->call);
  if (status == HFTA_OK)
    return;
  pthread_mutex_lock(&instance->mutex);
  if (instance->status == HFTA_OK)
    instance->status = hfta_instance_note(instance, worker, status);
  pthread_mutex_unlock(&instance->mutex);
  if (worker->everyone)
    hfta_communicator_give_up(worker->everyone, status, worker->error.message);
}

hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call) {
  run all = {instance, call};
  instance->status = HFTA_OK;
  hfta_crew_do(instance->crew, run_worker, &all);
  return instance->status;
}

hfta_status hfta_instance_run_turns(hfta_instance *instance,
                                    const hfta_schedule_call *call) {
  int64_t count = hfta_instance_turn_count(instance);
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < count && status == HFTA_OK; ++i) {
    instance->turn = i;
    status = hfta_instance_run(instance, call);
  }
  instance->turn = 0;
  return status;
}
