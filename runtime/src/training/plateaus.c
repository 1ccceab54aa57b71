//===- plateaus.c - Schedules that follow validation scores ---------------===//

#include "training/plateaus.h"

#include "hfta/safetensors.h"
#include "hfta/search.h"
#include "instance/share_state.h"
#include "system/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "hfta-plateaus"
#define VERSION "1"

//===----------------------------------------------------------------------===//
// One copy's number
//===----------------------------------------------------------------------===//

hfta_plateau hfta_plateau_begin(uint32_t direction) {
  return (hfta_plateau){
      .factor = 1.0, .best = direction == HFTA_MAXIMIZE ? -INFINITY : INFINITY};
}

static bool is_better(const hfta_plateau *self,
                      const hfta_number_schedule *schedule, int64_t copy,
                      uint32_t direction, double score) {
  double threshold = schedule->threshold[copy];
  bool is_absolute = (schedule->options & HFTA_SCHEDULE_ABSOLUTE) != 0;
  if (direction == HFTA_MAXIMIZE)
    return score > (is_absolute ? self->best + threshold
                                : self->best * (threshold + 1.0));
  return score < (is_absolute ? self->best - threshold
                              : self->best * (1.0 - threshold));
}

void hfta_plateau_note(hfta_plateau *self, const hfta_number_schedule *schedule,
                       int64_t copy, uint32_t direction, double number,
                       double score) {
  const double least_change = 1e-8;
  if (is_better(self, schedule, copy, direction, score)) {
    self->best = score;
    self->bad = 0.0;
  } else {
    self->bad += 1.0;
  }
  if (self->cooldown > 0.0) {
    self->cooldown -= 1.0;
    self->bad = 0.0;
  }
  if (self->bad <= schedule->patience[copy])
    return;
  double reduced =
      fmax(self->factor * schedule->factor[copy], schedule->minimum[copy]);
  if (fabs(number) * (self->factor - reduced) > least_change)
    self->factor = reduced;
  self->cooldown = schedule->cooldown[copy];
  self->bad = 0.0;
}

//===----------------------------------------------------------------------===//
// All numbers
//===----------------------------------------------------------------------===//

/// Returns the schedule of a number: 0 is the learning rate, row i of the
/// program's scheduled numbers is i + 1.
static const hfta_number_schedule *schedule_of(const hfta_program *program,
                                               uint32_t number) {
  return number == 0 ? &program->learning_rate
                     : &program->scheduled_numbers[number - 1].schedule;
}

static const char *name_of(const hfta_program *program, uint32_t number) {
  if (number == 0)
    return "lr";
  return program
      ->hyper_parameters[program->scheduled_numbers[number - 1].hyper_parameter]
      .name;
}

static bool follows(const hfta_program *program, uint32_t number) {
  return schedule_of(program, number)->kind == HFTA_NUMBER_SCHEDULE_PLATEAU;
}

hfta_status hfta_plateaus_open(hfta_plateaus *self, const hfta_program *program,
                               hfta_error *error) {
  *self = (hfta_plateaus){.program = program};
  bool is_needed = false;
  uint32_t numbers = 1 + program->scheduled_number_count;
  for (uint32_t i = 0; i < numbers; ++i)
    is_needed |= follows(program, i);
  if (!is_needed)
    return HFTA_OK;
  uint64_t count = numbers * (uint64_t)program->copies;
  self->states = calloc(count, sizeof(*self->states));
  if (!self->states)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the schedules of %lld copies",
                     (long long)program->copies);
  self->count = count;
  for (uint64_t i = 0; i < count; ++i)
    self->states[i] = hfta_plateau_begin(program->validation.direction);
  return HFTA_OK;
}

void hfta_plateaus_close(hfta_plateaus *self) {
  free(self->states);
  *self = (hfta_plateaus){0};
}

void hfta_plateaus_note(hfta_plateaus *self, const hfta_instance *instance,
                        const bool *runs, const double *losses,
                        const double *metrics) {
  const hfta_program *program = self->program;
  const hfta_validation *by = &program->validation;
  for (uint64_t i = 0; i < self->count; ++i) {
    uint32_t number = (uint32_t)(i / (uint64_t)program->copies);
    int64_t copy = (int64_t)(i % (uint64_t)program->copies);
    if (runs[copy] && follows(program, number))
      hfta_plateau_note(
          &self->states[i], schedule_of(program, number), copy, by->direction,
          hfta_instance_hyper_parameter(instance, copy,
                                        name_of(program, number)),
          hfta_validation_score(by, program->copies, copy, losses, metrics));
  }
}

void hfta_plateaus_apply(const hfta_plateaus *self, hfta_instance *instance) {
  int64_t copies = self->count > 0 ? self->program->copies : 1;
  for (uint64_t i = 0; i < self->count; ++i)
    hfta_instance_set_schedule_factor(
        instance, (uint32_t)(i / (uint64_t)copies),
        (int64_t)(i % (uint64_t)copies), self->states[i].factor);
}

hfta_status hfta_plateaus_share(hfta_plateaus *self,
                                hfta_communicator *communicator,
                                hfta_error *error) {
  return self->count > 0
             ? hfta_share_bytes(communicator, "the state of schedules",
                                self->states,
                                self->count * sizeof(*self->states), error)
             : HFTA_OK;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

enum { RANK = 3, MEMBERS = sizeof(hfta_plateau) / sizeof(double) };

/// Describes the file's tensor; `shape` is its memory for the shape.
static hfta_tensor_view describe(const hfta_plateaus *self,
                                 int64_t shape[RANK]) {
  shape[0] = 1 + (int64_t)self->program->scheduled_number_count;
  shape[1] = self->program->copies;
  shape[2] = MEMBERS;
  return (hfta_tensor_view){.name = "plateaus",
                            .type = HFTA_F64,
                            .rank = RANK,
                            .shape = shape,
                            .data = self->states,
                            .bytes = self->count * sizeof(*self->states)};
}

static hfta_status find_path(const char *folder, hfta_path *out,
                             hfta_error *error) {
  return hfta_path_format(out, error, "%s/plateaus.safetensors", folder);
}

hfta_status hfta_plateaus_save(const hfta_plateaus *self, const char *folder,
                               hfta_error *error) {
  if (self->count == 0)
    return HFTA_OK;
  int64_t shape[RANK];
  hfta_tensor_view view = describe(self, shape);
  const hfta_metadata metadata[] = {{"format", FORMAT},
                                    {"version", VERSION},
                                    {HFTA_SAFETENSORS_CHECKSUM, NULL}};
  hfta_path path;
  hfta_status status = find_path(folder, &path, error);
  return status == HFTA_OK
             ? hfta_safetensors_write(path.text, &view, 1, metadata,
                                      sizeof(metadata) / sizeof(*metadata),
                                      error)
             : status;
}

static bool has(const hfta_safetensors *file, const char *key,
                const char *expected) {
  const char *text = hfta_safetensors_metadata(file, key);
  return text && strcmp(text, expected) == 0;
}

/// Returns whether these are states that a training can have.
static bool are_valid(const hfta_plateau *states, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    if (!(states[i].factor >= 0.0 && states[i].factor <= 1.0) ||
        isnan(states[i].best) || !(states[i].bad >= 0.0) ||
        !(states[i].cooldown >= 0.0))
      return false;
  return true;
}

static hfta_status read_file(hfta_plateaus *self, const hfta_safetensors *file,
                             const char *path, hfta_error *error) {
  hfta_status status = hfta_safetensors_verify(file, path, error);
  if (status != HFTA_OK)
    return status;
  int64_t shape[RANK];
  hfta_tensor_view view = describe(self, shape);
  const hfta_tensor_view *found = hfta_safetensors_find(file, view.name);
  bool is_valid = has(file, "format", FORMAT) &&
                  has(file, "version", VERSION) &&
                  hfta_safetensors_metadata(file, HFTA_SAFETENSORS_CHECKSUM) &&
                  found && found->type == view.type &&
                  found->rank == view.rank && found->bytes == view.bytes;
  if (is_valid)
    memcpy(self->states, found->data, view.bytes);
  if (!is_valid || !are_valid(self->states, self->count))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' doesn't hold the state of this job's schedules of "
                     "%lld copies",
                     path, (long long)self->program->copies);
  return HFTA_OK;
}

hfta_status hfta_plateaus_load(hfta_plateaus *self, const char *folder,
                               hfta_error *error) {
  hfta_path path;
  hfta_safetensors *file = NULL;
  hfta_status status =
      self->count > 0 ? find_path(folder, &path, error) : HFTA_OK;
  if (status != HFTA_OK || self->count == 0 || !hfta_path_exists(path.text))
    return status;
  status = hfta_safetensors_open(path.text, &file, error);
  if (status == HFTA_OK)
    status = read_file(self, file, path.text, error);
  hfta_safetensors_close(file);
  return status;
}
