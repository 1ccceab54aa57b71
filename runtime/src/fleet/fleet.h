//===- fleet.h - Several trainings on several seats -------------*- C -*-===//
//
// A fleet has seats, each with its own threads and arena, and models. Each
// model is a training on its own thread that takes a seat whenever it computes.
// The decisions which model sits where are those of seating.h.
//
// Threads: a model is used by one thread at a time; several models may be used
// at once. Ownership: the fleet owns its models and seats; instances that were
// created at a seat are destroyed before hfta_fleet_close.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_FLEET_H
#define HFTA_SRC_FLEET_FLEET_H

#include "fleet/seating.h"
#include "fleet/training.h"
#include "hfta/instance.h"
#include "schedule/seat.h"

typedef struct hfta_fleet hfta_fleet;

/// A model of a fleet. NULL stands for a training that needs no fleet: it
/// always sits.
typedef struct hfta_fleet_model hfta_fleet_model;

/// The work for which a model takes a seat.
typedef enum hfta_unit_kind {
  HFTA_UNIT_START, ///< computing initial weights
  HFTA_UNIT_STEPS,
  HFTA_UNIT_EVALUATION
} hfta_unit_kind;

/// A part of a model's work at a seat, from `begin` to `end` in seconds of
/// hfta_now.
typedef struct hfta_unit {
  hfta_unit_kind kind;
  int64_t model, seat;
  int place;
  int64_t first_step, steps; ///< STEPS: the first step, and their number
  double begin, end;
} hfta_unit;

typedef struct hfta_fleet_options {
  const hfta_fleet_training *trainings; ///< one per model
  int64_t models;
  int64_t seats;
  int threads; ///< per seat
  hfta_scheduler scheduler;
  const char *device; ///< kind of device; NULL: "cpu"
  uint64_t memory;    ///< limit for the whole fleet, in bytes
  /// Called when a model comes to sit; true: it needs no seat any more.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
  /// Receives each unit that has ended, from one thread at a time; NULL: none.
  void (*done)(void *argument, const hfta_unit *unit);
  void *done_argument;
} hfta_fleet_options;

/// The memory that a fleet needs, in bytes.
typedef struct hfta_fleet_memory {
  uint64_t models; ///< needed by all models at the same time, with or without a
                   ///< seat
  uint64_t seat;   ///< memory of a seat: scratch of its threads, and the arena
                   ///< of one place
  uint64_t arena;  ///< the arena's part of `seat`; 0: no model spills
  int places;      ///< number of places per seat for which there is room
  uint64_t all;
} hfta_fleet_memory;

/// Plans a fleet's memory, with as many places per seat as fit into
/// `options->memory`, at least one.
hfta_fleet_memory hfta_fleet_plan_memory(const hfta_fleet_options *options);

/// Opens seats and their threads. HFTA_UNSUPPORTED if there isn't enough
/// memory, now or for the models later.
hfta_status hfta_fleet_open(const hfta_fleet_options *options, hfta_fleet **out,
                            hfta_error *error);

/// Closes a fleet whose last model has quit. NULL is allowed.
void hfta_fleet_close(hfta_fleet *fleet);

hfta_fleet_model *hfta_fleet_get(hfta_fleet *fleet, int64_t model);

/// Waits until the model sits; it may sit already. Returns NULL if it is to
/// stop: then it has no seat.
const hfta_seat *hfta_fleet_sit(hfta_fleet_model *model, hfta_unit_kind kind);

/// Sets the model's instance after its creation; NULL before it is destroyed.
void hfta_fleet_set_instance(hfta_fleet_model *model, hfta_instance *instance);

/// Sets the number of steps done, and of steps that the training has left.
void hfta_fleet_expect(hfta_fleet_model *model, int64_t done, int64_t left);

/// Waits until the model sits, for work of its instance; false: it is to stop.
bool hfta_fleet_begin(hfta_fleet_model *model, hfta_unit_kind kind);

/// Waits until the model sits, even if it is to stop, to go as far as other
/// parts have.
void hfta_fleet_catch_up(hfta_fleet_model *model, hfta_unit_kind kind);

/// Reports that the model has computed, `steps` steps if its unit consists of
/// steps. It may lose its seat to another model.
void hfta_fleet_pass(hfta_fleet_model *model, int64_t steps);

/// Gives up the seat, if it has one, for something that takes time but needs no
/// seat.
void hfta_fleet_stand_up(hfta_fleet_model *model);

/// Reports that the training has ended.
void hfta_fleet_quit(hfta_fleet_model *model);

/// The time of a model's steps, as measured while the model was the first at
/// its seat.
typedef struct hfta_fleet_measure {
  int64_t steps;  ///< all steps done in this run
  double seconds; ///< their time; steps that weren't timed count like the
                  ///< others
} hfta_fleet_measure;

/// Returns the times of a model, after all models have quit.
hfta_fleet_measure hfta_fleet_measured(const hfta_fleet *fleet, int64_t model);

const hfta_fleet_options *hfta_fleet_get_options(const hfta_fleet *fleet);

/// The results of a fleet, after all models have quit.
typedef struct hfta_fleet_summary {
  double seconds;  ///< from the begin of the first unit to the end of the last
                   ///< one
  double busy;     ///< the part of all seats' time in which models sat
  double forecast; ///< the prediction of `seconds` when a tenth of it was over;
                   ///< NaN: some model's steps were never timed
  double bound;    ///< a lower bound of `seconds`, as predicted then
} hfta_fleet_summary;
hfta_fleet_summary hfta_fleet_summarize(hfta_fleet *fleet);

#endif // HFTA_SRC_FLEET_FLEET_H
