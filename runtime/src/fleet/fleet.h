//===- fleet.h - Several trainings on several seats -------------*- C -*-===//
//
// A fleet has seats, each with threads and an arena of its own, and models,
// each a training in a thread of its own that takes a seat whenever it
// computes. Who sits where is seating.h's to decide.
//
// Threads: a model is used by one thread at a time; any number of them at once.
// Ownership: the fleet has its models and seats; instances that were created at
// a seat are destroyed before hfta_fleet_close.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_FLEET_H
#define HFTA_SRC_FLEET_FLEET_H

#include "fleet/seating.h"
#include "fleet/training.h"
#include "hfta/instance.h"
#include "schedule/seat.h"

typedef struct hfta_fleet hfta_fleet;

/// One of a fleet's. NULL stands for a training that has all to itself: it
/// always sits.
typedef struct hfta_fleet_model hfta_fleet_model;

/// What a model takes a seat for.
typedef enum hfta_unit_kind {
  HFTA_UNIT_START, ///< initial weights
  HFTA_UNIT_STEPS,
  HFTA_UNIT_EVALUATION
} hfta_unit_kind;

/// Some of a model's work at a seat, from `begin` to `end`, seconds of
/// hfta_now.
typedef struct hfta_unit {
  hfta_unit_kind kind;
  int64_t model, seat;
  int place;
  int64_t first_step, steps; ///< STEPS: from which one on, and how many
  double begin, end;
} hfta_unit;

typedef struct hfta_fleet_options {
  const hfta_fleet_training *trainings; ///< one a model
  int64_t models;
  int64_t seats;
  int threads; ///< of each seat
  hfta_scheduler scheduler;
  const char *device; ///< kind of device; NULL: "cpu"
  uint64_t memory;    ///< bytes that all of it may have
  /// Asked when a model comes to sit; true: it needs no seat any more.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
  /// Told of each unit that has ended, by one thread at a time; NULL: nobody.
  void (*done)(void *argument, const hfta_unit *unit);
  void *done_argument;
} hfta_fleet_options;

/// How much memory a fleet needs.
typedef struct hfta_fleet_memory {
  uint64_t models; ///< what all have at the same time, seats or not
  uint64_t seat;   ///< scratch of its threads, and the arena of one place
  uint64_t arena;  ///< of these, the arena; 0: no model spills
  int places;      ///< of each seat, as many as there is room for
  uint64_t all;
} hfta_fleet_memory;

/// With as many places a seat as `options->memory` has room for, but one.
hfta_fleet_memory hfta_fleet_plan_memory(const hfta_fleet_options *options);

/// Seats and their threads. HFTA_UNSUPPORTED if there isn't enough memory, now
/// or for what the models are going to need.
hfta_status hfta_fleet_open(const hfta_fleet_options *options, hfta_fleet **out,
                            hfta_error *error);

/// After the last model has gone. NULL is allowed.
void hfta_fleet_close(hfta_fleet *fleet);

hfta_fleet_model *hfta_fleet_get(hfta_fleet *fleet, int64_t model);

/// Returns when the model sits; it may have done so before. NULL: it is to
/// stop, and has no seat.
const hfta_seat *hfta_fleet_sit(hfta_fleet_model *model, hfta_unit_kind kind);

/// The model's instance, once it is there; NULL before it goes away.
void hfta_fleet_set_instance(hfta_fleet_model *model, hfta_instance *instance);

/// Steps done, and those that the training has left.
void hfta_fleet_expect(hfta_fleet_model *model, int64_t done, int64_t left);

/// Whether the model sits, for work of its instance; false: it is to stop.
bool hfta_fleet_begin(hfta_fleet_model *model, hfta_unit_kind kind);

/// The same, but it sits even if it is to stop, to go as far as others have.
void hfta_fleet_catch_up(hfta_fleet_model *model, hfta_unit_kind kind);

/// The model has computed, so many steps if its unit is of steps, and may lose
/// its seat to another one.
void hfta_fleet_pass(hfta_fleet_model *model, int64_t steps);

/// Gives up the seat, if it has one, for something that takes time and needs
/// none.
void hfta_fleet_stand_up(hfta_fleet_model *model);

/// The training has ended.
void hfta_fleet_quit(hfta_fleet_model *model);

/// What a model's steps took where it was the first at its seat.
typedef struct hfta_fleet_measure {
  int64_t steps;  ///< done in this run, all of them
  double seconds; ///< that these took: those that weren't timed as the others
} hfta_fleet_measure;

/// After the last model has gone.
hfta_fleet_measure hfta_fleet_measured(const hfta_fleet *fleet, int64_t model);

const hfta_fleet_options *hfta_fleet_get_options(const hfta_fleet *fleet);

/// What came of it all, after the last model has gone.
typedef struct hfta_fleet_summary {
  double seconds;  ///< from the first unit's begin to the last one's end
  double busy;     ///< the part of all seats' time in which models sat
  double forecast; ///< what `seconds` was expected to be when a tenth of it
                   ///< was over; NaN: some model's steps were never timed
  double bound;    ///< the least possible, as expected then
} hfta_fleet_summary;
hfta_fleet_summary hfta_fleet_summarize(hfta_fleet *fleet);

#endif // HFTA_SRC_FLEET_FLEET_H
