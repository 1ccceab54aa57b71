//===- seating.h - Decisions which model computes where -----------*- C -*-===//
//
// The decisions of a fleet: models, each a training, take seats, each with its
// own threads and memory, for a unit of some steps. There are no threads and no
// clock here: the caller reports each event and its time, so that the same
// decisions serve real trainings (fleet.h) and forecasts of them.
//
// A seat has two places. The model in one of them, the first, has priority on
// the seat's threads; the data of the model in the other are fetched meanwhile,
// and it computes whenever the first one waits for its own data. When the first
// one leaves, the other becomes the first.
//
// Sharded-LRTF is from HYDRA (Nagrecha and Kumar, 2021); docs/scheduling.md
// describes how this version differs.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_SEATING_H
#define HFTA_SRC_FLEET_SEATING_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum hfta_scheduler {
  HFTA_SCHEDULER_LRTF, ///< longest remaining time first
  HFTA_SCHEDULER_FIFO, ///< in the order of the list
  HFTA_SCHEDULER_SRTF, ///< shortest remaining time first
  HFTA_SCHEDULER_RANDOM,
  HFTA_SCHEDULER_EXACT,          ///< a model keeps its seat until another one
                                 ///< must have it
  HFTA_SCHEDULER_MODEL_PARALLEL, ///< one seat at a time computes
  HFTA_SCHEDULER_COUNT
} hfta_scheduler;

const char *hfta_scheduler_name(hfta_scheduler scheduler);

enum { HFTA_SEAT_PLACES = 2, HFTA_NOBODY = -1 };

/// The least seconds of a unit, unless the model ends: if models took turns
/// after each short step, they would find the caches full of other models'
/// data.
#define HFTA_UNIT_SECONDS 0.2

typedef enum hfta_model_state {
  HFTA_MODEL_AWAY,  ///< needs no seat now
  HFTA_MODEL_WAITS, ///< waits for a seat
  HFTA_MODEL_SITS,
  HFTA_MODEL_GONE ///< has ended
} hfta_model_state;

typedef struct hfta_model_seating {
  hfta_model_state state;
  bool spills; ///< reads its parameters from a store, so that it can use the
               ///< second place of a seat
  int64_t steps_left;      ///< -1: not known yet
  double expected_seconds; ///< expectation for a step, before any was timed; 0:
                           ///< unknown
  double step_seconds;     ///< time of a step when the model is the first; NaN:
                           ///< unknown
  double timed_seconds;
  double timed_steps; ///< number of steps in `timed_seconds`. The very first
                      ///< step, which touches memory for the first time, only
                      ///< sets `step_seconds`, until others are timed
  double all_seconds; ///< total of all steps that were timed
  int64_t all_steps;
  int64_t seat;    ///< number of its seat
  int place;       ///< its place at the seat
  double since;    ///< the time when it sat down, or became the first
  bool has_shared; ///< whether another model was at the seat since then
  double unit;     ///< the time when its unit began
  double draw;     ///< for a random order
} hfta_model_seating;

typedef struct hfta_seat_state {
  int64_t models[HFTA_SEAT_PLACES]; ///< who sits in each place, or HFTA_NOBODY
  int64_t last[HFTA_SEAT_PLACES];   ///< who sat there last
  int first;                        ///< place of the model with priority
} hfta_seat_state;

typedef struct hfta_seating {
  hfta_scheduler scheduler;
  int64_t model_count, seat_count;
  int places; ///< used places per seat: 1 or 2
  hfta_model_seating *models;
  hfta_seat_state *seats;
  uint64_t random;
  /// Called for each model that has got a seat, and for each that has become
  /// the first at its seat.
  void (*seated)(void *argument, int64_t model);
  void (*promoted)(void *argument, int64_t model);
  void *argument;
} hfta_seating;

/// Makes a seating in which all models are away. Not enough memory is
/// HFTA_UNSUPPORTED. The caller sets `seated` and `promoted`; NULL: no call.
hfta_status hfta_seating_create(hfta_scheduler scheduler, int64_t models,
                                int64_t seats, int places, hfta_seating *out,
                                hfta_error *error);
void hfta_seating_destroy(hfta_seating *self);

/// Reports that the model wants a seat; it may have one when this returns.
void hfta_seating_wait(hfta_seating *self, int64_t model, double now);

/// Reports that the model has done `steps` steps since its last call, and has
/// computed for `computed` seconds; NAN: unknown. Returns whether it keeps its
/// seat; if not it is away. While two models share a seat, a step takes the
/// time that it computed, since the other model had the rest of the time.
bool hfta_seating_pass(hfta_seating *self, int64_t model, int64_t steps,
                       double computed, double now);

/// Reports that the model leaves its seat, if it has one, to do something that
/// needs none, or for good.
void hfta_seating_leave(hfta_seating *self, int64_t model, bool is_gone,
                        double now);

/// Returns the time of the model's remaining steps; 0 if it has none, infinity
/// if that is unknown.
double hfta_model_remaining(const hfta_model_seating *model);

/// Returns the time from now until the last model ends, by the same decisions,
/// if each step takes as long as the model's earlier ones; NaN if that is
/// unknown for some model. Models that neither wait nor sit are assumed to
/// wait.
double hfta_seating_forecast(const hfta_seating *self);

/// Returns a lower bound for any schedule: the time of the longest model, or
/// the sum of all divided by the number of seats.
double hfta_seating_bound(const hfta_seating *self);

#endif // HFTA_SRC_FLEET_SEATING_H
