//===- trainer_standings.c - Patience, and limits of time -----------------===//

#include "training/trainer_impl.h"

#include "system/clock.h"

#include <stdlib.h>
#include <string.h>

/// Names what a training has that needs validation data, or NULL.
static const char *find_need(const hfta_trainer *self) {
  const hfta_validation *by = &self->program->validation;
  return by->patience > 0           ? "patience"
         : by->keeps_best           ? "keep best"
         : self->plateaus.count > 0 ? "a schedule 'plateau'"
                                    : NULL;
}

static hfta_status check(const hfta_trainer *self) {
  const hfta_program *program = self->program;
  const hfta_validation *by = &program->validation;
  const char *need = find_need(self);
  if (need && !self->validates)
    return hfta_fail(self->error, HFTA_USAGE,
                     "%s needs validation data, which '%s' doesn't have", need,
                     program->name);
  const char *what = by->patience > 0    ? "patience"
                     : self->minutes > 0 ? "a limit of minutes"
                                         : NULL;
  const char *where = !hfta_team_is_alone(&self->team)      ? "on several ranks"
                      : self->parts || self->options->model ? "at seats"
                                                            : NULL;
  if (what && where)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "a training %s can't have %s: train '%s' on one rank "
                     "without seats",
                     where, what, program->name);
  return HFTA_OK;
}

hfta_status hfta_trainer_open_standings(hfta_trainer *self) {
  const hfta_program *program = self->program;
  self->minutes = self->options->minutes > 0 ? (double)self->options->minutes
                                             : program->validation.minutes;
  self->result->minutes = self->minutes;
  hfta_status status =
      hfta_plateaus_open(&self->plateaus, program, self->error);
  if (status == HFTA_OK)
    status = check(self);
  self->keeps_best = program->validation.keeps_best != 0;
  self->follows = program->validation.patience > 0 || self->minutes > 0 ||
                  self->keeps_best || self->plateaus.count > 0;
  if (status != HFTA_OK || !self->follows)
    return status;
  size_t bytes = sizeof(bool) * (size_t)program->copies;
  self->chosen = malloc(bytes);
  self->runs = malloc(bytes);
  if (!self->chosen || !self->runs)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for the scores of %lld copies",
                     (long long)program->copies);
  memcpy(self->chosen, hfta_instance_live(self->instance), bytes);
  memcpy(self->runs, self->chosen, bytes);
  return hfta_standings_open(&self->standings, program->copies, self->error);
}

bool hfta_trainer_is_out_of_time(const hfta_trainer *self) {
  return self->minutes > 0 &&
         self->standings.seconds + hfta_now() - self->clock >=
             60 * self->minutes;
}

hfta_status hfta_trainer_save_standings(void *argument, const char *folder,
                                        hfta_error *error) {
  const hfta_trainer *self = argument;
  hfta_standings now = self->standings;
  now.seconds += hfta_now() - self->clock;
  hfta_status status = hfta_standings_save(&now, folder, error);
  return status == HFTA_OK ? hfta_plateaus_save(&self->plateaus, folder, error)
                           : status;
}

bool hfta_trainer_is_complete(const hfta_trainer *self, int64_t step) {
  if (step >= self->total_steps)
    return true;
  for (int64_t copy = 0; self->follows && copy < self->program->copies; ++copy)
    if (self->chosen[copy] && self->standings.stopped_after[copy] == 0)
      return false;
  return self->follows;
}

/// Makes the copies run for which `runs` is true, if there are any.
static hfta_status set_live(hfta_trainer *self, const bool *runs) {
  int64_t count = 0;
  int32_t *copies = malloc(sizeof(*copies) * (size_t)self->program->copies);
  if (!copies)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for a list of %lld copies",
                     (long long)self->program->copies);
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    if (runs[copy])
      copies[count++] = (int32_t)copy;
  hfta_status status =
      count > 0 ? hfta_instance_set_live(self->instance, copies, count)
                : HFTA_OK;
  free(copies);
  return status;
}

void hfta_trainer_find_runs(hfta_trainer *self, int64_t step) {
  const int64_t *stopped_after = self->standings.stopped_after;
  for (int64_t copy = 0; self->follows && copy < self->program->copies; ++copy)
    self->runs[copy] = self->chosen[copy] && (stopped_after[copy] == 0 ||
                                              stopped_after[copy] >= step);
}

/// Returns whether copies may stop before others do.
static bool may_stop(const hfta_trainer *self) {
  return self->chosen && self->program->validation.patience > 0;
}

hfta_status hfta_trainer_choose_running(hfta_trainer *self, int64_t step) {
  hfta_trainer_find_runs(self, step);
  return may_stop(self) ? set_live(self, self->runs) : HFTA_OK;
}

hfta_status hfta_trainer_choose_all(hfta_trainer *self) {
  return may_stop(self) ? set_live(self, self->chosen) : HFTA_OK;
}

bool hfta_trainer_is_due(const hfta_trainer *self, int64_t step) {
  int64_t every = self->program->validation.every;
  return step > 0 && step % self->steps_per_epoch == 0 &&
         (every <= 1 || step / self->steps_per_epoch % every == 0);
}
