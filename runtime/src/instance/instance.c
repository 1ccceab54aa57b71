//===- instance.c - Memory and state of an instance -----------------------===//

#include "device/target.h"
#include "instance/hyper_parameters.h"
#include "instance/join.h"
#include "instance/parts.h"
#include "instance/seat.h"
#include "system/clock.h"
#include "system/memory_limit.h"
#include "workload/defaults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static hfta_status allocate_tables(hfta_instance *instance) {
  size_t copies = (size_t)instance->program->copies;
  size_t terms = instance->program->loss_term_count;
  size_t results = HFTA_RESULTS + 2 * terms;
  instance->live = calloc(copies, sizeof(int32_t));
  instance->is_live = calloc(copies, sizeof(bool));
  instance->sums = calloc(results * copies, sizeof(double));
  instance->results = calloc(results * copies, sizeof(double));
  instance->result_tensors = calloc(results, sizeof(uint32_t));
  instance->term_losses = calloc(terms * copies + 1, sizeof(double));
  instance->term_means = calloc(terms * copies + 1, sizeof(double));
  instance->reports = calloc(copies, sizeof(*instance->reports));
  instance->forced_rates = calloc(copies, sizeof(double));
  if (!instance->live || !instance->is_live || !instance->sums ||
      !instance->results || !instance->result_tensors ||
      !instance->term_losses || !instance->term_means || !instance->reports ||
      !instance->forced_rates)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  for (size_t copy = 0; copy < copies; ++copy) {
    instance->forced_rates[copy] = NAN;
    instance->reports[copy] = HFTA_NO_REPORT;
  }
  hfta_status status = hfta_metric_states_open(
      &instance->metrics, instance->program, &instance->error);
  return status == HFTA_OK ? hfta_instance_copy_hyper_parameters(instance)
                           : status;
}

/// Makes the workload's copies the live ones. If some task can't run for a part
/// of the copies, the workload gets all copies.
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

static void begin_turns(hfta_instance *instance) {
  for (uint32_t i = 0; i < instance->worker_count; ++i)
    hfta_worker_begin_turns(&instance->workers[i]);
}

int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled) {
  const hfta_program *program = instance->program;
  int64_t most = 0;
  *is_settled = true;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    const hfta_worker *worker = &instance->workers[i];
    const hfta_schedule *own = hfta_program_find_stage_schedule(
        program, schedule->name, worker->workload.stage);
    const hfta_turns *turns = &worker->turns[own - program->schedules];
    int64_t count =
        hfta_schedule_takes_turns(own) ? turns->width : instance->live_count;
    *is_settled &= turns->is_settled;
    most = count > most ? count : most;
  }
  return most;
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
  // If the copies change, the search for the width of turns begins again,
  // because its measurements don't hold for other copies.
  bool is_new =
      count != instance->live_count ||
      memcmp(copies, instance->live, sizeof(int32_t) * (size_t)count) != 0;
  if (is_new && instance->has_gradients &&
      hfta_instance_preconditions(instance))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "other copies can't run between an accumulation and its "
                     "update: the preconditioner's statistics are of all that "
                     "have run");
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

int64_t hfta_instance_turn_count(const hfta_instance *instance) {
  return hfta_turn_count(instance->live_count, instance->workload.slabs);
}

hfta_turn hfta_instance_turn(const hfta_instance *instance) {
  return hfta_find_turn(instance->live_count, instance->workload.slabs,
                        instance->turn);
}

const bool *hfta_instance_live(const hfta_instance *instance) {
  return instance->part_count > 0 ? instance->all_live : instance->is_live;
}

int64_t hfta_instance_live_count(const hfta_instance *instance) {
  return instance->live_count;
}

void hfta_instance_offer(hfta_instance *instance, const void *const *inputs) {
  // The fields that the instance adds to a batch are only known when the batch
  // is used.
  if (instance->made.inputs && !instance->made.are_given)
    inputs = NULL;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_batches *batches = &instance->workers[i].batches;
    if (inputs)
      hfta_batches_offer(batches, inputs);
    else
      hfta_batches_forget(batches);
  }
}

/// Opens a worker's device. The kernels of all workers run on the threads of
/// the seat's device, or else of the first worker's device.
static hfta_status open_device(hfta_instance *instance, hfta_worker *worker,
                               const hfta_options *options) {
  const hfta_program *program = instance->program;
  hfta_device_options device_options = {
      .threads = hfta_target_of(program)->all_at_once
                     ? 1
                     : hfta_program_threads(program, options->threads),
      .scratch_bytes = hfta_program_scratch_bytes(program),
      .queues = program->queue_count,
      .events = program->event_count,
      .segments = program->segment_count,
      .copies = program->copies,
      .program = program};
  const char *text = hfta_program_device(program, options->device);
  if (instance->workload.is_loaded) {
    text = "cpu";
    device_options.program = NULL;
  }
  const hfta_seat *seat = instance->workload.seat;
  if (worker != instance->workers)
    device_options.beside = instance->workers->device;
  else if (seat)
    device_options.beside = seat->device;
  return hfta_worker_open_device(worker, text, &device_options);
}

static hfta_status open_workers(hfta_instance *instance,
                                const hfta_options *options) {
  uint32_t count =
      hfta_workload_worker_count(instance->program, &instance->workload);
  instance->workers = calloc(count, sizeof(*instance->workers));
  if (!instance->workers)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < count && status == HFTA_OK; ++i) {
    hfta_worker *worker = &instance->workers[i];
    ++instance->worker_count;
    status = hfta_worker_open(worker, instance, i);
    if (status == HFTA_OK)
      status = open_device(instance, worker, options);
    status = hfta_instance_note(instance, worker, status);
  }
  if (status == HFTA_OK && count > 1)
    status = hfta_crew_create(count, &instance->crew, &instance->error);
  return status;
}

/// Finds out which micro-batches of each data field the workers read.
static hfta_status find_reads(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  int64_t micro_batches = program->micro_batches;
  instance->reads =
      calloc((size_t)(hfta_program_field_count(program) * micro_batches) + 1,
             sizeof(bool));
  if (!instance->reads)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  for (uint32_t i = 0; i < hfta_program_field_count(program); ++i)
    for (int64_t m = 0; m < micro_batches; ++m)
      instance->reads[i * micro_batches + m] =
          hfta_workload_reads(program, &instance->workload, i, m);
  return HFTA_OK;
}

/// Checks the limit of memory in advance. The system provides memory only when
/// it is touched; a program that uses too much would be killed much later,
/// without a message. `bytes` is the memory that was available before the
/// device was opened. Programs for other devices than the host aren't checked:
/// those report by themselves that their memory is full.
static hfta_status check_memory(hfta_instance *instance, uint64_t bytes) {
  if (!hfta_target_of(instance->program)->is_host)
    return HFTA_OK;
  hfta_memory_plan plan = hfta_workload_memory(
      instance->program, &instance->workload, hfta_instance_threads(instance));
  // The memory of a seat (arena and scratch) was already checked by whoever
  // lends the seat.
  if (instance->workload.seat)
    plan.peak -= plan.arena + plan.scratch;
  if (plan.peak <= bytes)
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                   "the program needs %llu bytes of memory and may have %llu "
                   "here: compile it %s",
                   (unsigned long long)plan.peak, (unsigned long long)bytes,
                   instance->program->memory_threads > 0
                       ? "with a smaller budget"
                       : "with a budget ('memory'), for a smaller batch or for "
                         "fewer copies");
}

static hfta_status allocate_workers(hfta_instance *instance,
                                    const hfta_options *options) {
  const char *directory = options->spill_directory
                              ? options->spill_directory
                              : instance->program->spill_directory;
  const hfta_store_options store = {
      .medium = {.directory = directory, .layers = options->store},
      .threads = options->io_threads};
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < instance->worker_count && status == HFTA_OK; ++i)
    status =
        hfta_instance_note(instance, &instance->workers[i],
                           hfta_worker_allocate(&instance->workers[i], &store));
  return status;
}

const char *hfta_instance_store_note(const hfta_instance *instance) {
  const char *note = NULL;
  for (uint32_t i = 0; i < instance->worker_count && !note; ++i)
    if (instance->workers[i].spill.store)
      note = hfta_store_note(instance->workers[i].spill.store);
  return note;
}

void hfta_instance_set_overlap(hfta_instance *instance, bool overlaps) {
  for (uint32_t i = 0; i < instance->worker_count; ++i)
    instance->workers[i].spill.waits = !overlaps;
}

hfta_status hfta_instance_measure_store(hfta_instance *instance,
                                        hfta_store_rates *out,
                                        hfta_error *error) {
  hfta_worker *worker = &instance->workers[0];
  hfta_spill *spill = &worker->spill;
  *out = (hfta_store_rates){.read = 0.0};
  if (!spill->store)
    return HFTA_OK;
  hfta_spill_forget(worker);
  return hfta_store_measure(spill->store, spill->arena, spill->arena_bytes, out,
                            error);
}

hfta_store_traffic hfta_instance_store_traffic(const hfta_instance *instance) {
  hfta_store_traffic all = {0, 0};
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_store *store = instance->workers[i].spill.store;
    hfta_store_traffic one =
        store ? hfta_store_count(store) : (hfta_store_traffic){0, 0};
    all.read += one.read;
    all.written += one.written;
  }
  return all;
}

static hfta_status check_threads(hfta_instance *instance,
                                 const hfta_options *options) {
  int64_t most = instance->program->memory_threads;
  if (options->io_threads < 0 || options->io_threads > HFTA_STORE_THREADS)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "expected 0 to %d threads that read and write, got %d",
                     HFTA_STORE_THREADS, options->io_threads);
  if (most == 0 || options->threads <= most)
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "the job plans memory for at most %lld threads, got %d",
                   (long long)most, options->threads);
}

static hfta_status build(hfta_instance *instance, const hfta_options *options) {
  uint64_t bytes = hfta_memory_limit();
  hfta_status status = hfta_program_check(instance->program, &instance->error);
  if (status == HFTA_OK)
    status = hfta_program_check_cpu(instance->program, &instance->error);
  if (status == HFTA_OK)
    status = check_threads(instance, options);
  if (status == HFTA_OK)
    status = hfta_instance_join(instance, options);
  if (status == HFTA_OK)
    status = allocate_tables(instance);
  if (status == HFTA_OK)
    status = find_reads(instance);
  if (status == HFTA_OK)
    status = hfta_made_inputs_open(instance);
  if (status == HFTA_OK) {
    choose_copies(instance);
    status = open_workers(instance, options);
  }
  if (status == HFTA_OK)
    status = check_memory(instance, bytes);
  if (status == HFTA_OK)
    status = allocate_workers(instance, options);
  if (status == HFTA_OK) {
    instance->workload.slabs = instance->workers->workload.slabs;
    begin_turns(instance);
    hfta_instance_observe(instance, NULL);
  }
  return status;
}

hfta_status hfta_instance_open(const hfta_program *program,
                               const hfta_workload *workload,
                               const hfta_options *options,
                               hfta_instance **out) {
  *out = NULL;
  hfta_instance *instance = calloc(1, sizeof(*instance));
  if (!instance)
    return hfta_fail(options->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  instance->program = program;
  instance->workload = *workload;
  instance->now = hfta_now;
  pthread_mutex_init(&instance->mutex, NULL);
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
  hfta_crew_destroy(instance->crew);
  bool keeps_memory = instance->communicator &&
                      hfta_communicator_keeps_memory(instance->communicator);
  // Other workers' devices use the threads of the first worker's device, so it
  // is closed last.
  for (uint32_t i = instance->worker_count; i > 0; --i)
    hfta_worker_close(&instance->workers[i - 1], keeps_memory);
  hfta_instance_leave(instance);
  pthread_mutex_destroy(&instance->mutex);
  free(instance->reads);
  hfta_made_inputs_close(instance);
  free(instance->workers);
  free(instance->live);
  free(instance->is_live);
  free(instance->all_live);
  hfta_metric_states_close(&instance->metrics, instance->program);
  free(instance->sums);
  if (!keeps_memory)
    free(instance->results);
  free(instance->result_tensors);
  free(instance->term_losses);
  free(instance->term_means);
  free(instance->reports);
  free(instance->forced_rates);
  free(instance->hyper_parameters);
  free(instance->schedule_factors);
  free(instance->seeds);
  free(instance->horizons);
  free(instance);
}

//===----------------------------------------------------------------------===//
// Seats
//===----------------------------------------------------------------------===//

void hfta_instance_sit(hfta_instance *instance, const hfta_seat *seat) {
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_worker *worker = &instance->workers[i];
    worker->device->functions->use_threads(worker->device, seat->device);
    hfta_spill_sit(worker, seat);
  }
}

double hfta_instance_computed(hfta_instance *instance) {
  double seconds = 0.0;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_device *device = instance->workers[i].device;
    seconds += device->functions->computed(device);
  }
  return seconds;
}

void hfta_instance_go_first(hfta_instance *instance) {
  hfta_device *device = instance->workers->device;
  device->functions->go_first(device);
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

/// Observes a worker's device: reports each activity to the other ranks as
/// progress, then to the user's observer. Reports per step wouldn't do, since a
/// step, or even a single task, may take longer than the time without progress
/// after which a rank counts as lost.
static void note_progress(void *argument, const hfta_activity *activity) {
  const hfta_worker *worker = argument;
  hfta_instance *instance = (hfta_instance *)(uintptr_t)worker->instance;
  const hfta_observer *observer = &instance->observer;
  hfta_communicator_progress(worker->communicator);
  if (!observer->done)
    return;
  hfta_activity own = *activity;
  own.worker = (uint32_t)(worker - instance->workers);
  pthread_mutex_lock(&instance->mutex);
  observer->done(observer->argument, &own);
  pthread_mutex_unlock(&instance->mutex);
}

void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer) {
  bool is_alone = instance->communicator->size == 1 && !instance->group;
  instance->observer = observer ? *observer : (hfta_observer){NULL, NULL, NULL};
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_device *device = instance->workers[i].device;
    const hfta_observer own = {note_progress, &instance->workers[i],
                               instance->observer.launches};
    device->functions->observe(device, is_alone ? observer : &own);
  }
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

const bool *hfta_instance_reads(const hfta_instance *instance) {
  return instance->reads;
}

const hfta_program *hfta_instance_program(const hfta_instance *instance) {
  return instance->program;
}

int hfta_instance_threads(const hfta_instance *instance) {
  const hfta_device *device = instance->workers->device;
  return device->functions->threads(device);
}

const hfta_device_functions *
hfta_instance_device_kind(const hfta_instance *instance) {
  return instance->workers->device->functions;
}

hfta_status hfta_instance_note(hfta_instance *instance,
                               const hfta_worker *worker, hfta_status status) {
  if (status != HFTA_OK)
    instance->error = worker->error;
  return status;
}

bool hfta_instance_preconditions(const hfta_instance *instance) {
  return instance->program->roles.kl_scale != UINT32_MAX;
}

hfta_worker *hfta_instance_find_worker(const hfta_instance *instance,
                                       uint32_t segment) {
  int32_t stage = instance->program->segments[segment].stage;
  hfta_worker *found = NULL;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_worker *worker = &instance->workers[i];
    if (worker->memory[segment].count == 0)
      continue;
    if (worker->workload.stage == stage)
      return worker;
    found = found ? found : worker;
  }
  return found;
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
  for (uint32_t i = 1; i < instance->part_count; ++i)
    instance->parts[i]->total_steps = steps;
}

hfta_status hfta_instance_set_steps(hfta_instance *instance, int64_t steps) {
  if (steps < 0)
    return hfta_fail(&instance->error, HFTA_USAGE, "%lld steps can't be done",
                     (long long)steps);
  instance->steps = steps;
  for (uint32_t i = 1; i < instance->part_count; ++i)
    instance->parts[i]->steps = steps;
  return HFTA_OK;
}
