//===- instance.c - Creation and initial state of an instance -------------===//

#include "schedule/join.h"
#include "system/clock.h"
#include "system/memory_limit.h"
#include "system/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Constants are used where they lie if the host's memory is the device's.
static bool use_image(const hfta_instance *instance,
                      const hfta_segment *segment) {
  if (segment->role != HFTA_SEGMENT_CONSTANTS || !segment->image)
    return false;
  uint64_t alignment = segment->alignment ? segment->alignment : 1;
  void *image = (void *)(uintptr_t)segment->image;
  return (uintptr_t)image % alignment == 0 &&
         instance->device->functions->host_address(instance->device, image);
}

static hfta_status allocate_segment(hfta_instance *instance, uint32_t index) {
  const hfta_segment *segment = &instance->program->segments[index];
  hfta_segment_memory *memory = &instance->memory[index];
  if (segment->role == HFTA_SEGMENT_SCRATCH ||
      !hfta_workload_needs(instance->program, &instance->workload, index))
    return HFTA_OK;
  uint32_t count =
      hfta_workload_instances(instance->program, &instance->workload, index);
  memory->bytes =
      hfta_workload_segment_bytes(instance->program, &instance->workload, index,
                                  hfta_instance_threads(instance));
  memory->bases = calloc(count, sizeof(*memory->bases));
  if (hfta_segment_has_image(instance->program, index))
    memory->host = calloc(count, memory->bytes + 1);
  if (!memory->bases ||
      (!memory->host && hfta_segment_has_image(instance->program, index)))
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  if (use_image(instance, segment)) {
    memory->count = 1;
    memory->read_only = 1;
    memory->bases[0] = (void *)(uintptr_t)segment->image;
    return HFTA_OK;
  }
  for (uint32_t i = 0; i < count; ++i) {
    hfta_error reason;
    hfta_status status = instance->device->functions->allocate(
        instance->device, memory->bytes, segment->alignment, &memory->bases[i],
        &reason);
    if (status != HFTA_OK)
      return hfta_fail(&instance->error, status, "segment '%s': %s",
                       segment->name, reason.message);
    memory->count = i + 1;
  }
  return HFTA_OK;
}

static void release_segments(hfta_instance *instance) {
  for (uint32_t s = 0; instance->memory && s < instance->program->segment_count;
       ++s) {
    hfta_segment_memory *memory = &instance->memory[s];
    for (uint32_t i = 0; i < memory->count && !memory->read_only; ++i)
      instance->device->functions->release(instance->device, memory->bases[i],
                                           memory->bytes);
    free(memory->bases);
    free(memory->host);
  }
  free(instance->memory);
}

//===----------------------------------------------------------------------===//
// Initial state
//===----------------------------------------------------------------------===//

/// The image's bytes, or zeros, which memory that is new holds anyway.
static void reset_segment(hfta_instance *instance, uint32_t index,
                          bool is_new) {
  const hfta_segment *segment = &instance->program->segments[index];
  hfta_device *device = instance->device;
  hfta_segment_memory *memory = &instance->memory[index];
  for (uint32_t i = 0; memory->host && i < memory->count; ++i) {
    char *image = memory->host + memory->bytes * i;
    if (segment->image)
      memcpy(image, segment->image, segment->bytes);
    else
      memset(image, 0, memory->bytes);
  }
  // What a task writes before it is read needs no zeros: it stays untouched.
  if (segment->bytes == 0 || memory->read_only ||
      segment->role == HFTA_SEGMENT_WORKSPACE ||
      segment->role == HFTA_SEGMENT_SAVED ||
      segment->role == HFTA_SEGMENT_CUT ||
      segment->role == HFTA_SEGMENT_EXCHANGE || (is_new && !segment->image))
    return;
  for (uint32_t i = 0; i < memory->count; ++i)
    if (segment->image)
      device->functions->copy(device, 0, memory->bases[i], segment->image,
                              segment->bytes);
    else
      device->functions->fill(device, 0, memory->bases[i], memory->bytes);
}

static void reset_scalars(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  const hfta_roles *roles = &program->roles;
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    double seed = hfta_program_hyper_parameter(program, "seed", copy, NAN);
    if (seed == seed)
      hfta_instance_set_integer(instance, roles->seed, copy, 0, (int64_t)seed);
  }
  for (int64_t m = 0; m < program->micro_batches; ++m)
    hfta_instance_set_integer(instance, roles->micro_batch, 0, m, m);
}

/// Step 0 and initial weights.
static hfta_status start(hfta_instance *instance, bool is_new) {
  const hfta_program *program = instance->program;
  for (uint32_t i = 0; i < program->segment_count; ++i)
    reset_segment(instance, i, is_new);
  instance->steps = 0;
  instance->has_gradients = false;
  hfta_batches_forget(&instance->batches);
  reset_scalars(instance);
  hfta_schedule_call call = {.name = "initialize",
                             .micro_batches = program->micro_batches};
  return hfta_instance_run(instance, &call);
}

hfta_status hfta_instance_clear_gradients(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_device *device = instance->device;
  for (uint32_t i = 0; i < program->segment_count; ++i)
    for (uint32_t j = 0; j < instance->memory[i].count; ++j)
      if (program->segments[i].role == HFTA_SEGMENT_GRADIENTS)
        device->functions->fill(device, 0, instance->memory[i].bases[j],
                                instance->memory[i].bytes);
  instance->has_gradients = false;
  return device->functions->wait(device, &instance->error);
}

hfta_status hfta_instance_reset(hfta_instance *instance) {
  return start(instance, false);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static hfta_status allocate_tables(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  size_t segments = program->segment_count, copies = (size_t)program->copies;
  instance->memory = calloc(segments + 1, sizeof(*instance->memory));
  instance->call_bases = calloc(segments + 1, sizeof(void *));
  instance->keeps = calloc(segments + 1, sizeof(bool));
  instance->live = calloc(copies, sizeof(int32_t));
  instance->is_live = calloc(copies, sizeof(bool));
  instance->chosen = calloc(copies, sizeof(int32_t));
  instance->turns =
      calloc((size_t)program->schedule_count + 1, sizeof(hfta_turns));
  instance->sums = calloc(3 * copies, sizeof(double));
  instance->forced_rates = calloc(copies, sizeof(double));
  if (!instance->memory || !instance->call_bases || !instance->keeps ||
      !instance->live || !instance->is_live || !instance->chosen ||
      !instance->turns || !instance->sums || !instance->forced_rates)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  for (int64_t copy = 0; copy < program->copies; ++copy)
    instance->forced_rates[copy] = NAN;
  return hfta_batches_create(&instance->batches, program->data_field_count,
                             &instance->error);
}

/// All of them where a task needs them together.
static void choose_copies(hfta_instance *instance) {
  hfta_workload *workload = &instance->workload;
  if (!hfta_workload_runs_by_copies(instance->program, workload)) {
    workload->first_copy = 0;
    workload->copies = instance->program->copies;
  }
  for (int64_t i = 0; i < workload->copies; ++i) {
    int64_t copy = workload->first_copy + i;
    instance->live[i] = (int32_t)copy;
    instance->is_live[copy] = true;
  }
  instance->live_count = workload->copies;
}

/// Memory is for the widest turn of all copies.
static void begin_turns(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  int64_t most = hfta_workload_copies_at_once(program, &instance->workload,
                                              hfta_instance_threads(instance));
  if (most > instance->live_count)
    most = instance->live_count;
  for (uint32_t i = 0; i < program->schedule_count; ++i)
    hfta_turns_begin(&instance->turns[i],
                     hfta_schedule_takes_turns(&program->schedules[i]) ? most
                                                                       : 1);
}

int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled) {
  const hfta_turns *turns =
      &instance->turns[schedule - instance->program->schedules];
  *is_settled = turns->is_settled;
  return hfta_schedule_takes_turns(schedule) ? turns->width
                                             : instance->live_count;
}

hfta_status hfta_instance_set_live(hfta_instance *instance,
                                   const int32_t *copies, int64_t count) {
  const hfta_workload *workload = &instance->workload;
  int64_t first = workload->first_copy, end = first + workload->copies;
  if (count < 1)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "no copy is to run: expected at least one");
  for (int64_t i = 0; i < count; ++i) {
    if (copies[i] < first || copies[i] >= end)
      return hfta_fail(&instance->error, HFTA_USAGE,
                       "copy %d: there are copies %lld to %lld", copies[i],
                       (long long)first, (long long)end - 1);
    if (i > 0 && copies[i] <= copies[i - 1])
      return hfta_fail(&instance->error, HFTA_USAGE,
                       "copy %d after copy %d: expected ascending numbers",
                       copies[i], copies[i - 1]);
  }
  // What other copies took tells nothing; a loop may name the same ones often.
  bool is_new =
      count != instance->live_count ||
      memcmp(copies, instance->live, sizeof(int32_t) * (size_t)count) != 0;
  memset(instance->is_live, 0,
         sizeof(bool) * (size_t)instance->program->copies);
  for (int64_t i = 0; i < count; ++i) {
    instance->live[i] = copies[i];
    instance->is_live[copies[i]] = true;
  }
  instance->live_count = count;
  if (is_new)
    begin_turns(instance);
  return HFTA_OK;
}

const bool *hfta_instance_live(const hfta_instance *instance) {
  return instance->is_live;
}

int64_t hfta_instance_live_count(const hfta_instance *instance) {
  return instance->live_count;
}

static hfta_status open_device(hfta_instance *instance,
                               const hfta_options *options) {
  const hfta_program *program = instance->program;
  hfta_device_options device_options = {.threads = options->threads,
                                        .scratch_bytes =
                                            hfta_program_scratch_bytes(program),
                                        .queues = program->queue_count,
                                        .events = program->event_count,
                                        .segments = program->segment_count,
                                        .copies = program->copies,
                                        .program = program};
  return hfta_device_open(options->device ? options->device : "cpu",
                          &device_options, &instance->device, &instance->error);
}

/// Memory is given when it is touched: too much of it would end the process
/// much later, without a word. `bytes` is what the process could have before it
/// made the device.
static hfta_status check_memory(hfta_instance *instance, uint64_t bytes) {
  hfta_memory_plan plan = hfta_workload_memory(
      instance->program, &instance->workload, hfta_instance_threads(instance));
  if (plan.peak <= bytes)
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                   "the program needs %llu bytes of memory and may have %llu "
                   "here: compile it for a smaller batch or fewer copies",
                   (unsigned long long)plan.peak, (unsigned long long)bytes);
}

static hfta_status build(hfta_instance *instance, const hfta_options *options) {
  uint64_t bytes = hfta_memory_limit();
  hfta_status status = hfta_program_check(instance->program, &instance->error);
  if (status == HFTA_OK)
    status = hfta_program_check_cpu(instance->program, &instance->error);
  if (status == HFTA_OK)
    status = hfta_instance_join(instance, options);
  if (status == HFTA_OK)
    status = allocate_tables(instance);
  if (status == HFTA_OK) {
    choose_copies(instance);
    status = open_device(instance, options);
  }
  if (status == HFTA_OK) {
    begin_turns(instance);
    status = check_memory(instance, bytes);
  }
  for (uint32_t i = 0;
       i < instance->program->segment_count && status == HFTA_OK; ++i)
    status = allocate_segment(instance, i);
  if (status == HFTA_OK)
    status = hfta_sums_create(instance);
  if (status == HFTA_OK && instance->share.ranks > 1)
    hfta_instance_observe(instance, NULL);
  if (status == HFTA_OK)
    status = start(instance, true);
  return status;
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
  hfta_instance *instance = calloc(1, sizeof(*instance));
  if (!instance)
    return hfta_fail(options->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  instance->program = program;
  instance->workload = *workload;
  instance->now = hfta_now;
  instance->total_steps =
      options->total_steps ? options->total_steps : program->steps;
  hfta_status status = build(instance, options);
  if (status != HFTA_OK) {
    hfta_fail(options->error, status, "%s", instance->error.message);
    hfta_instance_destroy(instance);
    return status;
  }
  *out = instance;
  return HFTA_OK;
}

void hfta_instance_destroy(hfta_instance *instance) {
  if (!instance)
    return;
  release_segments(instance);
  hfta_device_close(instance->device);
  hfta_batches_destroy(&instance->batches);
  hfta_sums_destroy(&instance->sums_of_groups);
  hfta_share_destroy(&instance->share);
  hfta_instance_leave(instance);
  free(instance->call_bases);
  free(instance->keeps);
  free(instance->live);
  free(instance->is_live);
  free(instance->chosen);
  free(instance->turns);
  free(instance->sums);
  free(instance->forced_rates);
  free(instance);
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

/// The other ranks learn of all that is done here: a step, or one task, may
/// take longer than they would wait for a rank that does nothing.
static void note_progress(void *argument, const hfta_activity *activity) {
  hfta_instance *instance = argument;
  hfta_communicator_progress(instance->communicator);
  if (instance->observer.done)
    instance->observer.done(instance->observer.argument, activity);
}

void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer) {
  hfta_device *device = instance->device;
  if (instance->share.ranks == 1) {
    device->functions->observe(device, observer);
    return;
  }
  instance->observer = observer ? *observer : (hfta_observer){NULL, NULL};
  const hfta_observer own = {note_progress, instance};
  device->functions->observe(device, &own);
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

hfta_memory_plan hfta_instance_memory(const hfta_instance *instance) {
  return hfta_workload_memory(instance->program, &instance->workload,
                              hfta_instance_threads(instance));
}

hfta_communicator *hfta_instance_communicator(hfta_instance *instance) {
  return instance->communicator;
}

const hfta_share *hfta_instance_share(const hfta_instance *instance) {
  return &instance->share;
}

const hfta_program *hfta_instance_program(const hfta_instance *instance) {
  return instance->program;
}

int hfta_instance_threads(const hfta_instance *instance) {
  return instance->device->functions->threads(instance->device);
}

hfta_error *hfta_instance_error(hfta_instance *instance) {
  return &instance->error;
}

const char *hfta_instance_message(const hfta_instance *instance) {
  return instance->error.message;
}

int64_t hfta_instance_copies(const hfta_instance *instance) {
  return instance->program->copies;
}

int64_t hfta_instance_batch(const hfta_instance *instance) {
  return instance->program->batch;
}

int64_t hfta_instance_steps(const hfta_instance *instance) {
  return instance->steps;
}

void hfta_instance_set_total_steps(hfta_instance *instance, int64_t steps) {
  instance->total_steps = steps;
}

void hfta_instance_set_steps(hfta_instance *instance, int64_t steps) {
  instance->steps = steps;
}
