//===- study.c - The state of a search ------------------------------------===//

#include "tuning/study.h"

#include "search/population.h"
#include "system/extend.h"
#include "tuning/study_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

static hfta_status no_memory(const hfta_study *self, hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for %lld trials",
                   (long long)self->trial_count);
}

/// Sets the numbers that follow from the program and the run.
static hfta_status set_numbers(hfta_study *self, const hfta_facts_of_run *run,
                               hfta_error *error) {
  const hfta_search *search = self->program->search;
  self->space = (hfta_search_space){search->settings, search->setting_count};
  self->sampler = search->sampler;
  self->rule = search->rule;
  self->rule.units = run->epochs;
  self->validation = self->program->validation;
  self->first_trials = self->sampled_trials = run->trials;
  self->fold_count = self->validation.folds > 0 ? self->validation.folds : 1;
  memcpy(self->steps_per_epoch, run->steps_per_epoch,
         sizeof(self->steps_per_epoch));
  if (run->epochs <= 0)
    return hfta_fail(error, HFTA_USAGE,
                     "the job doesn't say how long a trial is: give --epochs");
  int64_t own = hfta_rule_trials(&self->rule);
  if (own > 0 && run->trials != own)
    return hfta_fail(
        error, HFTA_USAGE, "hyperband of %lld epochs has %lld trials, not %lld",
        (long long)run->epochs, (long long)own, (long long)run->trials);
  return HFTA_OK;
}

static hfta_status check(const hfta_study *self, hfta_error *error) {
  if (self->rule.kind == HFTA_RULE_POPULATION &&
      (self->validation.keeps_best || self->validation.patience > 0))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "pbt goes on with the last weights of its best trials, so "
                     "that it can't be combined with 'keep best' or "
                     "'patience'");
  hfta_status status = hfta_space_check(&self->space, error);
  if (status == HFTA_OK)
    status = hfta_sampler_check(&self->sampler, &self->space,
                                self->first_trials, error);
  return status == HFTA_OK
             ? hfta_rule_check(&self->rule, self->first_trials, error)
             : status;
}

/// Makes room for `trials` trials.
static bool make_room(hfta_study *self, int64_t trials) {
  int64_t old = self->trial_count, folds = self->fold_count;
  void *more = hfta_extend(self->rows, old, trials, sizeof(*self->rows));
  if (!more)
    return false;
  self->rows = more;
  more =
      hfta_extend(self->observations, old, trials, sizeof(*self->observations));
  if (!more)
    return false;
  self->observations = more;
  more =
      hfta_extend(self->runs, old * folds, trials * folds, sizeof(*self->runs));
  if (!more)
    return false;
  self->runs = more;
  for (int64_t i = old * folds; i < trials * folds; ++i) {
    self->runs[i].trial = i / folds;
    self->runs[i].fold = i % folds;
    self->runs[i].origin = -1;
    self->runs[i].best_file = -1;
  }
  self->trial_count = trials;
  return true;
}

hfta_status hfta_study_grow(hfta_study *self, hfta_error *error) {
  return make_room(self, hfta_trials_count(self->trials))
             ? HFTA_OK
             : no_memory(self, error);
}

/// Appends an evaluation to its run. Those of a run come in ascending order.
static hfta_status append(hfta_study *self, const hfta_evaluated *value,
                          hfta_error *error) {
  if (value->trial >= self->trial_count || value->fold >= self->fold_count)
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "the search's journal has trial %lld, fold %lld, but there "
        "are %lld trials of %lld folds",
        (long long)value->trial, (long long)value->fold,
        (long long)self->trial_count, (long long)self->fold_count);
  hfta_run *run = &self->runs[value->trial * self->fold_count + value->fold];
  if (self->rows[value->trial].lineage_count == 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "the search's journal has a score of trial %lld before "
                     "its settings",
                     (long long)value->trial);
  if (value->epoch <= hfta_study_last_epoch(run))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "the search's journal has trial %lld after epoch %lld "
                     "twice, or not in order",
                     (long long)value->trial, (long long)value->epoch);
  hfta_evaluated *more = realloc(
      run->evaluations, sizeof(*more) * (size_t)(run->evaluation_count + 1));
  if (!more)
    return no_memory(self, error);
  run->evaluations = more;
  more[run->evaluation_count++] = *value;
  return HFTA_OK;
}

hfta_status hfta_study_create(const hfta_program *const *arrays,
                              const hfta_facts_of_run *run,
                              hfta_journal *journal, hfta_study **out,
                              hfta_error *error) {
  *out = NULL;
  hfta_study *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a search");
  self->program = arrays[0];
  if (self->program->search->array_count > 1)
    self->arrays = arrays;
  self->journal = journal;
  hfta_status status = set_numbers(self, run, error);
  if (status == HFTA_OK)
    status = check(self, error);
  if (status == HFTA_OK && !make_room(self, self->first_trials))
    status = no_memory(self, error);
  if (status == HFTA_OK)
    status = hfta_trials_create(&self->rule, &self->sampler, self->first_trials,
                                &self->trials, error);
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_study_destroy(self);
  return status;
}

static void free_run(hfta_run *run) {
  free(run->evaluations);
  free(run->files);
  hfta_held_state_drop(&run->held);
  hfta_held_state_drop(&run->best_held);
}

void hfta_study_destroy(hfta_study *self) {
  if (!self)
    return;
  for (int64_t i = 0; self->runs && i < self->trial_count * self->fold_count;
       ++i)
    free_run(&self->runs[i]);
  for (int64_t i = 0; self->rows && i < self->trial_count; ++i) {
    for (int64_t j = 0; j < self->rows[i].lineage_count; ++j)
      free(self->rows[i].lineage[j].values);
    free(self->rows[i].lineage);
  }
  hfta_trials_destroy(self->trials);
  free(self->rows);
  free(self->runs);
  free(self->observations);
  free(self);
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

const double *hfta_study_values(const hfta_study *self, int64_t trial) {
  const hfta_study_trial *row = &self->rows[trial];
  return row->lineage_count > 0 ? row->lineage[row->lineage_count - 1].values
                                : NULL;
}

/// Returns the entry that holds for the epoch that ends after `epoch` epochs.
static const hfta_lineage *find_lineage(const hfta_study *self, int64_t trial,
                                        int64_t epoch) {
  const hfta_study_trial *row = &self->rows[trial];
  const hfta_lineage *found = row->lineage;
  for (int64_t i = 1; i < row->lineage_count; ++i)
    if (row->lineage[i].epoch < epoch)
      found = &row->lineage[i];
  return found;
}

const double *hfta_study_values_at(const hfta_study *self, int64_t trial,
                                   int64_t epoch) {
  return find_lineage(self, trial, epoch)->values;
}

int64_t hfta_study_trace(const hfta_study *self, int64_t trial, int64_t epoch,
                         const hfta_lineage **lineage, int64_t most) {
  int64_t count = 0;
  while (trial != HFTA_NO_TRIAL && self->rows[trial].lineage_count > 0) {
    const hfta_lineage *found = find_lineage(self, trial, epoch);
    if (count == most)
      return most + 1;
    lineage[count++] = found;
    trial = found->donor;
    epoch = found->epoch;
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    const hfta_lineage *other = lineage[i];
    lineage[i] = lineage[count - 1 - i];
    lineage[count - 1 - i] = other;
  }
  return count;
}

hfta_lineage *hfta_study_append_lineage(hfta_study *self, int64_t trial) {
  hfta_study_trial *row = &self->rows[trial];
  hfta_lineage *more =
      realloc(row->lineage, sizeof(*more) * (size_t)(row->lineage_count + 1));
  if (!more)
    return NULL;
  row->lineage = more;
  hfta_lineage *added = &more[row->lineage_count];
  *added = (hfta_lineage){.donor = HFTA_NO_TRIAL};
  added->values = calloc((size_t)self->space.count + 1, sizeof(double));
  if (!added->values)
    return NULL;
  ++row->lineage_count;
  return added;
}

/// Returns whether an array's program has a trial's packed settings.
static bool is_of_array(const hfta_study *self, const double *values,
                        int64_t array) {
  const hfta_search_setting *settings = self->arrays[array]->search->settings;
  for (int64_t i = 0; i < self->space.count; ++i)
    if (settings[i].is_packed && settings[i].own != values[i])
      return false;
  return true;
}

void hfta_study_find_array(hfta_study *self, int64_t trial) {
  const double *values = hfta_study_values(self, trial);
  int64_t count = self->arrays ? self->program->search->array_count : 1;
  self->rows[trial].array = 0;
  for (int64_t array = 1; array < count; ++array)
    if (is_of_array(self, values, array))
      self->rows[trial].array = array;
}

int64_t hfta_study_steps(const hfta_study *self, int64_t trial,
                         int64_t epochs) {
  return epochs * self->steps_per_epoch[self->rows[trial].array];
}

/// Draws the settings of a trial that begins, unless a user has given them, or
/// is to give them.
static hfta_status draw(hfta_study *self, int64_t trial, hfta_error *error) {
  if (self->rows[trial].lineage_count > 0 ||
      self->sampler.kind == HFTA_SAMPLER_EXTERNAL)
    return HFTA_OK;
  hfta_lineage *added = hfta_study_append_lineage(self, trial);
  if (!added)
    return no_memory(self, error);
  hfta_trials_observe(self->trials, trial, self->observations);
  for (int64_t i = 0; i < trial; ++i)
    self->observations[i].values = self->rows[i].lineage_count > 0
                                       ? self->rows[i].lineage[0].values
                                       : NULL;
  hfta_status status =
      hfta_sampler_draw(&self->sampler, &self->space, trial, self->observations,
                        added->values, error);
  if (status != HFTA_OK)
    return status;
  hfta_study_find_array(self, trial);
  return hfta_study_say_trial(self, trial, error);
}

/// Lets a trial take over its donor's state and, changed a little, its
/// settings.
static hfta_status clone(hfta_study *self, const hfta_leg *leg,
                         hfta_error *error) {
  hfta_lineage *added = hfta_study_append_lineage(self, leg->trial);
  if (!added)
    return no_memory(self, error);
  added->epoch = leg->from;
  added->donor = leg->donor;
  memcpy(added->values, hfta_study_values(self, leg->donor),
         sizeof(double) * (size_t)self->space.count);
  hfta_population_perturb(&self->rule, &self->space, leg->round, leg->trial,
                          added->values);
  for (int64_t fold = 0; fold < self->fold_count; ++fold) {
    hfta_run *run = &self->runs[leg->trial * self->fold_count + fold];
    run->has_ended = false;
    // Its own best weights stay: they were trained with settings that it had.
    run->patience = (hfta_patience){.waited = 0};
  }
  return hfta_study_say_clone(self, leg->trial, error);
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

/// Takes the evaluations of a run up to an epoch into account.
static void look_at(hfta_study *self, hfta_run *run, int64_t epoch) {
  const hfta_validation *rules = &self->validation;
  hfta_direction direction = (hfta_direction)rules->direction;
  while (run->seen < run->evaluation_count &&
         run->evaluations[run->seen].epoch <= epoch) {
    const hfta_evaluated *next = &run->evaluations[run->seen];
    // Nobody is asked for scores between levels.
    bool is_untold =
        rules->is_external && !next->is_told && isfinite(next->loss);
    if (is_untold && next->epoch == epoch)
      break;
    ++run->seen;
    if (is_untold)
      continue;
    double value = hfta_study_value(self, next);
    hfta_best_note(&run->best, direction, rules->least, next->epoch, value);
    bool gives_up =
        rules->patience > 0 &&
        hfta_patience_note(&run->patience, direction, rules->patience,
                           rules->least, next->epoch, value);
    run->has_ended = gives_up || !isfinite(value);
  }
}

/// Returns whether a run needn't be trained for its leg: it has an evaluation
/// after the leg's last epoch, or has ended before. Such a run keeps its score,
/// with which its trial takes part in later decisions.
static bool is_done(hfta_study *self, hfta_run *run, int64_t to) {
  look_at(self, run, to);
  return run->has_ended ||
         (run->seen > 0 && run->evaluations[run->seen - 1].epoch == to);
}

hfta_status hfta_study_enter(hfta_study *self, const hfta_evaluated *value,
                             hfta_error *error) {
  hfta_status status = append(self, value, error);
  if (status == HFTA_OK)
    look_at(self, &self->runs[value->trial * self->fold_count + value->fold],
            value->epoch);
  return status;
}

hfta_status hfta_study_add(hfta_study *self, const hfta_evaluated *values,
                           int64_t count, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < count && status == HFTA_OK; ++i)
    status = hfta_study_enter(self, &values[i], error);
  return status == HFTA_OK
             ? hfta_journal_add_evaluated(self->journal, values, count, error)
             : status;
}

int64_t hfta_study_unknown_trials(const hfta_study *self) {
  int64_t count = 0;
  for (int64_t i = 0; i < self->first_trials; ++i)
    count += self->sampler.kind == HFTA_SAMPLER_EXTERNAL &&
             self->rows[i].lineage_count == 0 && !hfta_study_has_ended(self, i);
  return count;
}

//===----------------------------------------------------------------------===//
// Legs and decisions
//===----------------------------------------------------------------------===//

/// Gives the runs of a trial that is replaced the states of its donor's.
static void take_over(hfta_study *self, const hfta_decision *decision) {
  for (int64_t fold = 0; fold < self->fold_count; ++fold) {
    hfta_run *run = &self->runs[decision->trial * self->fold_count + fold];
    int64_t origin = decision->rival * self->fold_count + fold;
    hfta_held_state *state = self->runs[origin].held;
    int64_t steps = hfta_study_steps(self, decision->trial, decision->level);
    hfta_held_state_drop(&run->held);
    if (state && state->steps == steps)
      run->held = hfta_held_state_share(state);
    run->origin = origin;
    run->origin_steps = steps;
    run->begin_epoch = decision->level;
  }
}

bool hfta_study_has_ended(const hfta_study *self, int64_t trial) {
  switch (hfta_trials_state(self->trials, trial)) {
  case HFTA_TRIAL_DROPPED:
  case HFTA_TRIAL_FAILED:
  case HFTA_TRIAL_WITHDRAWN:
  case HFTA_TRIAL_COMPLETE:
    return true;
  default:
    return false;
  }
}

/// Returns the best trial that has a finite score; of those that have ended, if
/// `ended`. HFTA_NO_TRIAL if there is none.
static int64_t find_best(const hfta_study *self, bool ended) {
  int64_t best = HFTA_NO_TRIAL;
  int64_t *order = calloc((size_t)self->trial_count, sizeof(*order));
  if (!order)
    return best;
  hfta_trials_rank(self->trials, order);
  for (int64_t i = 0; i < self->trial_count && best == HFTA_NO_TRIAL; ++i)
    if (isfinite(hfta_study_score(self, order[i])) &&
        (!ended || hfta_study_has_ended(self, order[i])))
      best = order[i];
  free(order);
  return best;
}

uint64_t hfta_study_held_bytes(const hfta_study *self) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < self->trial_count * self->fold_count; ++i) {
    const hfta_run *run = &self->runs[i];
    bytes += run->held ? run->held->bytes : 0;
    bytes += run->best_held ? run->best_held->bytes : 0;
  }
  return bytes;
}

/// Frees states that nobody needs any more: those of trials that have ended,
/// but for the best of these, since all others may fail.
static void drop_states(hfta_study *self) {
  int64_t best = find_best(self, /*ended=*/true);
  for (int64_t i = 0; i < self->trial_count * self->fold_count; ++i) {
    hfta_run *run = &self->runs[i];
    if ((!run->held && !run->best_held) || run->trial == best ||
        !hfta_study_has_ended(self, run->trial))
      continue;
    hfta_held_state_drop(&run->held);
    hfta_held_state_drop(&run->best_held);
  }
}

/// Takes new decisions into account.
static hfta_status follow(hfta_study *self, hfta_error *error) {
  int64_t count;
  const hfta_decision *decisions = hfta_trials_decisions(self->trials, &count);
  hfta_status status = HFTA_OK;
  for (; self->decided < count && status == HFTA_OK; ++self->decided) {
    const hfta_decision *decision = &decisions[self->decided];
    if (decision->verdict == HFTA_VERDICT_REPLACED)
      take_over(self, decision);
    status = hfta_study_say_decision(self, decision, error);
  }
  drop_states(self);
  return status;
}

/// Takes all legs that can be trained. Returns whether there was one.
static hfta_status take_legs(hfta_study *self, bool *any, hfta_error *error) {
  hfta_leg leg;
  hfta_status status = HFTA_OK;
  while (status == HFTA_OK && hfta_trials_take(self->trials, &leg)) {
    self->rows[leg.trial].leg = leg;
    self->rows[leg.trial].has_leg = true;
    *any = true;
    if (leg.from == 0)
      status = draw(self, leg.trial, error);
    else if (leg.donor != HFTA_NO_TRIAL)
      status = clone(self, &leg, error);
  }
  return status;
}

/// Records the scores of trials all of whose runs are done with their legs.
static hfta_status record(hfta_study *self, bool *any, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t trial = 0; trial < self->trial_count && status == HFTA_OK;
       ++trial) {
    hfta_study_trial *row = &self->rows[trial];
    bool all_done = row->has_leg;
    // Each run has to be looked at: one may have ended before others are done.
    for (int64_t fold = 0; row->has_leg && fold < self->fold_count; ++fold)
      all_done &= is_done(self, &self->runs[trial * self->fold_count + fold],
                          row->leg.to);
    if (!all_done)
      continue;
    row->has_leg = false;
    *any = true;
    status = hfta_trials_record(self->trials, trial, row->leg.to,
                                hfta_study_score(self, trial), error);
    if (status == HFTA_OK)
      status = follow(self, error);
  }
  return status;
}

hfta_status hfta_study_advance(hfta_study *self, hfta_error *error) {
  hfta_status status = HFTA_OK;
  bool any = true;
  while (any && status == HFTA_OK) {
    any = false;
    status = take_legs(self, &any, error);
    if (status == HFTA_OK)
      status = record(self, &any, error);
  }
  return status;
}

bool hfta_study_is_over(const hfta_study *self) {
  return hfta_trials_over(self->trials);
}

//===----------------------------------------------------------------------===//
// What to train
//===----------------------------------------------------------------------===//

int64_t hfta_study_next_run(const hfta_study *self, int64_t number) {
  for (; number < self->trial_count * self->fold_count; ++number) {
    const hfta_run *run = &self->runs[number];
    const hfta_study_trial *row = &self->rows[run->trial];
    if (row->has_leg && !row->is_paused && row->lineage_count > 0 &&
        !run->has_ended && hfta_study_last_epoch(run) < row->leg.to)
      return number;
  }
  return -1;
}

int64_t hfta_study_next_epoch(const hfta_study *self, int64_t number,
                              int64_t epoch) {
  int64_t to = self->rows[self->runs[number].trial].leg.to;
  int64_t every = self->validation.every;
  int64_t next = (epoch / every + 1) * every;
  return next < to ? next : to;
}

int64_t hfta_study_best(const hfta_study *self) {
  return find_best(self, /*ended=*/false);
}
