//===- command_bench.c - The command bench --------------------------------===//

#include "checkpoint/replaces.h"
#include "command_line/bench/bench_kernels.h"
#include "command_line/bench/bench_ranks.h"
#include "command_line/ranks.h"
#include "data/dataset.h"
#include "hfta/json.h"
#include "hfta/pool.h"
#include "hfta/trainer.h"
#include "schedule/window.h"
#include "system/clock.h"
#include "system/memory_limit.h"
#include "system/philox.h"
#include "trace/trace.h"
#include "workload/defaults.h"
#include "workload/memory_plan.h"

#include <stdlib.h>
#include <string.h>

static const double MEBIBYTE = 1 << 20;
/// The least number of steps of the warm-up, the default of --steps, and the
/// least bytes with which the memory's speed is measured.
enum { LEAST_WARM_UP = 2, DEFAULT_STEPS = 50, LEAST_COPIED = 16 << 20 };

/// Fills a tensor with pseudorandom data that is valid for any model: f32 and
/// f64 in [0, 1), any bytes for u8 with several axes (images), and zeros for
/// all other types, since integers may be class numbers or indices.
static void fill(void *data, uint64_t bytes, uint32_t type, uint32_t rank,
                 uint32_t key) {
  memset(data, 0, bytes);
  uint64_t size = hfta_element_bytes((hfta_element_type)type);
  bool picture = type == HFTA_U8 && rank > 1;
  if (type != HFTA_F32 && type != HFTA_F64 && !picture)
    return;
  for (uint64_t i = 0; i < bytes / size; ++i) {
    uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), key, 0};
    uint32_t seed[2] = {0, 0}, random[4];
    hfta_philox4x32(counter, seed, random);
    double real = (double)random[0] / 4294967296.0;
    float single = (float)(random[0] >> 8) / 16777216.0f;
    if (type == HFTA_F64)
      memcpy((char *)data + i * size, &real, size);
    else if (type == HFTA_F32)
      memcpy((char *)data + i * size, &single, size);
    else
      ((unsigned char *)data)[i] = (unsigned char)random[0];
  }
}

/// The state of a measurement. `inputs` has the same data for every step: a
/// batch of each data field, or a tensor of each input for an inference
/// program.
typedef struct bench {
  hfta_instance *instance;
  hfta_communicator *communicator;
  const hfta_program *program;
  bool trains;
  int64_t copies_at_once; ///< the number of copies of a turn
  hfta_trace *trace;      ///< the trace of the timed steps; NULL: none
  uint32_t count;         ///< the number of `inputs`
  void **inputs;
  double *losses; ///< the losses of a window's steps; NULL: steps don't run in
                  ///< windows
  hfta_task_time *times; ///< one per task; those of all ranks, once gathered
  hfta_task_time *own_times; ///< those of this rank, for --kernels
  hfta_rank_time rank_time;
  hfta_rank_measures measures; ///< the measures of all ranks, on rank 0
  bool phases;  ///< --phases: measure the times of tasks and ranks
  bool kernels; ///< --kernels: measure the times of launches
  hfta_kernel_times kernel_times;
  bool json;
  bool no_overlap; ///< --no-overlap: no task runs during transfers of the store
  /// The bytes that the timed steps have read and written.
  hfta_store_traffic traffic;
  /// The store's speed, for --phases --json; zeros: not measured.
  hfta_store_rates store;
  hfta_machine_limits limits;
} bench;

/// Allocates the inputs and the arrays for results, and fills the inputs.
static hfta_status make_inputs(bench *self) {
  const hfta_program *program = self->program;
  hfta_error *error = hfta_instance_error(self->instance);
  self->trains = hfta_program_trains(program);
  self->count =
      self->trains ? hfta_program_field_count(program) : program->input_count;
  hfta_instance_take_all_fields(self->instance);
  self->inputs = calloc((size_t)self->count + 1, sizeof(void *));
  for (uint32_t i = 0; self->inputs && i < self->count; ++i) {
    uint32_t index = self->trains ? program->data_fields[i].tensor
                                  : program->inputs[i].tensor;
    const hfta_tensor *tensor = &program->tensors[index];
    uint64_t bytes =
        self->trains ? hfta_batch_bytes(program, i) : tensor->bytes;
    self->inputs[i] = malloc(bytes + 1);
    if (!self->inputs[i])
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "not enough memory for a batch");
    fill(self->inputs[i], bytes, tensor->type, tensor->rank, i);
  }
  self->times = calloc((size_t)program->task_count + 1, sizeof(*self->times));
  self->own_times =
      calloc((size_t)program->task_count + 1, sizeof(*self->own_times));
  bool takes_windows = hfta_instance_takes_windows(self->instance);
  if (takes_windows)
    self->losses = calloc((size_t)program->copies * HFTA_MOST_WINDOW_STEPS,
                          sizeof(*self->losses));
  if (!self->inputs || !self->times || !self->own_times ||
      (takes_windows && !self->losses))
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a batch");
  return HFTA_OK;
}

/// Takes the next step's batch for a window (hfta_window.take): always the same
/// one.
static hfta_status take(void *argument, int64_t step,
                        const void *const **inputs) {
  bench *self = argument;
  (void)step;
  *inputs = (const void *const *)self->inputs;
  hfta_instance_offer(self->instance, *inputs);
  return HFTA_OK;
}

/// Runs steps in windows, as long as those between two lines of a training's
/// log. Not used for a trace, which records single steps.
static hfta_status run_windows(bench *self, int64_t steps) {
  hfta_status status = HFTA_OK;
  while (steps > 0 && status == HFTA_OK) {
    hfta_window window = {.steps = steps < HFTA_DEFAULT_LOG_EVERY
                                       ? steps
                                       : HFTA_DEFAULT_LOG_EVERY,
                          .take = take,
                          .argument = self,
                          .losses = self->losses};
    status = hfta_instance_run_window(self->instance, &window);
    steps -= window.steps;
  }
  return status;
}

static hfta_status run_steps(bench *self, int64_t steps) {
  hfta_status status = HFTA_OK;
  const void *const *inputs = (const void *const *)self->inputs;
  if (self->losses && !self->trace)
    return run_windows(self, steps);
  for (int64_t i = 0; i < steps && status == HFTA_OK; ++i) {
    if (self->trains)
      hfta_instance_offer(self->instance, inputs);
    hfta_trace_begin_step(self->trace);
    status = self->trains ? hfta_instance_step(self->instance, inputs, NULL)
                          : hfta_instance_infer(self->instance, inputs);
    hfta_trace_end_step(self->trace);
  }
  return status;
}

/// Returns the planned peak memory in bytes of a rank with as many threads as
/// this one.
static uint64_t peak_of(const bench *self, int rank) {
  return hfta_rank_memory(self->program, rank, self->communicator->size,
                          hfta_instance_threads(self->instance))
      .peak;
}

/// Prints the planned peak memory of this rank, and that of the rank with the
/// largest one if it is another.
static void print_peaks(const bench *self, uint64_t peak) {
  uint64_t most = peak;
  int which = 0;
  for (int rank = 0; self->trains && rank < self->communicator->size; ++rank)
    if (peak_of(self, rank) > most) {
      most = peak_of(self, rank);
      which = rank;
    }
  printf("%lld at a time, planned peak %.2f MiB",
         (long long)self->copies_at_once, (double)peak / MEBIBYTE);
  if (which != 0)
    printf(", of rank %d %.2f MiB", which, (double)most / MEBIBYTE);
  printf("\n");
}

static void write_store(const hfta_store_rates *rates,
                        hfta_json_writer *writer) {
  if (rates->read <= 0 || rates->write <= 0)
    return;
  hfta_json_key(writer, "store");
  hfta_json_begin_object(writer);
  hfta_json_key(writer, "read_bytes_per_second");
  hfta_json_number(writer, rates->read, HFTA_F64);
  hfta_json_key(writer, "write_bytes_per_second");
  hfta_json_number(writer, rates->write, HFTA_F64);
  hfta_json_key(writer, "seconds_per_transfer");
  hfta_json_number(writer, rates->seconds, HFTA_F64);
  hfta_json_put_boolean(writer, "shared", rates->is_shared);
  hfta_json_end_object(writer);
}

static hfta_status print_json(const bench *self, int64_t steps, double seconds,
                              double rate, uint64_t peak, hfta_error *error) {
  hfta_json_writer writer;
  hfta_json_to_file(&writer, stdout);
  hfta_json_begin_object(&writer);
  hfta_json_key(&writer, "copies");
  hfta_json_integer(&writer, hfta_instance_live_count(self->instance));
  hfta_json_key(&writer, "copies_at_once");
  hfta_json_integer(&writer, self->copies_at_once);
  hfta_json_key(&writer, "batch");
  hfta_json_integer(&writer, self->program->batch);
  hfta_json_key(&writer, "micro_batches");
  hfta_json_integer(&writer, self->program->micro_batches);
  hfta_json_key(&writer, "steps");
  hfta_json_integer(&writer, steps);
  hfta_json_key(&writer, "ranks");
  hfta_json_integer(&writer, self->communicator->size);
  hfta_json_key(&writer, "threads");
  hfta_json_integer(&writer, hfta_instance_threads(self->instance));
  hfta_json_key(&writer, "seconds");
  hfta_json_number(&writer, seconds, HFTA_F64);
  hfta_json_key(&writer, "samples_per_second");
  hfta_json_number(&writer, rate, HFTA_F64);
  hfta_json_key(&writer, "peak_bytes");
  hfta_json_unsigned(&writer, peak);
  if (hfta_program_spills(self->program)) {
    hfta_json_key(&writer, "store_read_bytes");
    hfta_json_unsigned(&writer, self->traffic.read);
    hfta_json_key(&writer, "store_written_bytes");
    hfta_json_unsigned(&writer, self->traffic.written);
  }
  if (self->phases) {
    hfta_write_cuts(self->program, &writer);
    hfta_write_task_times(self->program, self->times, steps, &writer);
    hfta_write_rank_measures(&self->measures, steps, &writer);
    write_store(&self->store, &writer);
  }
  hfta_status status = HFTA_OK;
  if (self->kernels)
    status = hfta_write_kernels(&self->kernel_times, self->own_times, steps,
                                &writer, error);
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  return status == HFTA_OK ? hfta_json_finish(&writer, error) : status;
}

static hfta_status print_text(const bench *self, int64_t steps, double seconds,
                              double rate, uint64_t peak, hfta_error *error) {
  const hfta_program *program = self->program;
  int threads = hfta_instance_threads(self->instance);
  if (self->communicator->size > 1)
    printf("%d ranks: ", self->communicator->size);
  printf("%lld steps of %lld copies, batch %lld, %d threads: %.3f s\n"
         "%.3f ms a step, %.1f samples a second over all copies\n",
         (long long)steps, (long long)hfta_instance_live_count(self->instance),
         (long long)program->batch, threads, seconds,
         1e3 * seconds / (double)steps, rate);
  print_peaks(self, peak);
  if (hfta_program_spills(program))
    printf("%.2f MiB a step read from the store, %.2f MiB written\n",
           (double)self->traffic.read / (double)steps / MEBIBYTE,
           (double)self->traffic.written / (double)steps / MEBIBYTE);
  hfta_status status = HFTA_OK;
  if (self->phases) {
    status = hfta_print_phases(program, &self->limits, self->times, steps,
                               threads, error);
    if (status == HFTA_OK)
      hfta_print_rank_times(&self->measures, program, steps);
  }
  if (self->kernels && status == HFTA_OK)
    status = hfta_print_kernels(&self->kernel_times, &self->limits,
                                self->own_times, steps, error);
  return status;
}

/// Runs steps until all ranks have settled the fastest size of turns. The
/// schedule of learning rates is set to end with the last timed step.
static hfta_status warm_up(bench *self, int64_t steps) {
  hfta_instance *instance = self->instance;
  const char *name =
      self->losses ? hfta_instance_window_schedule(instance) : "step";
  const hfta_schedule *schedule =
      hfta_program_find_schedule(self->program, self->trains ? name : "infer");
  bool is_settled = false;
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; status == HFTA_OK && (i < LEAST_WARM_UP || !is_settled);
       ++i) {
    hfta_instance_set_total_steps(instance, i + 1 + steps);
    status = run_steps(self, 1);
    if (status == HFTA_OK)
      self->copies_at_once =
          hfta_instance_copies_at_once(instance, schedule, &is_settled);
    // All ranks go on until the last one has settled, so that they run the same
    // steps.
    int64_t waits = !is_settled;
    if (status == HFTA_OK)
      status =
          hfta_communicator_max(hfta_instance_communicator(instance), "warm-up",
                                &waits, hfta_instance_error(instance));
    is_settled = waits == 0;
  }
  return status;
}

/// The observer of the timed steps: adds up times, and passes activities to the
/// trace.
static void note_activity(void *argument, const hfta_activity *activity) {
  bench *self = argument;
  const hfta_observer *trace = hfta_trace_observer(self->trace);
  if (activity->kind == HFTA_ACTIVITY_RUN) {
    hfta_task_time *time = &self->times[activity->number];
    time->seconds += activity->end - activity->begin;
    ++time->runs;
    time->copies += activity->call->copy_count;
  }
  hfta_rank_time_add(&self->rank_time, activity);
  if (trace)
    trace->done(trace->argument, activity);
}

static hfta_status open_trace(bench *self, const hfta_trace_options *options) {
  hfta_error *error = hfta_instance_error(self->instance);
  hfta_status status = HFTA_OK;
  if (options->path)
    status = hfta_refuse_to_replace_program(options->path, error);
  if (status == HFTA_OK)
    status = hfta_trace_open(self->instance, options, &self->trace, error);
  return status;
}

static hfta_status write_trace(bench *self) {
  int64_t dropped;
  hfta_status status = hfta_trace_finish(self->trace, &dropped,
                                         hfta_instance_error(self->instance));
  if (dropped > 0)
    fprintf(stderr,
            "note: the trace lacks %lld events: it has no room for so many "
            "steps\n",
            (long long)dropped);
  return status;
}

static hfta_status run_timed_steps(bench *self, int64_t steps,
                                   double *seconds) {
  hfta_observer observer = {note_activity, self, self->kernel_times.tasks};
  if (self->phases || self->kernels || self->trace)
    hfta_instance_observe(self->instance, &observer);
  hfta_store_traffic before = hfta_instance_store_traffic(self->instance);
  double begin = hfta_now();
  hfta_status status = run_steps(self, steps);
  *seconds = hfta_now() - begin;
  self->traffic = hfta_instance_store_traffic(self->instance);
  self->traffic.read -= before.read;
  self->traffic.written -= before.written;
  hfta_instance_observe(self->instance, NULL);
  return status == HFTA_OK ? write_trace(self) : status;
}

/// Runs more steps, in which each launch is measured alone.
static hfta_status measure_alone(bench *self) {
  if (!self->kernels)
    return HFTA_OK;
  hfta_status status = hfta_kernel_times_alone(
      &self->kernel_times, hfta_instance_error(self->instance));
  if (status != HFTA_OK)
    return status;
  memcpy(self->own_times, self->times,
         self->program->task_count * sizeof(*self->times));
  hfta_observer observer = {NULL, NULL, self->kernel_times.tasks};
  hfta_instance_observe(self->instance, &observer);
  status = run_steps(self, HFTA_ALONE_STEPS);
  hfta_instance_observe(self->instance, NULL);
  return status;
}

/// Gathers the times of tasks and ranks on rank 0. With --json, also measures
/// the links between ranks, for the compiler's planner.
static hfta_status measure_ranks(bench *self, int64_t steps) {
  hfta_error *error = hfta_instance_error(self->instance);
  if (!self->phases)
    return HFTA_OK;
  self->rank_time.peak_bytes = hfta_instance_memory(self->instance).peak;
  hfta_status status =
      hfta_gather_times(self->communicator, &self->rank_time, self->times,
                        self->program->task_count, &self->measures, error);
  // The duration of a task if the model were cut into equal stages, one for
  // each rank, which runs a forward and a backward of each micro-batch.
  double task_seconds = self->rank_time.busy / (double)steps /
                        (2.0 * (double)self->program->micro_batches);
  if (status == HFTA_OK && self->json)
    status = hfta_measure_links(self->communicator, task_seconds,
                                &self->measures, error);
  return status;
}

/// Checks that all ranks have the same options, as they must run the same
/// steps.
static hfta_status compare_options(bench *self, const hfta_trace_options *trace,
                                   int64_t steps) {
  hfta_error *error = hfta_instance_error(self->instance);
  int64_t numbers[] = {
      steps,        self->phases,     self->json,   trace->path != NULL,
      trace->steps, self->no_overlap, self->kernels};
  int other = -1;
  hfta_status status = hfta_communicator_compare(
      self->communicator, "options", numbers, sizeof(numbers), &other, error);
  if (status == HFTA_OK && other < 0)
    status = hfta_communicator_compare(
        self->communicator, "copies that run",
        hfta_instance_live(self->instance),
        sizeof(bool) * (size_t)self->program->copies, &other, error);
  if (status != HFTA_OK || other < 0)
    return status;
  return hfta_fail(error, HFTA_USAGE,
                   "rank %d was started with other options than rank 0: give "
                   "all ranks the same",
                   other);
}

static hfta_status measure(bench *self, const hfta_trace_options *trace,
                           int64_t steps) {
  hfta_error *error = hfta_instance_error(self->instance);
  double seconds = 0.0;
  hfta_status status = compare_options(self, trace, steps);
  if (status == HFTA_OK)
    status = make_inputs(self);
  if (status == HFTA_OK)
    status = warm_up(self, steps);
  if (status == HFTA_OK && self->kernels)
    status = hfta_kernel_times_create(self->program,
                                      hfta_instance_threads(self->instance),
                                      &self->kernel_times, error);
  if (status == HFTA_OK)
    status = open_trace(self, trace);
  if (status == HFTA_OK)
    status = run_timed_steps(self, steps, &seconds);
  if (status == HFTA_OK)
    status = measure_alone(self);
  if (status == HFTA_OK)
    status = measure_ranks(self, steps);
  if (status == HFTA_OK && self->phases && self->json)
    status = hfta_instance_measure_store(self->instance, &self->store, error);
  if (status != HFTA_OK)
    return status;
  const hfta_program *program = self->program;
  int64_t copies = hfta_instance_live_count(self->instance);
  double rate = (double)(copies * program->batch) * (double)steps /
                (seconds > 0 ? seconds : 1e-9);
  uint64_t peak = hfta_instance_memory(self->instance).peak;
  if (self->communicator->rank > 0)
    return HFTA_OK;
  if (self->json)
    return print_json(self, steps, seconds, rate, peak, error);
  return print_text(self, steps, seconds, rate, peak, error);
}

/// Measures the limits of the processor. Uses no more memory than the instance,
/// which is created afterwards, will have, or LEAST_COPIED if that is more.
static hfta_status measure_limits(bench *self, int64_t threads,
                                  hfta_error *error) {
  // Limits are only measured of the host.
  if (!hfta_target_of(self->program)->is_host)
    return HFTA_OK;
  int count = hfta_program_threads(self->program, threads);
  uint64_t most = hfta_program_memory(self->program, count).peak;
  uint64_t least = LEAST_COPIED, half = hfta_memory_limit() / 2;
  most = most > least ? most : least;
  return hfta_measure_limits(count, most < half ? most : half, &self->limits,
                             error);
}

typedef struct bench_arguments {
  const char *device, *only;
  int64_t threads, steps;
  hfta_trace_options trace;
  hfta_spill_arguments spill;
  hfta_rank_arguments ranks;
} bench_arguments;

static int parse(const hfta_invocation *invocation, bench *self,
                 bench_arguments *out) {
  const hfta_option options[] = {
      {.name = "--steps",
       .argument = "N",
       .help = "number of steps to time, after some of warm-up (default: 50)",
       .integer = &out->steps,
       .minimum = 1,
       .maximum = 1000000000},
      {.name = "--json", .help = "print one JSON object", .flag = &self->json},
      {.name = "--phases",
       .help = "print the time of each phase, and the least time that "
               "its\nflops and bytes need on this processor; with --json, "
               "the\nseconds of each task",
       .flag = &self->phases},
      {.name = "--kernels",
       .help = "print the time of each kernel, in the steps and alone",
       .flag = &self->kernels},
      HFTA_OPTION_TRACE(&out->trace.path),
      HFTA_OPTION_TRACE_STEPS(&out->trace.steps),
      HFTA_OPTION_ONLY(&out->only),
      HFTA_OPTION_THREADS(&out->threads),
      HFTA_OPTION_SPILL_DIR(&out->spill),
      HFTA_OPTION_IO_THREADS(&out->spill),
      {.name = "--no-overlap",
       .help = "don't compute while data are read from or written to the\nfile "
               "of data that don't fit into memory",
       .flag = &self->no_overlap,
       .spills = true},
      {.name = "--device",
       .argument = "DEVICE",
       .help = hfta_target_of(invocation->program)->measuring_device_help,
       .text = &out->device},
      HFTA_OPTION_RANKS(&out->ranks),
      HFTA_OPTION_MPI(&out->ranks),
      HFTA_OPTION_RANK_TIMEOUT(&out->ranks),
  };
  int code = hfta_parse_options(
      invocation,
      "Times steps, or inferences of an inference program, on synthetic data "
      "in\nmemory, which are the same in each step.",
      options, sizeof(options) / sizeof(*options));
  return code < 0
             ? hfta_check_trace(invocation, out->trace.path, out->trace.steps)
             : code;
}

static int run(const hfta_invocation *invocation, bench *self,
               const bench_arguments *arguments) {
  hfta_workload workload = hfta_workload_of_all(invocation->program);
  hfta_rank_arguments ranks = arguments->ranks;
  // A program without replicas or stages runs on one rank: if a launcher has
  // started several, each of them measures it on its own.
  if (invocation->program->workers == 1 && !ranks.ranks)
    ranks.ranks = "1";
  int code = hfta_join_ranks(invocation, &ranks);
  self->communicator = workload.communicator = invocation->ranks->communicator;
  if (code < 0)
    code = hfta_open_instance(invocation, &workload, arguments->threads,
                              arguments->device, &arguments->spill,
                              &self->instance);
  if (code < 0)
    code = hfta_choose_copies(invocation, arguments->only, self->instance);
  if (code >= 0)
    return code;
  hfta_instance_set_overlap(self->instance, !self->no_overlap);
  hfta_status status = measure(self, &arguments->trace, arguments->steps);
  return status == HFTA_OK ? HFTA_OK
                           : hfta_report(invocation, status,
                                         hfta_instance_message(self->instance));
}

static void release(bench *self) {
  for (uint32_t i = 0; self->inputs && i < self->count; ++i)
    free(self->inputs[i]);
  free(self->inputs);
  free(self->losses);
  free(self->times);
  free(self->own_times);
  hfta_kernel_times_free(&self->kernel_times);
  hfta_rank_measures_free(&self->measures);
  hfta_trace_close(self->trace);
  hfta_instance_destroy(self->instance);
}

int hfta_command_bench(const hfta_invocation *invocation) {
  bench_arguments arguments = {.steps = DEFAULT_STEPS};
  bench self = {.program = invocation->program};
  hfta_expect_ranks(invocation);
  int code = parse(invocation, &self, &arguments);
  if (code >= 0)
    return code;
  hfta_error error;
  if (self.kernels && !hfta_target_of(self.program)->is_host) {
    hfta_fail(&error, HFTA_USAGE, "--kernels measures programs for CPUs only");
    return hfta_report(invocation, HFTA_USAGE, error.message);
  }
  if ((self.phases || self.kernels) && !self.json) {
    hfta_status status = measure_limits(&self, arguments.threads, &error);
    if (status != HFTA_OK)
      return hfta_report(invocation, status, error.message);
  }
  code = run(invocation, &self, &arguments);
  release(&self);
  hfta_leave_ranks(invocation);
  return code;
}
