//===- seating.h - Decides which model sits at which seat ---------*- C -*-===//
//
// Decides which of a fleet's models sit at which seats. A model is a training;
// it takes a seat, with the seat's threads and memory, for a unit of some
// steps. There are no threads and no clock in this file: the caller reports
// each event with its time, so that the same code makes decisions for real
// trainings (fleet.h) and for forecasts.
//
// A seat has two places. The model in one of them has priority on the seat's
// threads; it is called the first. Meanwhile the data of the model in the other
// place are fetched, and that model computes whenever the first one waits for
// its own data. When the first model leaves, the other one gets priority.
//
// The scheduler LRTF is Sharded-LRTF from HYDRA (Nagrecha and Kumar, 2021);
// docs/scheduling.md describes how this version differs.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_SEATING_H
#define HFTA_SRC_FLEET_SEATING_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum hfta_scheduler {
  HFTA_SCHEDULER_LRTF, ///< longest remaining time first
  HFTA_SCHEDULER_FIFO, ///< in the order of the models' numbers
  HFTA_SCHEDULER_SRTF, ///< shortest remaining time first
  HFTA_SCHEDULER_RANDOM,
  HFTA_SCHEDULER_EXACT, ///< as LRTF, but a model keeps its seat until all
                        ///< models would end later because of that
  HFTA_SCHEDULER_MODEL_PARALLEL, ///< only one model computes at a time
  HFTA_SCHEDULER_COUNT
} hfta_scheduler;

const char *hfta_scheduler_name(hfta_scheduler scheduler);

enum { HFTA_SEAT_PLACES = 2, HFTA_NOBODY = -1 };

/// The shortest unit in seconds, except for a model's last one. If models took
/// turns after each short step, each would find the caches full of other
/// models' data.
#define HFTA_UNIT_SECONDS 0.2

typedef enum hfta_model_state {
  HFTA_MODEL_AWAY,  ///< the model needs no seat now
  HFTA_MODEL_WAITS, ///< the model waits for a seat
  HFTA_MODEL_SITS,
  HFTA_MODEL_GONE ///< the training has ended
} hfta_model_state;

typedef struct hfta_model_seating {
  hfta_model_state state;
  bool spills; ///< whether the model reads its parameters from a store, so that
               ///< it can use the second place of a seat
  int64_t steps_left;      ///< number of steps; -1: not known yet
  double expected_seconds; ///< expected time of a step, used until a step is
                           ///< timed; 0: unknown
  double step_seconds;     ///< measured time of a step while the model has
                           ///< priority; NaN: unknown
  double timed_seconds;    ///< time of the steps counted in `timed_steps`
  double timed_steps; ///< number of steps that `step_seconds` is the mean of.
                      ///< The very first step isn't counted, since it touches
                      ///< memory for the first time; it only sets
                      ///< `step_seconds` until others are timed
  double all_seconds; ///< total time of all timed steps
  int64_t all_steps;  ///< number of all timed steps
  int64_t seat;    ///< number of the model's seat; HFTA_NOBODY if it has none
  int place;       ///< the model's place at the seat
  double since;    ///< time of the model's last report of steps, or when it sat
                   ///< down or got priority after that
  bool has_shared; ///< whether another model was at the seat since `since`
  double unit;     ///< the time when the model's unit began
  double draw;     ///< random number, for the scheduler RANDOM
} hfta_model_seating;

typedef struct hfta_seat_state {
  int64_t models[HFTA_SEAT_PLACES]; ///< the model in each place, or HFTA_NOBODY
  int64_t last[HFTA_SEAT_PLACES];   ///< the previous model in each place, whose
                                    ///< data its arena may still hold
  int first;                        ///< the place of the model with priority
} hfta_seat_state;

typedef struct hfta_seating {
  hfta_scheduler scheduler;
  int64_t model_count, seat_count;
  int places; ///< number of places per seat that are used: 1 or 2
  hfta_model_seating *models;
  hfta_seat_state *seats;
  uint64_t random; ///< state of the random number generator
  /// Called when a model has got a seat, and when a model has got priority at
  /// its seat. NULL: no call.
  void (*seated)(void *argument, int64_t model);
  void (*promoted)(void *argument, int64_t model);
  void *argument;
} hfta_seating;

/// Creates a seating in which all models are away. Fails with HFTA_UNSUPPORTED
/// if there isn't enough memory. The caller may then set `seated` and
/// `promoted`.
hfta_status hfta_seating_create(hfta_scheduler scheduler, int64_t models,
                                int64_t seats, int places, hfta_seating *out,
                                hfta_error *error);
void hfta_seating_destroy(hfta_seating *self);

/// Reports that a model wants a seat. The model may have got one when this
/// returns.
void hfta_seating_wait(hfta_seating *self, int64_t model, double now);

/// Reports that a model has done `steps` steps since its last report, and
/// computed for `computed` seconds (NaN: unknown). Returns whether the model
/// keeps its seat; if not, it is away. If another model was at the seat, steps
/// are timed by `computed` instead of the elapsed time, since the other model
/// has used the rest of that time.
bool hfta_seating_pass(hfta_seating *self, int64_t model, int64_t steps,
                       double computed, double now);

/// Reports that a model leaves its seat, if it has one: for good if `is_gone`,
/// else for work that needs no seat.
void hfta_seating_leave(hfta_seating *self, int64_t model, bool is_gone,
                        double now);

/// Returns the seconds of the model's remaining steps; 0 if it has none,
/// infinity if their number or time is unknown.
double hfta_model_remaining(const hfta_model_seating *model);

/// Returns the seconds from now until the last model ends, by simulating these
/// decisions with each step taking as long as the model's earlier ones. Models
/// that are away are assumed to wait for a seat. Returns NaN if some model's
/// remaining time is unknown or there isn't enough memory.
double hfta_seating_forecast(const hfta_seating *self);

/// Returns a lower bound of the time until the last model ends, whatever the
/// schedule: the remaining time of the longest model, or the sum of all divided
/// by the number of seats.
double hfta_seating_bound(const hfta_seating *self);

#endif // HFTA_SRC_FLEET_SEATING_H
