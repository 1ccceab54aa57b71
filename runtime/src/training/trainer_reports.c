//===- trainer_reports.c - Reports of updates -----------------------------===//

#include "training/trainer_impl.h"

#include <stdlib.h>

bool hfta_trainer_preconditions(const hfta_trainer *self) {
  return self->program->roles.kl_scale != UINT32_MAX;
}

bool hfta_trainer_follow_reports(hfta_trainer *self) {
  size_t copies = (size_t)self->program->copies;
  self->reports = calloc(copies, sizeof(*self->reports));
  self->scheduled = calloc(copies * self->program->scheduled_number_count + 1,
                           sizeof(*self->scheduled));
  self->terms =
      calloc(copies * self->program->loss_term_count + 1, sizeof(double));
  if (!hfta_trainer_preconditions(self))
    return self->reports && self->scheduled && self->terms;
  hfta_train_result *result = self->result;
  result->skipped_statistics = calloc(copies, sizeof(double));
  result->retried_inverses = calloc(copies, sizeof(double));
  result->kept_inverses = calloc(copies, sizeof(double));
  return self->reports && self->scheduled && self->terms &&
         result->skipped_statistics && result->retried_inverses &&
         result->kept_inverses;
}

void hfta_trainer_take_scheduled(hfta_trainer *self,
                                 const hfta_instance *instance) {
  int64_t copies = self->program->copies;
  for (uint32_t row = 0; row < self->program->scheduled_number_count; ++row)
    for (int64_t copy = 0; copy < copies; ++copy)
      self->scheduled[row * copies + copy] =
          hfta_instance_scheduled_number(instance, row, copy);
}

hfta_status hfta_trainer_take_reports(hfta_trainer *self, int64_t step) {
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    self->reports[copy] = hfta_instance_report(self->instance, copy);
  for (uint32_t term = 0; term < self->program->loss_term_count; ++term)
    for (int64_t copy = 0; copy < self->program->copies; ++copy)
      self->terms[term * self->program->copies + copy] =
          hfta_instance_term_loss(self->instance, copy, term);
  if (!hfta_trainer_preconditions(self))
    return HFTA_OK;
  const bool *live = hfta_instance_live(self->instance);
  hfta_train_result *result = self->result;
  bool is_something = false;
  for (int64_t copy = 0; copy < self->program->copies; ++copy) {
    const hfta_update_report *own = &self->reports[copy];
    if (!live[copy])
      continue;
    result->skipped_statistics[copy] += own->skipped;
    result->retried_inverses[copy] += own->retried;
    result->kept_inverses[copy] += own->kept;
    is_something |= own->skipped > 0 || own->retried > 0 || own->kept > 0;
  }
  return is_something
             ? hfta_log_curvature(self->log, step, self->reports, self->error)
             : HFTA_OK;
}
