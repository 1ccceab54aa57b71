//===- join.c - An instance as one of several ranks -----------------------===//

#include "instance/join.h"

#include <stdlib.h>
#include <string.h>

hfta_status hfta_check_ranks(const hfta_program *program, int ranks,
                             hfta_error *error) {
  if (ranks <= program->workers)
    return HFTA_OK;
  if (program->workers == 1)
    return hfta_fail(error, HFTA_USAGE,
                     "%d ranks, but '%s' is for one: compile it with 'pipeline "
                     "replicas = [%d]'",
                     ranks, program->name, ranks);
  return hfta_fail(error, HFTA_USAGE,
                   "%d ranks, but '%s' has %lld workers: start at most as many",
                   ranks, program->name, (long long)program->workers);
}

//===----------------------------------------------------------------------===//
// Comparison of programs
//===----------------------------------------------------------------------===//

/// Adds bytes to a digest by FNV-1a.
static void mix(uint64_t *digest, const void *bytes, uint64_t count) {
  const unsigned char *from = bytes;
  for (uint64_t i = 0; from && i < count; ++i)
    *digest = (*digest ^ from[i]) * UINT64_C(0x100000001b3);
}

static void mix_text(uint64_t *digest, const char *text) {
  mix(digest, text, strlen(text) + 1);
}

static void mix_numbers(uint64_t *digest, const hfta_program *program) {
  const int64_t numbers[] = {
      program->abi_version,   program->copies,         program->batch,
      program->micro_batches, program->stages->groups, program->workers,
      program->blocks,        program->epochs,         program->steps,
      program->order_seed,    program->shuffle,        program->precision,
      program->segment_count, program->tensor_count,   program->task_count,
      program->schedule_count};
  mix(digest, numbers, sizeof(numbers));
}

static void mix_settings(uint64_t *digest, const hfta_program *program) {
  for (uint32_t i = 0; i < program->setting_count; ++i) {
    const hfta_setting *setting = &program->settings[i];
    mix_text(digest, setting->name);
    mix(digest, &setting->value, sizeof(setting->value));
    int64_t count =
        setting->type == HFTA_SETTING_COUNTS ? setting->value : program->copies;
    if (setting->values)
      mix(digest, setting->values, 8 * (uint64_t)count);
  }
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i) {
    mix_text(digest, program->hyper_parameters[i].name);
    mix(digest, program->hyper_parameters[i].values,
        sizeof(double) * (uint64_t)program->copies);
  }
}

static void mix_source(uint64_t *digest, const hfta_data_source *source) {
  mix(digest, &source->format, sizeof(source->format));
  mix(digest, &source->column, sizeof(source->column));
  mix(digest, &source->header, sizeof(source->header));
  mix(digest, &source->separator, sizeof(source->separator));
  mix_text(digest, source->path ? source->path : "");
  for (uint32_t i = 0; i < source->more_path_count; ++i)
    mix_text(digest, source->more_paths[i]);
  mix_text(digest, source->array ? source->array : "");
  for (uint32_t i = 0; source->column_names && i < source->column_count; ++i)
    mix_text(digest, source->column_names[i]);
  if (source->column_numbers)
    mix(digest, source->column_numbers,
        sizeof(*source->column_numbers) * (uint64_t)source->column_count);
  mix(digest, &source->resize, sizeof(source->resize));
  mix(digest, &source->skips_damaged, sizeof(source->skips_damaged));
  mix(digest, &source->shift, sizeof(source->shift));
  mix(digest, &source->stride, sizeof(source->stride));
}

static void mix_data(uint64_t *digest, const hfta_program *program) {
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    mix_text(digest, field->name);
    mix(digest, &field->classes, sizeof(field->classes));
    mix(digest, &field->first_class, sizeof(field->first_class));
    mix(digest, &field->ignored_class, sizeof(field->ignored_class));
    mix_text(digest, field->augmentations ? field->augmentations : "");
    mix_source(digest, &field->train);
    mix_source(digest, &field->test);
    mix_source(digest, &field->validation);
  }
  mix(digest, &program->validation, sizeof(program->validation));
}

/// Returns a digest of a program's models, settings, data, memory and
/// schedules, by which ranks recognise that they run the same program. Kernels
/// aren't part of it: those for another processor give the same sums.
static uint64_t get_digest(const hfta_program *program) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  mix_text(&digest, program->name);
  mix_text(&digest, program->optimizer);
  for (int64_t copy = 0; program->optimizers && copy < program->copies; ++copy)
    mix_text(&digest, program->optimizers[copy]);
  for (uint32_t i = 0; i < program->metric_count; ++i)
    mix_text(&digest, program->metrics[i].name);
  mix_numbers(&digest, program);
  mix_settings(&digest, program);
  mix_data(&digest, program);
  for (int64_t copy = 0; copy < program->copies; ++copy)
    mix_text(&digest, hfta_program_model(program, copy)->identity);
  for (uint32_t i = 0; i < program->segment_count; ++i)
    mix(&digest, &program->segments[i].bytes, sizeof(uint64_t));
  for (uint32_t i = 0; i < program->schedule_count; ++i)
    mix(&digest, program->schedules[i].commands,
        sizeof(hfta_command) * program->schedules[i].command_count);
  for (uint32_t i = 0; i < program->order_count; ++i)
    mix(&digest, program->orders[i].actions,
        sizeof(hfta_action) * program->orders[i].count);
  mix(&digest, program->stages, sizeof(hfta_stage) * program->stage_count);
  for (int64_t i = 0; i < program->workers; ++i) {
    int64_t place = hfta_worker_place(program, i);
    mix(&digest, &place, sizeof(place));
  }
  return digest;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

static hfta_status open_own(hfta_instance *instance,
                            const hfta_options *options) {
  hfta_rank_options ranks = {.ranks = (hfta_ranks)options->ranks,
                             .library = options->mpi,
                             .timeout = options->rank_timeout};
  // A program with a single worker runs alone, even if a launcher has started
  // several processes.
  if (instance->program->workers == 1)
    ranks.ranks = HFTA_RANKS_ONE;
  return hfta_communicator_open(&ranks, &instance->communicator,
                                &instance->error);
}

static hfta_status compare(hfta_instance *instance) {
  uint64_t digest = get_digest(instance->program);
  int other = -1;
  hfta_status status =
      hfta_communicator_compare(instance->communicator, "program", &digest,
                                sizeof(digest), &other, &instance->error);
  if (status != HFTA_OK || other < 0)
    return status;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "rank %d runs another program than rank 0", other);
}

/// Creates the group of all ranks' workers, with the rank of each worker.
static hfta_status make_group(hfta_instance *instance, double timeout) {
  const hfta_program *program = instance->program;
  int *ranks = calloc((size_t)program->workers, sizeof(int));
  int *replicas = calloc(program->stage_count, sizeof(int));
  hfta_status status = HFTA_OK;
  if (!ranks || !replicas) {
    status = hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                       "not enough memory for messages between workers");
  } else {
    for (int64_t i = 0; i < program->workers; ++i)
      ranks[i] = hfta_rank_of_worker(program, instance->workload.ranks, i);
    for (uint32_t i = 0; i < program->stage_count; ++i)
      replicas[i] = (int)program->stages[i].replicas;
    const hfta_worker_map map = {.workers = (int)program->workers,
                                 .ranks = ranks,
                                 .stages = (int)program->stage_count,
                                 .replicas = replicas,
                                 .schedule_tags = (int)program->segment_count,
                                 .timeout = timeout};
    status = hfta_worker_group_create(instance->communicator, &map,
                                      &instance->group, &instance->error);
  }
  free(ranks);
  free(replicas);
  return status;
}

hfta_status hfta_instance_join(hfta_instance *instance,
                               const hfta_options *options) {
  hfta_workload *workload = &instance->workload;
  instance->communicator = workload->communicator;
  hfta_status status = HFTA_OK;
  if (!instance->communicator)
    status = open_own(instance, options);
  if (status != HFTA_OK)
    return status;
  workload->rank = instance->communicator->rank;
  workload->ranks = instance->communicator->size;
  status =
      hfta_check_ranks(instance->program, workload->ranks, &instance->error);
  if (status == HFTA_OK && workload->ranks > 1)
    status = compare(instance);
  if (status == HFTA_OK &&
      hfta_workload_has_stages(instance->program, workload))
    status = make_group(instance, options->rank_timeout);
  return status;
}

void hfta_instance_leave(hfta_instance *instance) {
  hfta_worker_group_free(instance->group);
  if (!instance->workload.communicator)
    hfta_communicator_close(instance->communicator);
}
