//===- create.c - Creation and initial values of an instance --------------===//

#include "schedule/create.h"

#include "instance/hyper_parameters.h"
#include "schedule/run.h"

static void reset_scalars(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_instance_write_hyper_parameters(instance);
  for (int64_t m = 0; m < program->micro_batches; ++m)
    hfta_instance_set_integer(instance, program->roles.micro_batch, 0, m, m);
}

/// Resets the instance to step 0 and its initial weights. `is_new`: nothing was
/// written to its memory yet.
static hfta_status start(hfta_instance *instance, bool is_new) {
  for (uint32_t i = 0; i < instance->worker_count; ++i)
    hfta_worker_reset(&instance->workers[i], is_new);
  instance->steps = 0;
  instance->has_gradients = instance->has_remains = false;
  instance->accumulations = 0;
  reset_scalars(instance);
  if (instance->workload.is_loaded)
    return HFTA_OK;
  hfta_schedule_call call = {.name = "initialize",
                             .micro_batches = instance->program->micro_batches};
  return hfta_instance_run_turns(instance, &call);
}

hfta_status hfta_instance_reset(hfta_instance *instance) {
  return start(instance, false);
}

hfta_status hfta_instance_create(const hfta_program *program,
                                 const hfta_options *options,
                                 hfta_instance **out) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_instance_create_for(program, &all, options, out);
}

hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out) {
  const hfta_options defaults = {0};
  if (!options)
    options = &defaults;
  *out = NULL;
  hfta_instance *instance;
  hfta_status status =
      hfta_instance_open(program, workload, options, &instance);
  if (status != HFTA_OK)
    return status;
  status = start(instance, true);
  if (status != HFTA_OK) {
    hfta_fail(options->error, status, "%s", instance->error.message);
    hfta_instance_destroy(instance);
    return status;
  }
  *out = instance;
  return HFTA_OK;
}
