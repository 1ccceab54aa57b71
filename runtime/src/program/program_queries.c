//===- program_queries.c - Facts about a program's table ------------------===//

#include "hfta/program_queries.h"
#include "program/command_records.h"
#include "program/metric_values.h"

#include <math.h>
#include <string.h>

int64_t hfta_program_metric_values(const hfta_program *program) {
  int64_t values = 0;
  for (uint32_t i = 0; i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    values +=
        1 + (hfta_metric_is_matrix(metric) ? hfta_metric_sum_count(metric) : 0);
  }
  return values * program->copies;
}

const double *hfta_program_metric_matrix(const hfta_program *program,
                                         const double *metrics,
                                         uint32_t metric) {
  if (!hfta_metric_is_matrix(&program->metrics[metric]))
    return NULL;
  int64_t before = program->metric_count;
  for (uint32_t i = 0; i < metric; ++i)
    if (hfta_metric_is_matrix(&program->metrics[i]))
      before += hfta_metric_sum_count(&program->metrics[i]);
  return metrics + before * program->copies;
}

const hfta_metric *hfta_program_main_metric(const hfta_program *program) {
  if (program->validation.by_metric > 0)
    return &program->metrics[program->validation.by_metric - 1];
  for (uint32_t i = 0; i < program->metric_count; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i]))
      return &program->metrics[i];
  return NULL;
}

double hfta_program_main_value(const hfta_program *program,
                               const double *metrics, int64_t copy) {
  const hfta_metric *metric = hfta_program_main_metric(program);
  return metric ? metrics[(metric - program->metrics) * program->copies + copy]
                : NAN;
}

uint64_t hfta_program_score_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->metric_count; ++i)
    bytes += hfta_metric_sample_bytes(&program->metrics[i]);
  return bytes;
}

const char *hfta_program_score_name(const hfta_program *program) {
  return program->validation.by_metric > 0
             ? hfta_program_main_metric(program)->name
             : "loss";
}

double hfta_validation_score(const hfta_validation *by, int64_t copies,
                             int64_t copy, const double *losses,
                             const double *metrics) {
  return by->by_metric > 0 ? metrics[(by->by_metric - 1) * copies + copy]
                           : losses[copy];
}

const hfta_schedule *hfta_program_find_schedule(const hfta_program *program,
                                                const char *name) {
  for (uint32_t i = 0; i < program->schedule_count; ++i)
    if (strcmp(program->schedules[i].name, name) == 0)
      return &program->schedules[i];
  return NULL;
}

const hfta_schedule *
hfta_program_find_stage_schedule(const hfta_program *program, const char *name,
                                 int32_t stage) {
  for (uint32_t i = 0; i < program->schedule_count; ++i)
    if (program->schedules[i].stage == stage &&
        strcmp(program->schedules[i].name, name) == 0)
      return &program->schedules[i];
  return NULL;
}

bool hfta_segment_has_image(const hfta_program *program, uint32_t segment) {
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; i < program->schedules[s].command_count; ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      if ((hfta_command_writes(command, HFTA_SPACE_HOST) &&
           command->to.index == segment) ||
          (hfta_command_reads(command, HFTA_SPACE_HOST) &&
           command->from.index == segment))
        return true;
    }
  return false;
}

bool hfta_segment_is_state(const hfta_segment *segment) {
  return segment->role == HFTA_SEGMENT_PARAMETERS ||
         segment->role == HFTA_SEGMENT_STATISTICS ||
         segment->role == HFTA_SEGMENT_OPTIMIZER_STATE ||
         segment->role == HFTA_SEGMENT_CURVATURE;
}

bool hfta_program_trains(const hfta_program *program) {
  return hfta_program_find_schedule(program, "step") != NULL;
}

bool hfta_program_evaluates(const hfta_program *program) {
  return hfta_program_find_schedule(program, "evaluate") != NULL;
}

uint32_t hfta_program_field_count(const hfta_program *program) {
  return program->data_field_count + program->made_field_count;
}

bool hfta_field_is_augmented(const hfta_data_field *field) {
  return field->augmentations && *field->augmentations;
}

int64_t hfta_program_micro_batch(const hfta_program *program) {
  return program->batch / program->micro_batches;
}

bool hfta_tensor_is_of(const hfta_tensor *tensor, int64_t copy) {
  return tensor->places ? tensor->places[copy] >= 0
                        : tensor->copy < 0 || tensor->copy == copy;
}

uint64_t hfta_tensor_offset(const hfta_program *program,
                            const hfta_tensor *tensor, int64_t copy) {
  const int32_t *places = program->segments[tensor->segment].places;
  return tensor->offset +
         tensor->copy_stride * (uint64_t)(places ? places[copy] : copy);
}

const hfta_model *hfta_program_model(const hfta_program *program,
                                     int64_t copy) {
  return &program->models[program->model_of_copy[copy]];
}

uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name) {
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_of(&program->tensors[i], copy) &&
        strcmp(program->tensors[i].name, name) == 0)
      return i;
  return UINT32_MAX;
}

uint64_t hfta_program_scratch_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    if (segment->role == HFTA_SEGMENT_SCRATCH && segment->bytes > bytes)
      bytes = segment->bytes;
  }
  return bytes;
}

bool hfta_program_spills(const hfta_program *program) {
  for (uint32_t i = 0; i < program->segment_count; ++i)
    if (program->segments[i].residency == HFTA_SPILLED)
      return true;
  return false;
}
