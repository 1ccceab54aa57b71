//===- study_scores.c - What trials of a search are judged by -------------===//

#include "tuning/study.h"

#include <math.h>

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

int64_t hfta_study_done_epoch(const hfta_run *run) {
  int64_t last = hfta_study_last_epoch(run);
  return last > run->begin_epoch ? last : run->begin_epoch;
}

int64_t hfta_study_last_epoch(const hfta_run *run) {
  return run->evaluation_count > 0
             ? run->evaluations[run->evaluation_count - 1].epoch
             : 0;
}

double hfta_study_value(const hfta_study *self, const hfta_evaluated *value) {
  // A network whose loss isn't finite still has an accuracy, but can't be
  // trained any more.
  if (!isfinite(value->loss))
    return value->loss;
  if (self->validation.is_external)
    return value->is_told ? value->told : NAN;
  return self->validation.by_metric ? value->metric : value->loss;
}

hfta_evaluated *hfta_study_find_evaluation(const hfta_study *self,
                                           int64_t trial, int64_t epoch) {
  hfta_run *run = &self->runs[trial * self->fold_count];
  for (int64_t i = 0; i < run->evaluation_count; ++i)
    if (run->evaluations[i].epoch == epoch)
      return &run->evaluations[i];
  return NULL;
}

bool hfta_study_awaits_score(const hfta_study *self, int64_t trial) {
  const hfta_study_trial *row = &self->rows[trial];
  const hfta_run *run = &self->runs[trial * self->fold_count];
  return self->validation.is_external && row->has_leg && !run->has_ended &&
         hfta_study_last_epoch(run) >= row->leg.to;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

const hfta_evaluated *hfta_study_scored(const hfta_study *self,
                                        int64_t number) {
  const hfta_run *run = &self->runs[number];
  // Whoever is to tell a score needs the last weights, which have none yet.
  if (self->validation.is_external && run->evaluation_count > 0)
    return &run->evaluations[run->evaluation_count - 1];
  if (run->seen == 0)
    return NULL;
  const hfta_evaluated *last = &run->evaluations[run->seen - 1];
  if (!self->validation.keeps_best || run->best.level == 0 ||
      !isfinite(hfta_study_value(self, last)))
    return last;
  for (int64_t i = 0; i < run->seen; ++i)
    if (run->evaluations[i].epoch == run->best.level)
      return &run->evaluations[i];
  return last;
}

/// Returns a trial's last evaluation that has a score from outside, or a loss
/// that isn't finite; NULL: none has.
static const hfta_evaluated *find_told(const hfta_study *self, int64_t trial) {
  const hfta_run *run = &self->runs[trial * self->fold_count];
  for (int64_t i = run->evaluation_count; i > 0; --i) {
    const hfta_evaluated *one = &run->evaluations[i - 1];
    if (one->is_told || !isfinite(one->loss))
      return one;
  }
  return NULL;
}

bool hfta_study_has_score(const hfta_study *self, int64_t trial) {
  bool has = !self->validation.is_external || find_told(self, trial) != NULL;
  for (int64_t fold = 0; fold < self->fold_count; ++fold)
    has &= self->runs[trial * self->fold_count + fold].evaluation_count > 0;
  return has;
}

const char *hfta_study_score_name(const hfta_study *self) {
  if (self->validation.is_external)
    return "score";
  return hfta_program_score_name(self->program);
}

double hfta_study_score(const hfta_study *self, int64_t trial) {
  if (self->validation.is_external) {
    const hfta_evaluated *told = find_told(self, trial);
    return told ? hfta_study_value(self, told) : NAN;
  }
  double sum = 0;
  for (int64_t fold = 0; fold < self->fold_count; ++fold) {
    const hfta_evaluated *scored =
        hfta_study_scored(self, trial * self->fold_count + fold);
    sum += scored ? hfta_study_value(self, scored) : NAN;
  }
  return sum / (double)self->fold_count;
}
