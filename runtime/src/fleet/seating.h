//===- seating.h - Which model computes next, and where ---------*- C -*-===//
//
// The decisions of a fleet: models, each a training, take seats, each with
// threads and memory of its own, for a unit, which is some steps. Here is no
// thread and no clock: who drives it says what happens and when, so that the
// same decisions carry real trainings (fleet.h) and forecasts of them.
//
// A seat has two places. Who sits in one of them has the seat's threads first;
// who sits in the other has its bytes fetched meanwhile, and computes whenever
// the first one waits for its own. Then that one becomes the first.
//
// Sharded-LRTF is HYDRA's (Nagrecha and Kumar, 2021); how ours differs stands
// in docs/scheduling.md.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_SEATING_H
#define HFTA_SRC_FLEET_SEATING_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum hfta_scheduler {
  HFTA_SCHEDULER_LRTF, ///< longest remaining time first
  HFTA_SCHEDULER_FIFO, ///< the first of the list
  HFTA_SCHEDULER_SRTF, ///< shortest remaining time first
  HFTA_SCHEDULER_RANDOM,
  HFTA_SCHEDULER_EXACT,          ///< nobody loses a seat before it must
  HFTA_SCHEDULER_MODEL_PARALLEL, ///< one seat at a time computes
  HFTA_SCHEDULER_COUNT
} hfta_scheduler;

const char *hfta_scheduler_name(hfta_scheduler scheduler);

enum { HFTA_SEAT_PLACES = 2, HFTA_NOBODY = -1 };

/// A unit lasts for so many seconds at least, unless the model ends: models
/// that took turns at each short step would find the caches full of others'.
#define HFTA_UNIT_SECONDS 0.2

typedef enum hfta_model_state {
  HFTA_MODEL_AWAY,  ///< needs no seat at the moment
  HFTA_MODEL_WAITS, ///< for a seat
  HFTA_MODEL_SITS,
  HFTA_MODEL_GONE ///< has ended
} hfta_model_state;

typedef struct hfta_model_seating {
  hfta_model_state state;
  bool spills; ///< reads its parameters from a store: has use for a place in
               ///< which it isn't the first
  int64_t steps_left;      ///< -1: nobody has said yet
  double expected_seconds; ///< a step, before any was timed; 0: unknown
  double step_seconds; ///< that it takes where it is the first; NaN: unknown
  double timed_seconds;
  double timed_steps; ///< that took these seconds; the first one of all, which
                      ///< touches memory for the first time, counts for
                      ///< `step_seconds` until there are others
  double all_seconds; ///< of all steps that were timed so
  int64_t all_steps;
  int64_t seat;    ///< where it sits
  int place;       ///< there
  double since;    ///< when it sat down, or became the first
  bool has_shared; ///< the seat, since then
  double unit;     ///< when its unit began
  double draw;     ///< of a random order
} hfta_model_seating;

typedef struct hfta_seat_state {
  int64_t models[HFTA_SEAT_PLACES]; ///< who sits there, or HFTA_NOBODY
  int64_t last[HFTA_SEAT_PLACES];   ///< who sat there last
  int first;                        ///< the place of the first one
} hfta_seat_state;

typedef struct hfta_seating {
  hfta_scheduler scheduler;
  int64_t model_count, seat_count;
  int places; ///< of a seat that are used: 1 or 2
  hfta_model_seating *models;
  hfta_seat_state *seats;
  uint64_t random;
  /// Told of each model that has come to sit, and of each that has become the
  /// first at its seat.
  void (*seated)(void *argument, int64_t model);
  void (*promoted)(void *argument, int64_t model);
  void *argument;
} hfta_seating;

/// All models are away. Not enough memory is HFTA_UNSUPPORTED. `seated` and
/// `promoted` are the caller's to set; NULL: nobody is told.
hfta_status hfta_seating_create(hfta_scheduler scheduler, int64_t models,
                                int64_t seats, int places, hfta_seating *out,
                                hfta_error *error);
void hfta_seating_destroy(hfta_seating *self);

/// The model wants a seat; it may have got one when this returns.
void hfta_seating_wait(hfta_seating *self, int64_t model, double now);

/// The model has done so many steps since it was asked last, in which it has
/// computed for so long; NAN: nobody knows. Whether it keeps its seat; else it
/// is away. While two shared the seat, a step took what it computed, as the
/// other one had the rest of the time.
bool hfta_seating_pass(hfta_seating *self, int64_t model, int64_t steps,
                       double computed, double now);

/// The model leaves its seat, if it has one, to do something that needs none,
/// or for good.
void hfta_seating_leave(hfta_seating *self, int64_t model, bool is_gone,
                        double now);

/// What the model's steps will take; 0 if it has none left, infinity if nobody
/// knows.
double hfta_model_remaining(const hfta_model_seating *model);

/// From now until the last model ends, by the schedulers' own decisions, where
/// each step takes what its model's have taken; NaN if some model's is unknown.
/// Models that don't wait and don't sit are taken to wait.
double hfta_seating_forecast(const hfta_seating *self);

/// The least that any schedule takes: that of the longest model, or of all
/// divided by the seats.
double hfta_seating_bound(const hfta_seating *self);

#endif // HFTA_SRC_FLEET_SEATING_H
