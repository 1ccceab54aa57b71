//===- fleet.c - Several trainings on several seats -----------------------===//

#include "fleet/fleet.h"

#include "device/target.h"
#include "system/clock.h"
#include "workload/defaults.h"
#include "workload/memory_plan.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct hfta_fleet_model {
  hfta_fleet *fleet;
  int64_t number;
  hfta_instance *instance; ///< NULL until the instance is created
  pthread_cond_t sits;     ///< signalled when the model gets a seat
  hfta_seat seat;          ///< the seat and place that the model has
  int64_t steps_done, first_step;
  hfta_unit unit;  ///< the model's current unit
  double computed; ///< the value of hfta_instance_computed at the last call of
                   ///< find_computed, in seconds
};

/// One of a seat's places. Kernels of all places run on the seat's threads.
typedef struct place {
  char *arena;
} place;

typedef struct seat {
  hfta_device *device;
  place places[HFTA_SEAT_PLACES];
} seat;

struct hfta_fleet {
  hfta_fleet_options options;
  uint64_t arena_bytes;
  seat *seats;
  hfta_fleet_model *models;
  pthread_mutex_t mutex; ///< protects the members below, and all models
  hfta_seating seating;
  double begin, end;
  double counted, busy;   ///< seat-seconds in which seats were occupied, up to
                          ///< time `counted`
  double forecast, bound; ///< seconds after `begin`; NaN until the forecast is
                          ///< made
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint64_t larger(uint64_t one, uint64_t other) {
  return one > other ? one : other;
}

static const hfta_program *own_program(const hfta_fleet_options *options,
                                       int64_t model) {
  return options->trainings[model].program;
}

hfta_fleet_memory hfta_fleet_plan_memory(const hfta_fleet_options *options) {
  hfta_fleet_memory plan = {.places = HFTA_SEAT_PLACES};
  uint64_t scratch = 0;
  for (int64_t i = 0; i < options->models; ++i) {
    hfta_workload own = hfta_fleet_workload(&options->trainings[i]);
    hfta_memory_plan one =
        hfta_workload_memory(own_program(options, i), &own, options->threads);
    plan.models += one.peak - one.arena - one.scratch;
    plan.arena = larger(plan.arena, one.arena);
    scratch = larger(scratch, one.scratch);
  }
  uint64_t seats = (uint64_t)options->seats;
  plan.seat = scratch + plan.arena;
  plan.all = plan.models + seats * (plan.seat + plan.arena);
  if (plan.arena > 0 && plan.all <= options->memory)
    return plan;
  plan.places = 1;
  plan.all = plan.models + seats * plan.seat;
  return plan;
}

static hfta_status check_memory(const hfta_fleet_options *options,
                                const hfta_fleet_memory *plan,
                                hfta_error *error) {
  if (plan->all <= options->memory)
    return HFTA_OK;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "%lld jobs at the same time need %llu bytes of memory, and "
                   "%lld seats %llu each: together %llu, and there may be %llu "
                   "here: train with fewer seats, or compile with smaller "
                   "budgets ('memory')",
                   (long long)options->models, (unsigned long long)plan->models,
                   (long long)options->seats, (unsigned long long)plan->seat,
                   (unsigned long long)plan->all,
                   (unsigned long long)options->memory);
}

//===----------------------------------------------------------------------===//
// Callbacks of the seating
//===----------------------------------------------------------------------===//

static void on_seated(void *argument, int64_t number) {
  hfta_fleet *self = argument;
  hfta_fleet_model *model = &self->models[number];
  const hfta_model_seating *row = &self->seating.models[number];
  const hfta_seat_state *state = &self->seating.seats[row->seat];
  const seat *own = &self->seats[row->seat];
  model->seat = (hfta_seat){.device = own->device,
                            .arena = own->places[row->place].arena,
                            .arena_bytes = self->arena_bytes,
                            .is_used = state->last[row->place] != number};
  model->unit = (hfta_unit){.model = number,
                            .seat = row->seat,
                            .place = row->place,
                            .first_step = model->steps_done,
                            .begin = hfta_now()};
  pthread_cond_signal(&model->sits);
}

static void on_promoted(void *argument, int64_t number) {
  const hfta_fleet *self = argument;
  const hfta_fleet_model *model = &self->models[number];
  if (model->instance)
    hfta_instance_go_first(model->instance);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static hfta_status open_seat(hfta_fleet *self, seat *out, int places,
                             hfta_error *error) {
  const hfta_fleet_options *options = &self->options;
  const hfta_program *program = own_program(options, 0);
  const hfta_target *target = hfta_target_of(program);
  if (!target->has_seats)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "seats aren't supported on %s in this version",
                     target->noun);
  hfta_device_options device = {
      .threads = options->threads, .queues = 1, .program = program};
  for (int64_t i = 0; i < options->models; ++i)
    device.scratch_bytes =
        larger(device.scratch_bytes,
               hfta_program_scratch_bytes(own_program(options, i)));
  hfta_status status =
      hfta_device_open(hfta_program_device(program, options->device), &device,
                       &out->device, error);
  for (int i = 0; i < places && status == HFTA_OK; ++i) {
    void *arena = NULL;
    status = out->device->functions->allocate(out->device, self->arena_bytes,
                                              HFTA_PAGE_BYTES, &arena, error);
    out->places[i].arena = arena;
  }
  return status;
}

static hfta_status open_seats(hfta_fleet *self, int places, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < self->options.seats && status == HFTA_OK; ++i)
    status = open_seat(self, &self->seats[i], places, error);
  return status;
}

static hfta_status create(hfta_fleet *self, const hfta_fleet_memory *plan,
                          hfta_error *error) {
  const hfta_fleet_options *options = &self->options;
  self->models = calloc((size_t)options->models, sizeof(*self->models));
  self->seats = calloc((size_t)options->seats, sizeof(*self->seats));
  if (!self->models || !self->seats)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for seats");
  for (int64_t i = 0; i < options->models; ++i) {
    self->models[i].fleet = self;
    self->models[i].number = i;
    pthread_cond_init(&self->models[i].sits, NULL);
  }
  self->arena_bytes = plan->arena;
  hfta_status status =
      hfta_seating_create(options->scheduler, options->models, options->seats,
                          plan->places, &self->seating, error);
  if (status != HFTA_OK)
    return status;
  self->seating.seated = on_seated;
  self->seating.promoted = on_promoted;
  self->seating.argument = self;
  for (int64_t i = 0; i < options->models; ++i) {
    hfta_model_seating *row = &self->seating.models[i];
    const hfta_fleet_training *training = &options->trainings[i];
    const hfta_program *program = training->program;
    row->spills = hfta_program_spills(program);
    row->expected_seconds = program->step_seconds * (double)training->copies /
                            (double)program->copies;
  }
  return open_seats(self, plan->places, error);
}

hfta_status hfta_fleet_open(const hfta_fleet_options *options, hfta_fleet **out,
                            hfta_error *error) {
  *out = NULL;
  hfta_fleet_memory plan = hfta_fleet_plan_memory(options);
  hfta_status status = check_memory(options, &plan, error);
  if (status != HFTA_OK)
    return status;
  hfta_fleet *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for seats");
  self->options = *options;
  self->forecast = self->bound = NAN;
  pthread_mutex_init(&self->mutex, NULL);
  status = create(self, &plan, error);
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_fleet_close(self);
  return status;
}

static void close_seat(const hfta_fleet *self, seat *one) {
  for (int i = 0; i < HFTA_SEAT_PLACES && one->device; ++i)
    if (one->places[i].arena)
      one->device->functions->release(one->device, one->places[i].arena,
                                      self->arena_bytes);
  hfta_device_close(one->device);
}

void hfta_fleet_close(hfta_fleet *fleet) {
  if (!fleet)
    return;
  for (int64_t i = 0; fleet->seats && i < fleet->options.seats; ++i)
    close_seat(fleet, &fleet->seats[i]);
  for (int64_t i = 0; fleet->models && i < fleet->options.models; ++i)
    pthread_cond_destroy(&fleet->models[i].sits);
  hfta_seating_destroy(&fleet->seating);
  pthread_mutex_destroy(&fleet->mutex);
  free(fleet->models);
  free(fleet->seats);
  free(fleet);
}

hfta_fleet_model *hfta_fleet_get(hfta_fleet *fleet, int64_t model) {
  return &fleet->models[model];
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// Returns the model's row in the seating. The caller of this function, and of
/// the private functions below, holds the mutex.
static hfta_model_seating *row_of(hfta_fleet_model *model) {
  return &model->fleet->seating.models[model->number];
}

/// Adds the time of occupied seats since the last call to `busy`. Called before
/// any model gets or leaves a seat. Returns the current time.
static double count_busy(hfta_fleet *self) {
  double now = hfta_now();
  if (self->begin == 0.0)
    self->begin = self->counted = now;
  for (int64_t i = 0; i < self->options.seats; ++i) {
    const hfta_seat_state *seat = &self->seating.seats[i];
    if (seat->models[seat->first] != HFTA_NOBODY)
      self->busy += now - self->counted;
  }
  self->counted = now;
  return now;
}

/// Makes the forecast, once per fleet: as soon as all models with steps left
/// have been timed and a tenth of the work is done. It isn't made earlier
/// because first steps take longer.
static void note_forecast(hfta_fleet *self, double now) {
  if (!isnan(self->forecast))
    return;
  for (int64_t i = 0; i < self->options.models; ++i) {
    const hfta_model_seating *row = &self->seating.models[i];
    if (row->timed_steps < 1 && row->steps_left != 0 &&
        row->state != HFTA_MODEL_GONE)
      return;
  }
  double done = now - self->begin;
  if (done < (done + hfta_seating_bound(&self->seating)) / 10)
    return;
  double left = hfta_seating_forecast(&self->seating);
  self->forecast = now - self->begin + left;
  self->bound = now - self->begin + hfta_seating_bound(&self->seating);
}

/// Ends the model's current unit and reports it, unless it has no steps. Begins
/// another unit.
static void end_unit(hfta_fleet_model *model, double now) {
  hfta_fleet *self = model->fleet;
  hfta_unit *unit = &model->unit;
  unit->end = now;
  unit->steps = model->steps_done - unit->first_step;
  self->end = now > self->end ? now : self->end;
  bool is_empty = unit->kind == HFTA_UNIT_STEPS && unit->steps == 0;
  if (self->options.done && !is_empty)
    self->options.done(self->options.done_argument, unit);
  unit->kind = HFTA_UNIT_STEPS;
  unit->begin = now;
  unit->first_step = model->steps_done;
}

static const hfta_seat *sit_down(hfta_fleet_model *model, hfta_unit_kind kind,
                                 bool may_stop) {
  hfta_fleet *self = model->fleet;
  const hfta_fleet_options *options = &self->options;
  pthread_mutex_lock(&self->mutex);
  hfta_model_seating *row = row_of(model);
  double now = count_busy(self);
  bool sat = row->state == HFTA_MODEL_SITS;
  if (sat && model->unit.kind != kind)
    end_unit(model, now);
  if (!sat)
    hfta_seating_wait(&self->seating, model->number, now);
  while (row->state == HFTA_MODEL_WAITS)
    pthread_cond_wait(&model->sits, &self->mutex);
  bool stops = may_stop && options->should_stop &&
               options->should_stop(options->should_stop_argument);
  if (stops && sat)
    end_unit(model, now);
  if (stops)
    hfta_seating_leave(&self->seating, model->number, false, count_busy(self));
  model->unit.kind = kind;
  if (model->instance && !stops) {
    hfta_instance_sit(model->instance, &model->seat);
    model->seat.is_used = false;
    const hfta_seat_state *seat = &self->seating.seats[row->seat];
    if (seat->first == row->place)
      hfta_instance_go_first(model->instance);
  }
  pthread_mutex_unlock(&self->mutex);
  return stops ? NULL : &model->seat;
}

const hfta_seat *hfta_fleet_sit(hfta_fleet_model *model, hfta_unit_kind kind) {
  return sit_down(model, kind, true);
}

void hfta_fleet_catch_up(hfta_fleet_model *model, hfta_unit_kind kind) {
  if (model)
    sit_down(model, kind, false);
}

bool hfta_fleet_begin(hfta_fleet_model *model, hfta_unit_kind kind) {
  return !model || hfta_fleet_sit(model, kind);
}

void hfta_fleet_set_instance(hfta_fleet_model *model, hfta_instance *instance) {
  if (!model)
    return;
  pthread_mutex_lock(&model->fleet->mutex);
  model->instance = instance;
  pthread_mutex_unlock(&model->fleet->mutex);
}

void hfta_fleet_expect(hfta_fleet_model *model, int64_t done, int64_t left) {
  if (!model)
    return;
  pthread_mutex_lock(&model->fleet->mutex);
  row_of(model)->steps_left = left;
  model->steps_done = model->first_step = done;
  pthread_mutex_unlock(&model->fleet->mutex);
}

/// Returns the seconds for which the model has computed since the last call;
/// NaN if it has no instance.
static double find_computed(hfta_fleet_model *model) {
  double before = model->computed;
  if (!model->instance)
    return NAN;
  model->computed = hfta_instance_computed(model->instance);
  return model->computed - before;
}

void hfta_fleet_pass(hfta_fleet_model *model, int64_t steps) {
  if (!model)
    return;
  hfta_fleet *self = model->fleet;
  pthread_mutex_lock(&self->mutex);
  double now = count_busy(self);
  model->steps_done += steps;
  hfta_unit unit = model->unit;
  double computed = find_computed(model);
  if (row_of(model)->state == HFTA_MODEL_SITS &&
      (!hfta_seating_pass(&self->seating, model->number, steps, computed,
                          now) ||
       unit.kind != HFTA_UNIT_STEPS))
    end_unit(model, now);
  note_forecast(self, now);
  pthread_mutex_unlock(&self->mutex);
}

static void leave(hfta_fleet_model *model, bool is_gone) {
  hfta_fleet *self = model->fleet;
  pthread_mutex_lock(&self->mutex);
  double now = count_busy(self);
  if (row_of(model)->state == HFTA_MODEL_SITS)
    end_unit(model, now);
  hfta_seating_leave(&self->seating, model->number, is_gone, now);
  pthread_mutex_unlock(&self->mutex);
}

void hfta_fleet_stand_up(hfta_fleet_model *model) {
  if (model)
    leave(model, false);
}

void hfta_fleet_quit(hfta_fleet_model *model) {
  if (model)
    leave(model, true);
}

hfta_fleet_measure hfta_fleet_measured(const hfta_fleet *fleet, int64_t model) {
  const hfta_model_seating *row = &fleet->seating.models[model];
  const hfta_fleet_model *own = &fleet->models[model];
  int64_t steps = own->steps_done - own->first_step;
  double mean = row->all_steps > 0 ? row->all_seconds / (double)row->all_steps
                                   : row->step_seconds;
  return (hfta_fleet_measure){
      .steps = steps, .seconds = steps > 0 ? mean * (double)steps : 0.0};
}

const hfta_fleet_options *hfta_fleet_get_options(const hfta_fleet *fleet) {
  return &fleet->options;
}

hfta_fleet_summary hfta_fleet_summarize(hfta_fleet *fleet) {
  // A fleet that was stopped before any model has computed has no `end`.
  double seconds = fleet->end > fleet->begin ? fleet->end - fleet->begin : 0.0;
  double all = seconds * (double)fleet->options.seats;
  return (hfta_fleet_summary){.seconds = seconds,
                              .busy = all > 0 ? fleet->busy / all : 0.0,
                              .forecast = fleet->forecast,
                              .bound = fleet->bound};
}
