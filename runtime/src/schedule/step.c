//===- step.c - The default task list -------------------------------------===//

#include "hfta/learning_rate.h"
#include "schedule/instance_impl.h"
#include "system/clock.h"

#include <math.h>
#include <stdbool.h>

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The next of a range's copies that go through a step together.
static copy_range next_copies(const hfta_instance *instance, copy_range range,
                              int64_t done) {
  int64_t left = range.count - done, most = instance->copies_at_once;
  return (copy_range){range.first + done, left < most ? left : most};
}

/// The segments' addresses for a call. Slabs count from the call's first copy:
/// where gradients outlive the call, each copy has its own.
static void set_call_bases(hfta_instance *instance, int64_t micro_batch,
                           int64_t first_copy) {
  const hfta_program *program = instance->program;
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    const hfta_segment_memory *memory = &instance->memory[i];
    char *base =
        memory->count ? memory->bases[micro_batch % memory->count] : NULL;
    if (base && segment->role == HFTA_SEGMENT_GRADIENTS &&
        instance->keeps_gradients)
      base += segment->copy_bytes * (uint64_t)first_copy;
    instance->call_bases[i] = base;
  }
}

hfta_status hfta_instance_run(hfta_instance *instance, const hfta_task *task,
                              int64_t micro_batch, copy_range copies) {
  const hfta_program *program = instance->program;
  bool by_copies = (task->flags & HFTA_TASK_BY_COPIES) != 0;
  if (task->period > 1 && instance->steps % task->period != 0)
    return HFTA_OK;
  double begin = instance->task_seconds ? hfta_now() : 0.0;
  hfta_status status = HFTA_OK;
  for (int64_t done = 0; done < copies.count && status == HFTA_OK;) {
    copy_range some = by_copies ? next_copies(instance, copies, done) : copies;
    set_call_bases(instance, micro_batch, some.first);
    status = instance->device->functions->run_task(
        instance->device, 0, task, instance->call_bases, some.first, some.count,
        &instance->error);
    done += some.count;
  }
  if (instance->task_seconds)
    instance->task_seconds[task - program->tasks] += hfta_now() - begin;
  return status;
}

static copy_range all_copies(const hfta_instance *instance) {
  return (copy_range){0, instance->program->copies};
}

copy_range hfta_instance_copies_of(const hfta_instance *instance,
                                   const hfta_task *task) {
  const hfta_workload *workload = &instance->workload;
  if (task->flags & HFTA_TASK_BY_COPIES)
    return (copy_range){workload->first_copy, workload->copies};
  return (copy_range){0, workload->first_copy + workload->copies};
}

hfta_status hfta_instance_run_kind(hfta_instance *instance,
                                   hfta_task_kind kind) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->task_count && status == HFTA_OK; ++i) {
    const hfta_task *task = &program->tasks[i];
    if (task->kind == (uint32_t)kind)
      status = hfta_instance_run(instance, task, 0,
                                 hfta_instance_copies_of(instance, task));
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

void hfta_instance_forget_inputs(hfta_instance *instance) {
  for (uint32_t i = 0; i < instance->program->segment_count; ++i)
    for (uint32_t j = 0; j < instance->memory[i].count; ++j)
      instance->memory[i].held[j] = -1;
}

/// Copies one micro-batch of a tensor into an instance of its segment, for
/// each of the workload's copies if they have their own.
static hfta_status load_tensor(hfta_instance *instance, uint32_t index,
                               const char *from, uint32_t slot) {
  const hfta_program *program = instance->program;
  const hfta_tensor *tensor = &program->tensors[index];
  char *to =
      (char *)instance->memory[tensor->segment].bases[slot] + tensor->offset;
  int64_t first = instance->workload.first_copy;
  int64_t end = first + (tensor->copy_stride ? instance->workload.copies : 1);
  hfta_status status = HFTA_OK;
  for (int64_t copy = first; copy < end && status == HFTA_OK; ++copy)
    status = instance->device->functions->copy_in(
        instance->device, 0, to + tensor->copy_stride * (uint64_t)copy, from,
        tensor->bytes, &instance->error);
  return status;
}

hfta_status hfta_instance_load_fields(hfta_instance *instance,
                                      const void *const *inputs,
                                      int64_t micro_batch) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->data_field_count && status == HFTA_OK;
       ++i) {
    uint32_t index = program->data_fields[i].tensor;
    const hfta_tensor *tensor = &program->tensors[index];
    const hfta_segment_memory *memory = &instance->memory[tensor->segment];
    uint32_t slot = (uint32_t)(micro_batch % memory->count);
    if (memory->held[slot] != micro_batch)
      status = load_tensor(instance, index,
                           (const char *)inputs[i] +
                               tensor->bytes * (uint64_t)micro_batch,
                           slot);
  }
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    uint32_t segment = program->tensors[program->data_fields[i].tensor].segment;
    const hfta_segment_memory *memory = &instance->memory[segment];
    memory->held[micro_batch % memory->count] = micro_batch;
  }
  return status;
}

/// What each task of a micro-batch needs before it runs.
static hfta_status begin_micro_batch(hfta_instance *instance,
                                     const void *const *inputs,
                                     int64_t micro_batch) {
  hfta_status status = hfta_instance_load_fields(instance, inputs, micro_batch);
  if (status == HFTA_OK)
    status = hfta_instance_write_integer(
        instance, instance->program->roles.micro_batch, 0, micro_batch);
  return status;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

static hfta_status check_trains(hfta_instance *instance) {
  if (hfta_program_has_task(instance->program, HFTA_TASK_FORWARD))
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "'%s' was compiled for inference only: the job had no loss",
                   instance->program->name);
}

/// From the first block to the last.
static hfta_status forward(hfta_instance *instance, int64_t micro_batch,
                           copy_range copies) {
  hfta_status status = HFTA_OK;
  for (int64_t block = 0;
       block < instance->program->blocks && status == HFTA_OK; ++block)
    status = hfta_instance_run(instance, instance->forward[block], micro_batch,
                               copies);
  return status;
}

static hfta_status backward(hfta_instance *instance, int64_t micro_batch,
                            copy_range copies) {
  hfta_status status = HFTA_OK;
  for (int64_t block = instance->program->blocks - 1;
       block >= 0 && status == HFTA_OK; --block)
    status = hfta_instance_run(instance, instance->backward[block], micro_batch,
                               copies);
  return status;
}

static hfta_status read_losses(hfta_instance *instance, double *losses) {
  const hfta_roles *roles = &instance->program->roles;
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0;
       losses && copy < instance->program->copies && status == HFTA_OK;
       ++copy) {
    double weight = 1.0;
    status =
        hfta_instance_read_real(instance, roles->loss, copy, &losses[copy]);
    if (status == HFTA_OK && roles->step_weight != UINT32_MAX)
      status =
          hfta_instance_read_real(instance, roles->step_weight, copy, &weight);
    losses[copy] /= weight;
  }
  return status;
}

/// What all forward passes of a step need.
static hfta_status begin_step(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_status status = check_trains(instance);
  if (status == HFTA_OK)
    status = hfta_instance_clear(instance, program->roles.loss);
  if (status == HFTA_OK)
    status = hfta_instance_clear(instance, program->roles.step_weight);
  if (status == HFTA_OK)
    status = hfta_instance_write_integer(instance, program->roles.step, 0,
                                         instance->steps);
  hfta_instance_forget_inputs(instance);
  return status;
}

/// Some copies forward and backward, then the next ones.
static hfta_status forward_backward(hfta_instance *instance,
                                    int64_t micro_batch) {
  copy_range all = all_copies(instance);
  hfta_status status = HFTA_OK;
  for (int64_t done = 0; done < all.count && status == HFTA_OK;) {
    copy_range some = next_copies(instance, all, done);
    status = forward(instance, micro_batch, some);
    if (status == HFTA_OK)
      status = backward(instance, micro_batch, some);
    done += some.count;
  }
  return status;
}

hfta_status hfta_instance_accumulate(hfta_instance *instance,
                                     const void *const *inputs,
                                     double *losses) {
  const hfta_program *program = instance->program;
  int64_t count = program->micro_batches;
  copy_range all = all_copies(instance);
  bool forwards_first = program->all_forwards_first && count > 1;
  hfta_status status = begin_step(instance);
  instance->keeps_gradients = 1;
  for (int64_t m = 0; m < count && status == HFTA_OK; ++m) {
    status = begin_micro_batch(instance, inputs, m);
    if (status == HFTA_OK)
      status = forwards_first ? forward(instance, m, all)
                              : forward_backward(instance, m);
  }
  for (int64_t m = 0; forwards_first && m < count && status == HFTA_OK; ++m) {
    status = begin_micro_batch(instance, inputs, m);
    if (status == HFTA_OK)
      status = backward(instance, m, all);
  }
  if (status == HFTA_OK)
    status = read_losses(instance, losses);
  return status;
}

/// What PyTorch's clip_grad_norm_ multiplies gradients with. NaN stays NaN; no
/// limit leaves even an overflowing norm's gradients alone.
static double clip_scale(const double *squares, uint64_t count, double limit) {
  if (isinf(limit))
    return 1.0;
  double sum = 0.0;
  for (uint64_t i = 0; i < count; ++i)
    sum += squares[i];
  double scale = limit / (sqrt(sum) + 1e-6);
  return scale > 1.0 ? 1.0 : scale;
}

/// A copy's norms, from roles.norm and the tensors that follow it.
static hfta_status read_norms(hfta_instance *instance, int64_t copy) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  uint64_t done = 0;
  for (uint32_t tensor = program->roles.norm;
       done < instance->norm_count && status == HFTA_OK; ++tensor) {
    uint64_t bytes = program->tensors[tensor].bytes;
    status = hfta_instance_read(instance, tensor, copy, 0,
                                instance->norms + done, bytes);
    done += bytes / sizeof(double);
  }
  return status;
}

static hfta_status write_clip_scales(hfta_instance *instance,
                                     copy_range copies) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  int64_t end = copies.first + copies.count;
  for (int64_t copy = copies.first; copy < end && status == HFTA_OK; ++copy) {
    double limit = program->clip_norm ? program->clip_norm[copy] : INFINITY;
    status = read_norms(instance, copy);
    if (status == HFTA_OK)
      status = hfta_instance_write_real(
          instance, program->roles.clip_scale, copy,
          clip_scale(instance->norms, instance->norm_count, limit));
  }
  return status;
}

hfta_status hfta_instance_learning_rate(hfta_instance *instance, int64_t copy,
                                        double *out) {
  const hfta_program *program = instance->program;
  *out = instance->forced_rates[copy];
  if (!isnan(*out))
    return HFTA_OK;
  if (hfta_learning_rate_needs_total(&program->learning_rate) &&
      instance->total_steps <= 0)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "a cosine schedule needs the number of steps: set "
                     "hfta_options.total_steps");
  double rate = hfta_program_hyper_parameter(program, "lr", copy, 0.0);
  *out = hfta_learning_rate_at(&program->learning_rate, copy, rate,
                               instance->steps, instance->total_steps);
  return HFTA_OK;
}

hfta_status hfta_instance_set_learning_rate(hfta_instance *instance,
                                            int64_t copy, double rate) {
  if (copy < 0 || copy >= instance->program->copies)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "copy %lld: there are copies 0 to %lld", (long long)copy,
                     (long long)instance->program->copies - 1);
  instance->forced_rates[copy] = rate;
  return HFTA_OK;
}

static hfta_status write_update_scalars(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_status status = hfta_instance_write_integer(
      instance, program->roles.step, 0, instance->steps);
  for (int64_t copy = 0; copy < program->copies && status == HFTA_OK; ++copy) {
    double rate;
    status = hfta_instance_learning_rate(instance, copy, &rate);
    if (status == HFTA_OK)
      status = hfta_instance_write_real(instance, program->roles.learning_rate,
                                        copy, rate);
  }
  return status;
}

/// Clips and updates.
static hfta_status update(hfta_instance *instance, copy_range copies) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (int64_t block = 0;
       program->clipping && block < program->blocks && status == HFTA_OK;
       ++block)
    status = hfta_instance_run(instance, instance->norm[block], 0, copies);
  if (status == HFTA_OK && program->clipping)
    status = write_clip_scales(instance, copies);
  for (int64_t block = 0; block < program->blocks && status == HFTA_OK; ++block)
    status = hfta_instance_run(instance, instance->update[block], 0, copies);
  return status;
}

hfta_status hfta_instance_update(hfta_instance *instance) {
  hfta_status status = check_trains(instance);
  if (status == HFTA_OK)
    status = write_update_scalars(instance);
  if (status == HFTA_OK)
    status = update(instance, all_copies(instance));
  if (status != HFTA_OK)
    return status;
  instance->keeps_gradients = 0;
  ++instance->steps;
  return status;
}

/// One micro-batch: some copies go through the whole step, then the next ones.
/// Their gradients, which the update has left zero, are the next ones' memory.
static hfta_status step_by_copies(hfta_instance *instance,
                                  const void *const *inputs, double *losses) {
  copy_range all = all_copies(instance);
  hfta_status status = begin_step(instance);
  if (status == HFTA_OK)
    status = begin_micro_batch(instance, inputs, 0);
  if (status == HFTA_OK)
    status = write_update_scalars(instance);
  for (int64_t done = 0; done < all.count && status == HFTA_OK;) {
    copy_range some = next_copies(instance, all, done);
    status = forward(instance, 0, some);
    if (status == HFTA_OK)
      status = backward(instance, 0, some);
    if (status == HFTA_OK)
      status = update(instance, some);
    done += some.count;
  }
  if (status == HFTA_OK)
    status = read_losses(instance, losses);
  if (status == HFTA_OK)
    ++instance->steps;
  return status;
}

hfta_status hfta_instance_step(hfta_instance *instance,
                               const void *const *inputs, double *losses) {
  const hfta_program *program = instance->program;
  if (program->micro_batches == 1 && instance->copies_at_once < program->copies)
    return step_by_copies(instance, inputs, losses);
  // A rate that is missing must not leave gradients behind: the next step would
  // add to them.
  double rate;
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0; copy < program->copies && status == HFTA_OK; ++copy)
    status = hfta_instance_learning_rate(instance, copy, &rate);
  if (status == HFTA_OK)
    status = hfta_instance_accumulate(instance, inputs, losses);
  if (status == HFTA_OK)
    status = hfta_instance_update(instance);
  return status;
}

//===----------------------------------------------------------------------===//
// Evaluation and inference
//===----------------------------------------------------------------------===//

static hfta_status check_evaluates(hfta_instance *instance) {
  if (hfta_program_has_task(instance->program, HFTA_TASK_EVALUATE))
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "'%s' was compiled without evaluation: the job had no loss",
                   instance->program->name);
}

hfta_status hfta_instance_evaluate_begin(hfta_instance *instance) {
  const hfta_roles *roles = &instance->program->roles;
  hfta_status status = check_evaluates(instance);
  if (status == HFTA_OK)
    status = hfta_instance_clear(instance, roles->loss_sum);
  if (status == HFTA_OK)
    status = hfta_instance_clear(instance, roles->loss_weight);
  if (status == HFTA_OK)
    status = hfta_instance_clear(instance, roles->metric_sum);
  return status;
}

hfta_status hfta_instance_evaluate_add(hfta_instance *instance,
                                       const void *const *inputs,
                                       int64_t valid_samples) {
  const hfta_program *program = instance->program;
  if (valid_samples < 0 || valid_samples > program->batch)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "%lld valid samples in a batch of %lld",
                     (long long)valid_samples, (long long)program->batch);
  int64_t size = hfta_program_micro_batch(program);
  hfta_status status = HFTA_OK;
  hfta_instance_forget_inputs(instance);
  for (int64_t m = 0; m * size < valid_samples && status == HFTA_OK; ++m) {
    int64_t valid = valid_samples - m * size;
    status = begin_micro_batch(instance, inputs, m);
    if (status == HFTA_OK)
      status =
          hfta_instance_write_integer(instance, program->roles.valid_samples, 0,
                                      valid < size ? valid : size);
    for (uint32_t i = 0; i < program->task_count && status == HFTA_OK; ++i)
      if (program->tasks[i].kind == HFTA_TASK_EVALUATE)
        status = hfta_instance_run(instance, &program->tasks[i], m,
                                   all_copies(instance));
  }
  return status;
}

hfta_status hfta_instance_evaluate_end(hfta_instance *instance, double *losses,
                                       double *metrics) {
  const hfta_program *program = instance->program;
  const hfta_roles *roles = &program->roles;
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0; copy < program->copies && status == HFTA_OK; ++copy) {
    double loss, weight, metric = NAN;
    status = hfta_instance_read_real(instance, roles->loss_sum, copy, &loss);
    if (status == HFTA_OK)
      status =
          hfta_instance_read_real(instance, roles->loss_weight, copy, &weight);
    if (status == HFTA_OK)
      status =
          hfta_instance_read_real(instance, roles->metric_sum, copy, &metric);
    if (losses)
      losses[copy] = loss / weight;
    if (metrics)
      metrics[copy] = metric / weight;
  }
  return status;
}

hfta_status hfta_instance_evaluate(hfta_instance *instance,
                                   const void *const *inputs,
                                   int64_t valid_samples, double *losses,
                                   double *metrics) {
  hfta_status status = hfta_instance_evaluate_begin(instance);
  if (status == HFTA_OK)
    status = hfta_instance_evaluate_add(instance, inputs, valid_samples);
  if (status == HFTA_OK)
    status = hfta_instance_evaluate_end(instance, losses, metrics);
  return status;
}

hfta_status hfta_instance_infer(hfta_instance *instance,
                                const void *const *inputs) {
  const hfta_program *program = instance->program;
  if (!hfta_program_has_task(program, HFTA_TASK_INFER))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' was compiled without inference", program->name);
  hfta_status status = HFTA_OK;
  hfta_instance_forget_inputs(instance);
  for (uint32_t i = 0; i < program->input_count && status == HFTA_OK; ++i)
    status = load_tensor(instance, program->inputs[i].tensor, inputs[i], 0);
  if (status == HFTA_OK)
    status =
        hfta_instance_write_integer(instance, program->roles.micro_batch, 0, 0);
  if (status == HFTA_OK)
    status = hfta_instance_write_integer(instance, program->roles.valid_samples,
                                         0, hfta_program_micro_batch(program));
  if (status == HFTA_OK)
    status = hfta_instance_run_kind(instance, HFTA_TASK_INFER);
  return status;
}
