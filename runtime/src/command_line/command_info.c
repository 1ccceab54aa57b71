//===- command_info.c - The command info ----------------------------------===//

#include "checkpoint/averages.h"
#include "checkpoint/best_weights.h"
#include "command_line/info_jobs.h"
#include "command_line/jobs.h"
#include "command_line/print_schedules.h"
#include "command_line/table.h"
#include "command_line/trials/search_commands.h"
#include "data/division.h"
#include "hfta/pool.h"
#include "workload/defaults.h"
#include "workload/memory_plan.h"
#include "workload/share.h"

#include <string.h>

static void print_sizes(const hfta_program *program) {
  printf("%s: copies %lld, batch %lld, micro-batches %lld, blocks %lld",
         program->name, (long long)program->copies, (long long)program->batch,
         (long long)program->micro_batches, (long long)program->blocks);
  if (program->stage_count > 1)
    printf(", stages %u, workers %lld", program->stage_count,
           (long long)program->workers);
  else if (program->stages->groups > 1)
    printf(", groups %lld, workers %lld", (long long)program->stages->groups,
           (long long)program->workers);
  printf("\n");
}

static void print_validation(const hfta_program *program) {
  const hfta_validation *own = &program->validation;
  if (own->folds > 0)
    printf("validation %lld folds of the training data, seed %lld\n",
           (long long)own->folds, (long long)own->seed);
  else if (own->share > 0)
    printf("validation %g of the training data, seed %lld\n", own->share,
           (long long)own->seed);
  else if (hfta_program_validates(program))
    printf("validation files of their own\n");
  if (own->keeps_best && !program->search)
    printf("keeps each copy's best weights, by its validation %s, in %.1f MiB "
           "of the host's memory\n",
           hfta_program_score_name(program),
           (double)hfta_best_weights_bytes(program) / (1 << 20));
  if (hfta_program_averages(program) || hfta_program_adds_offsets(program))
    printf("evaluates the averages of weights, which take the places of "
           "weights kept in %.1f MiB of the host's memory\n",
           (double)hfta_averages_bytes(program) / (1 << 20));
  if (own->minutes > 0)
    printf("ends after %g minutes\n", own->minutes);
}

/// Says how much memory metrics of ranks need for each sample.
static void print_kept_scores(const hfta_program *program) {
  uint64_t bytes = hfta_program_score_bytes(program);
  if (bytes > 0)
    printf("metrics keep %llu bytes of scores in the host's memory for each "
           "evaluated sample and copy\n",
           (unsigned long long)bytes);
}

static void print_augmentations(const hfta_program *program) {
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    if (hfta_field_is_augmented(&program->data_fields[i]))
      printf("augments %s by %s\n", program->data_fields[i].name,
             program->data_fields[i].augmentations);
}

static void print_job(const hfta_program *const *arrays) {
  const hfta_program *program = arrays[0];
  print_sizes(program);
  printf("precision %s, optimizer %s, metric %s",
         hfta_element_name((hfta_element_type)program->precision),
         *program->optimizer ? program->optimizer : "none",
         program->metric_count > 0 ? program->metrics[0].name : "none");
  for (uint32_t i = 1; i < program->metric_count; ++i)
    printf(", %s", program->metrics[i].name);
  printf("\n");
  print_kept_scores(program);
  print_augmentations(program);
  print_validation(program);
  if (program->search)
    program->search->commands->print(stdout, arrays);
  printf("identity %s\n", program->models[0].identity);
  if (program->cpu_features && *program->cpu_features)
    printf("cpu features %s\n", program->cpu_features);
}

static void print_hyper_parameters(const hfta_program *program) {
  if (program->hyper_parameter_count == 0)
    return;
  printf("\n");
  hfta_results results = {0};
  hfta_print_results(stdout, program, &results);
  const char *separator = "all copies: ";
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    if (!hfta_hyper_parameter_shown(program, i)) {
      printf("%s%s %g", separator, program->hyper_parameters[i].name,
             program->hyper_parameters[i].values[0]);
      separator = ", ";
    }
  if (*separator == ',')
    printf("\n");
}

static void print_tensor(const hfta_tensor *tensor) {
  char shape[HFTA_SHAPE_TEXT_BYTES];
  printf("  %s  %s %s", tensor->name,
         hfta_element_name((hfta_element_type)tensor->type),
         hfta_shape_text(tensor->shape, tensor->rank, shape));
  if (tensor->flags & HFTA_TENSOR_SHARED)
    printf(", shared by all copies");
  if (tensor->copy >= 0)
    printf(", only of copy %d", (int)tensor->copy);
}

/// Prints the factor of a trained parameter's learning rate that follows from
/// its layer, as a power of `layer_decay` if copies differ.
static void print_layer_rate(const hfta_program *program,
                             const hfta_tensor *tensor) {
  const double *decays = hfta_layer_decays(program);
  if (!decays)
    return;
  double scale = 1;
  for (int32_t i = 0; i < tensor->layer_distance; ++i)
    scale *= decays[0];
  bool differ = false;
  for (int64_t copy = 1; copy < program->copies; ++copy)
    differ |= decays[copy] != decays[0];
  if (differ && tensor->layer_distance > 0)
    printf(", rate times layer_decay^%d", (int)tensor->layer_distance);
  else
    printf(", rate times %g", scale);
}

/// Prints the trained, or the frozen, parameters.
static void print_tensors(const hfta_program *program, bool trained) {
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    bool is_trained = (tensor->flags & HFTA_TENSOR_TRAINED) != 0;
    if (!hfta_tensor_is_parameter(program, i) || is_trained != trained)
      continue;
    print_tensor(tensor);
    if (tensor->training_rule != HFTA_TRAINING_none)
      printf(": %s", hfta_describe_training_rule(tensor->training_rule).text);
    if (tensor->groups)
      printf(", in group %s", tensor->groups);
    if (trained)
      print_layer_rate(program, tensor);
    printf("\n");
  }
}

/// Prints "LABEL: 5 a copy", or "LABEL: 5 to 7 a copy" if copies of different
/// models differ.
static void print_range(const char *label, const int64_t range[2]) {
  if (range[0] == range[1])
    printf("%s: %lld a copy", label, (long long)range[0]);
  else
    printf("%s: %lld to %lld a copy", label, (long long)range[0],
           (long long)range[1]);
}

/// Extends a range, its least and greatest value, by a value.
static void extend(int64_t range[2], int64_t value) {
  if (value < range[0])
    range[0] = value;
  if (value > range[1])
    range[1] = value;
}

static void print_parameters(const hfta_program *program) {
  int64_t trained[2] = {INT64_MAX, 0}, frozen[2] = {INT64_MAX, 0};
  int64_t total[2] = {INT64_MAX, 0};
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    hfta_parameter_count count = hfta_count_parameters(program, copy);
    extend(trained, count.trained);
    extend(frozen, count.frozen);
    extend(total, count.trained + count.frozen);
  }
  hfta_parameter_count all = hfta_count_all_parameters(program);
  printf("\n");
  print_range("parameters", total);
  printf(", %lld in the array\n", (long long)(all.trained + all.frozen));
  print_range("trained", trained);
  printf("\n");
  print_tensors(program, true);
  print_range("frozen", frozen);
  printf("\n");
  print_tensors(program, false);
}

/// Prints the batch normalizations and dropouts, and the modes in which a
/// training computes them.
static void print_modes(const hfta_program *program) {
  if (program->modal_node_count > 0)
    printf("modes in training\n");
  for (uint32_t i = 0; i < program->modal_node_count; ++i) {
    const hfta_modal_node *node = &program->modal_nodes[i];
    hfta_modal_node_words words = hfta_describe_modal_node(node);
    printf("  %s  %s, %s mode: %s%s%s\n", node->name, words.one,
           words.evaluation ? "evaluation" : "training", words.text,
           node->copies ? ", only of " : "", node->copies ? node->copies : "");
  }
}

/// Prints the state of a preconditioner, as far as checkpoints have it.
static void print_curvature(const hfta_program *program) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_curvature(program, i))
      bytes +=
          program->tensors[i].bytes *
          (uint64_t)(program->tensors[i].copy_stride ? program->copies : 1);
  if (bytes == 0)
    return;
  printf("curvature: %llu bytes in the array\n", (unsigned long long)bytes);
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_curvature(program, i)) {
      print_tensor(&program->tensors[i]);
      printf("\n");
    }
}

static void print_memory(const hfta_program *program, int threads) {
  hfta_memory_plan plan = hfta_program_memory(program, threads);
  const struct {
    const char *name;
    uint64_t bytes;
    bool is_rare; // left out if it is 0
  } lines[] = {{"parameters", plan.parameters, false},
               {"gradients", plan.gradients, false},
               {"optimizer state", plan.optimizer_state, false},
               {"statistics", plan.statistics, false},
               {"curvature", plan.curvature, false},
               {"activations", plan.activations, false},
               {"workspace", plan.workspace, false},
               {"input and output", plan.input_output, false},
               {"prefetch", plan.prefetch, false},
               {"scratch", plan.scratch, false},
               {"arena", plan.arena, true},
               {"store", plan.store, true},
               {"peak", plan.peak, false}};
  printf("\nmemory in bytes, threads %d, at most %lld at a time of %lld copies "
         "(a copy: its share of the array's bytes)\n",
         threads, (long long)hfta_program_copies_at_once(program, threads),
         (long long)program->copies);
  printf("  %-18s%16s%16s\n", "", "array", "a copy");
  for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); ++i)
    if (lines[i].bytes > 0 || !lines[i].is_rare)
      printf("  %-18s%16llu%16llu\n", lines[i].name,
             (unsigned long long)lines[i].bytes,
             (unsigned long long)(lines[i].bytes / (uint64_t)program->copies));
  printf("  (%llu bytes of constants lie in the program's file)\n",
         (unsigned long long)plan.constants);
}

/// Prints the memory that a program for another device than the host needs
/// there, and the host's memory that it needs if copies take turns because they
/// don't all fit.
static void print_device(const hfta_program *program) {
  const hfta_target *target = hfta_target_of(program);
  if (target->is_host)
    return;
  hfta_device_needs needs = hfta_find_device_needs(program);
  printf("\non %s %llu bytes for one copy, and %llu for each further copy\n",
         target->noun, (unsigned long long)needs.first_copy,
         (unsigned long long)needs.next_copy);
  if (needs.common)
    printf("copies can't take turns because of %s: all of them must fit\n",
           needs.common);
  else
    printf("if not all copies fit, they take turns: %llu bytes of the host's "
           "memory for each copy\n",
           (unsigned long long)needs.waiting_copy);
}

/// Prints for each stage the ranks of its workers, if each rank runs one
/// worker. Prints nothing if workers are assigned to ranks in the order of
/// their numbers.
static void print_places(const hfta_program *program) {
  if (!program->worker_places)
    return;
  printf("\nranks of the workers, if there are %lld ranks\n  stage  ranks of "
         "replicas\n",
         (long long)program->workers);
  int64_t worker = 0;
  for (uint32_t i = 0; i < program->stage_count; ++i) {
    printf("  %5u  ", i);
    for (int64_t replica = 0; replica < program->stages[i].replicas; ++replica)
      printf("%s%lld", replica > 0 ? ", " : "",
             (long long)hfta_worker_place(program, worker++));
    printf("\n");
  }
}

/// Prints the memory of one worker of each stage; nothing if there is only one
/// stage.
static void print_stages(const hfta_program *program, int threads) {
  if (program->stage_count == 1)
    return;
  printf("\nstages, each worker with memory in bytes\n");
  printf("  stage  replicas  groups  in flight      parameters     activations"
         "            peak\n");
  for (uint32_t i = 0; i < program->stage_count; ++i) {
    const hfta_stage *stage = &program->stages[i];
    hfta_memory_plan plan = hfta_stage_memory(program, i, threads);
    printf("  %5u  %8lld  %6lld  %9lld%16llu%16llu%16llu\n", i,
           (long long)stage->replicas, (long long)stage->groups,
           (long long)stage->in_flight, (unsigned long long)plan.parameters,
           (unsigned long long)plan.activations, (unsigned long long)plan.peak);
  }
  print_places(program);
}

static void print_tables(const hfta_program *program, int threads) {
  printf("\nsegments\n");
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    printf("  %-20s %-16s %14llu bytes x %u\n", segment->name,
           hfta_segment_role_name(segment->role),
           (unsigned long long)hfta_program_segment_bytes(program, i, threads),
           segment->instances);
  }
  printf("\ntasks\n");
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    printf("  %-20s %u launches\n", task->name, task->launch_count);
  }
}

/// Prints everything about one program, or its schedules. `given` is the value
/// of --threads. Returns the exit code.
static int tell(const hfta_invocation *invocation, int64_t given, bool json,
                bool schedule) {
  const hfta_program *program = invocation->program;
  hfta_error error;
  hfta_status status = hfta_program_check(program, &error);
  if (status == HFTA_OK && schedule) {
    hfta_print_schedules(program);
    return HFTA_OK;
  }
  int64_t threads = hfta_program_threads(program, given);
  if (status == HFTA_OK && json)
    status =
        hfta_write_info_json(invocation->arrays, (int)threads, stdout, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  if (json)
    return HFTA_OK;
  print_job(invocation->arrays);
  print_hyper_parameters(program);
  print_parameters(program);
  print_modes(program);
  print_curvature(program);
  print_memory(program, (int)threads);
  print_device(program);
  print_stages(program, (int)threads);
  print_tables(program, (int)threads);
  return HFTA_OK;
}

int hfta_command_info(const hfta_invocation *invocation) {
  hfta_seat_arguments seats = {0};
  const char *data_root = NULL;
  bool json = false, schedule = false;
  const hfta_option options[] = {
      {.name = "--json", .help = "print one JSON object", .flag = &json},
      {.name = "--schedule",
       .help = "print the commands of a step, an evaluation and an\ninference "
               "instead",
       .flag = &schedule},
      {.name = "--seats",
       .argument = "P",
       .help = "print the memory that 'train --seats P' needs, and "
               "its\nestimated time",
       .integer = &seats.seats,
       .minimum = 1,
       .maximum = HFTA_MAX_THREADS,
       .is_of_seats = true},
      {.name = "--data",
       .argument = "DIR",
       .help = "folder in which the job's relative paths begin (default: "
               "the\ncurrent folder); data files give the steps of an epoch",
       .text = &data_root,
       .is_of_seats = true},
      HFTA_OPTION_THREADS(&seats.threads),
  };
  int code = hfta_parse_options(
      invocation,
      "Prints hyper-parameters of each copy, parameters, the memory plan, and\n"
      "tasks. Nothing is allocated or run.",
      options, sizeof(options) / sizeof(*options));
  if (code >= 0)
    return code;
  if ((json || seats.seats > 0) && schedule)
    return hfta_report_usage(invocation,
                             "%s and --schedule: expected one of them",
                             json ? "--json" : "--seats");
  if (invocation->job && (seats.seats > 0 || data_root))
    return hfta_report_usage(invocation,
                             "option '%s' is for all jobs: leave out '--job'",
                             seats.seats > 0 ? "--seats" : "--data");
  if (hfta_is_of_all_jobs(invocation) && schedule)
    return hfta_report_nameless(invocation, "option '--schedule'");
  if (hfta_is_of_all_jobs(invocation) || seats.seats > 0)
    return hfta_list_jobs(invocation, &seats, data_root, json);
  return tell(invocation, seats.threads, json, schedule);
}
