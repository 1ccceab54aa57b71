//===- trainer_parts.c - Instances that train together --------------------===//

#include "training/trainer_parts.h"

#include "fleet/fleet.h"
#include "instance/crew.h"
#include "instance/parts.h"
#include "schedule/window.h"
#include "training/evaluate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
  hfta_trainer *trainer;
  hfta_instance *instance;
  struct hfta_fleet_model *model;
  hfta_feeding feeding;
  double *losses; ///< losses of the window's steps, one per copy for each step
  double *eval_losses, *eval_metrics;
  hfta_window window;
  int64_t done;    ///< number of steps of the window that are done
  int64_t reached; ///< number of steps of the window that were begun
  bool stopped;    ///< whether the evaluation was stopped
  hfta_status status;
} part;

typedef struct hfta_trainer_parts {
  part *list;
  uint32_t count;
  hfta_crew *crew;
  const hfta_dataset *dataset; ///< the data that are evaluated
  pthread_mutex_t mutex;       ///< protects the members below, and the parts'
                               ///< `reached`
  int64_t first;               ///< number of the window's first step
  int64_t limit;               ///< number of the window's steps
  bool has_failed;
} hfta_trainer_parts;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static bool open_part(hfta_trainer *self, const hfta_train_part *from,
                      part *out) {
  size_t copies = (size_t)self->program->copies;
  *out = (part){.trainer = self,
                .instance = from->instance,
                .model = from->model,
                .feeding = {.instance = from->instance}};
  out->losses = calloc(HFTA_MOST_WINDOW_STEPS * copies, sizeof(double));
  out->eval_losses = calloc(copies, sizeof(double));
  out->eval_metrics =
      calloc(copies * self->program->metric_count + 1, sizeof(double));
  return out->losses && out->eval_losses && out->eval_metrics;
}

hfta_status hfta_trainer_open_parts(hfta_trainer *self) {
  const hfta_train_options *options = self->options;
  if (!options->parts)
    return HFTA_OK;
  hfta_trainer_parts *parts = calloc(1, sizeof(*parts));
  if (!parts)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for parts of a training");
  self->parts = parts;
  pthread_mutex_init(&parts->mutex, NULL);
  parts->count = (uint32_t)options->part_count;
  parts->list = calloc(parts->count, sizeof(*parts->list));
  bool complete = parts->list != NULL;
  for (uint32_t i = 0; i < parts->count && complete; ++i)
    complete = open_part(self, &options->parts[i], &parts->list[i]);
  if (!complete)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for parts of a training");
  return hfta_crew_create(parts->count, &parts->crew, self->error);
}

void hfta_trainer_close_parts(hfta_trainer *self) {
  hfta_trainer_parts *parts = self->parts;
  if (!parts)
    return;
  hfta_crew_destroy(parts->crew);
  for (uint32_t i = 0; parts->list && i < parts->count; ++i) {
    part *own = &parts->list[i];
    if (own->feeding.instance)
      hfta_trainer_stop_feed(&own->feeding);
    free(own->losses);
    free(own->eval_losses);
    free(own->eval_metrics);
  }
  pthread_mutex_destroy(&parts->mutex);
  free(parts->list);
  free(parts);
}

void hfta_trainer_expect_parts(hfta_trainer *self) {
  for (uint32_t i = 0; self->parts && i < self->parts->count; ++i)
    hfta_fleet_expect(self->parts->list[i].model, self->first_step,
                      self->total_steps - self->first_step);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// If the training is to stop, shortens the window so that it ends after the
/// last step that any part has begun. The caller holds the mutex.
static void look_for_end(hfta_trainer_parts *self,
                         const hfta_trainer *trainer) {
  int64_t furthest = 0;
  if (!hfta_trainer_should_stop(trainer))
    return;
  for (uint32_t i = 0; i < self->count; ++i)
    if (self->list[i].reached > furthest)
      furthest = self->list[i].reached;
  if (furthest < self->limit)
    self->limit = furthest;
}

/// Returns the number of steps of the window if the part has steps left to do,
/// else 0. `takes_step` says that the part begins its next step now.
static int64_t find_limit(part *self, bool takes_step) {
  hfta_trainer_parts *parts = self->trainer->parts;
  pthread_mutex_lock(&parts->mutex);
  look_for_end(parts, self->trainer);
  int64_t limit = parts->has_failed ? 0 : parts->limit;
  if (takes_step && self->done < limit)
    self->reached = self->done + 1;
  pthread_mutex_unlock(&parts->mutex);
  return self->done < limit ? limit : 0;
}

static hfta_status take(part *self, int64_t step, const void *const **inputs) {
  hfta_trainer *trainer = self->trainer;
  hfta_status status = hfta_trainer_take_batch(
      trainer, &self->feeding, trainer->parts->first + step, inputs);
  // All parts have the same rates, so only the first one takes them. Those of
  // the window's last step remain and are logged, as all parts meet after it.
  return status == HFTA_OK && self == trainer->parts->list
             ? hfta_trainer_take_rates(trainer, self->instance)
             : status;
}

static hfta_status take_in_turn(void *argument, int64_t step,
                                const void *const **inputs) {
  part *self = argument;
  hfta_status status = take(self, step, inputs);
  // After the window's last step, the next turn begins with the batch of the
  // first step, so there is nothing to offer.
  if (status == HFTA_OK && step + 1 < self->window.steps)
    hfta_feed_offer(self->feeding.feed, self->instance);
  return status;
}

/// Counts a step of the window's first turn. Returns whether the window ends
/// early. Called after each step of this turn except the last one.
static bool ends(void *argument) {
  part *self = argument;
  ++self->done;
  return find_limit(self, true) == 0;
}

static hfta_status run_window(part *self, int64_t steps) {
  self->window = (hfta_window){.steps = steps,
                               .take = take_in_turn,
                               .ends = ends,
                               .argument = self,
                               .losses = self->losses};
  hfta_status status = hfta_instance_run_window(self->instance, &self->window);
  self->done = self->window.steps;
  return status;
}

static hfta_status run_step(part *self) {
  const void *const *inputs;
  int64_t step = self->done;
  hfta_status status = take(self, step, &inputs);
  if (status != HFTA_OK)
    return status;
  hfta_feed_offer(self->feeding.feed, self->instance);
  status =
      hfta_instance_step(self->instance, inputs,
                         self->losses + step * self->trainer->program->copies);
  self->done = step + 1;
  return status;
}

/// Runs all steps of the window together, if the program takes windows and the
/// part has several steps to do; else runs one step.
static hfta_status go_on(part *self, int64_t limit) {
  bool is_window = limit > 1 && self->done == 0 &&
                   hfta_instance_takes_windows(self->instance);
  return is_window ? run_window(self, limit) : run_step(self);
}

static void run_part(void *argument, uint32_t index) {
  const hfta_trainer *trainer = argument;
  hfta_trainer_parts *parts = trainer->parts;
  part *self = &parts->list[index];
  while (self->status == HFTA_OK && find_limit(self, false) > 0) {
    int64_t before = self->done;
    hfta_fleet_catch_up(self->model, HFTA_UNIT_STEPS);
    // Other parts may have ended the window while this part waited for a seat.
    int64_t limit = find_limit(self, true);
    if (limit == 0)
      break;
    self->status = go_on(self, limit);
    hfta_fleet_pass(self->model, self->done - before);
  }
  hfta_fleet_stand_up(self->model);
  if (self->status == HFTA_OK)
    return;
  pthread_mutex_lock(&parts->mutex);
  parts->has_failed = true;
  pthread_mutex_unlock(&parts->mutex);
}

/// Returns the failure of the first part that has failed, and copies its
/// message.
static hfta_status find_status(hfta_trainer *self) {
  const hfta_trainer_parts *parts = self->parts;
  for (uint32_t i = 0; i < parts->count; ++i)
    if (parts->list[i].status != HFTA_OK)
      return hfta_instance_note_part(self->instance, parts->list[i].instance,
                                     parts->list[i].status);
  return HFTA_OK;
}

/// Collects an array of all parts: `out` gets, for each copy, the numbers of
/// the part that has the copy. `member` is the offset of the array's pointer in
/// struct part. Arrays have `rows` rows with one number per copy.
static void gather(const hfta_trainer *self, size_t member, int64_t rows,
                   double *out) {
  const int64_t copies = self->program->copies;
  for (uint32_t i = 0; i < self->parts->count; ++i) {
    const part *own = &self->parts->list[i];
    double *const *numbers = (double *const *)((const char *)own + member);
    for (int64_t copy = 0; copy < copies; ++copy)
      if (hfta_instance_part_of(self->instance, copy) == own->instance)
        for (int64_t row = 0; row < rows; ++row)
          out[row * copies + copy] = (*numbers)[row * copies + copy];
  }
}

hfta_status hfta_trainer_run_parts(hfta_trainer *self, int64_t *steps) {
  hfta_trainer_parts *parts = self->parts;
  parts->first = hfta_instance_steps(self->instance) + 1;
  parts->limit = *steps;
  parts->has_failed = false;
  for (uint32_t i = 0; i < parts->count; ++i) {
    parts->list[i].done = parts->list[i].reached = 0;
    parts->list[i].status = HFTA_OK;
  }
  hfta_crew_do(parts->crew, run_part, self);
  *steps = parts->limit;
  gather(self, offsetof(part, losses), *steps, self->losses);
  return find_status(self);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static void evaluate_part(void *argument, uint32_t index) {
  hfta_trainer *trainer = argument;
  const hfta_train_options *options = trainer->options;
  part *self = &trainer->parts->list[index];
  self->status = HFTA_OK;
  hfta_trainer_stop_feed(&self->feeding);
  self->stopped = !hfta_fleet_begin(self->model, HFTA_UNIT_EVALUATION);
  if (self->stopped)
    return;
  self->status = hfta_evaluate_dataset(
      self->instance, trainer->parts->dataset, self->eval_losses,
      self->eval_metrics, options->should_stop, options->should_stop_argument,
      &self->stopped);
  hfta_fleet_pass(self->model, 0);
  hfta_fleet_stand_up(self->model);
}

hfta_status hfta_trainer_evaluate_parts(hfta_trainer *self,
                                        const hfta_dataset *dataset,
                                        double *losses, double *metrics,
                                        bool *stopped) {
  hfta_trainer_parts *parts = self->parts;
  parts->dataset = dataset;
  hfta_crew_do(parts->crew, evaluate_part, self);
  *stopped = false;
  for (uint32_t i = 0; i < parts->count; ++i)
    *stopped |= parts->list[i].stopped;
  gather(self, offsetof(part, eval_losses), 1, losses);
  if (metrics)
    gather(self, offsetof(part, eval_metrics), self->program->metric_count,
           metrics);
  return find_status(self);
}
