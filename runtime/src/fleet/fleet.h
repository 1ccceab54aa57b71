//===- fleet.h - Several trainings on several seats -------------*- C -*-===//
//
// A fleet has seats, each with its own threads and arena, and models. A model
// is a training on a thread of its own that takes a seat whenever it computes.
// Which model gets which seat is decided by seating.h.
//
// Threads: a model is used by one thread at a time; several models may be used
// at once. Ownership: the fleet owns its models and seats. Instances that were
// created at a seat must be destroyed before hfta_fleet_close.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_FLEET_H
#define HFTA_SRC_FLEET_FLEET_H

#include "fleet/seating.h"
#include "fleet/training.h"
#include "hfta/instance.h"
#include "instance/seat.h"

typedef struct hfta_fleet hfta_fleet;

/// A model of a fleet. In functions that allow it, NULL stands for a training
/// without a fleet, which behaves as if it always had a seat.
typedef struct hfta_fleet_model hfta_fleet_model;

/// The kinds of work for which a model takes a seat.
typedef enum hfta_unit_kind {
  HFTA_UNIT_START, ///< computing initial weights
  HFTA_UNIT_STEPS,
  HFTA_UNIT_EVALUATION
} hfta_unit_kind;

/// A piece of a model's work at a seat, from `begin` to `end` in seconds of
/// hfta_now.
typedef struct hfta_unit {
  hfta_unit_kind kind;
  int64_t model, seat;
  int place;
  int64_t first_step, steps; ///< STEPS: the first step, and the number of steps
  double begin, end;
} hfta_unit;

typedef struct hfta_fleet_options {
  const hfta_fleet_training *trainings; ///< one for each model
  int64_t models;
  int64_t seats;
  int threads; ///< number of threads per seat
  hfta_scheduler scheduler;
  const char *device; ///< name of the kind of device; NULL: "cpu"
  uint64_t memory;    ///< the most bytes that the whole fleet may use
  /// Called when a model has got a seat. If it returns true, the model gives up
  /// the seat and stops training.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
  /// Receives each unit that has ended, from one thread at a time; NULL:
  /// nobody.
  void (*done)(void *argument, const hfta_unit *unit);
  void *done_argument;
} hfta_fleet_options;

/// The memory of a fleet, in bytes.
typedef struct hfta_fleet_memory {
  uint64_t models; ///< memory of all models that they need whether or not they
                   ///< have a seat
  uint64_t seat; ///< memory of one seat with one place: scratch of its threads,
                 ///< and an arena
  uint64_t arena; ///< size of an arena; 0: no model spills
  int places;     ///< number of places per seat: 2 if models spill and there is
                  ///< room; else 1
  uint64_t all;   ///< memory of the whole fleet
} hfta_fleet_memory;

/// Plans a fleet's memory. Each seat gets a second place if models spill and
/// everything then fits into `options->memory`.
hfta_fleet_memory hfta_fleet_plan_memory(const hfta_fleet_options *options);

/// Opens the fleet's seats with their threads. Fails with HFTA_UNSUPPORTED if
/// there isn't enough memory for the seats, or wouldn't be for the models.
hfta_status hfta_fleet_open(const hfta_fleet_options *options, hfta_fleet **out,
                            hfta_error *error);

/// Closes a fleet, all of whose models have quit. NULL is allowed.
void hfta_fleet_close(hfta_fleet *fleet);

/// Returns a model by its number.
hfta_fleet_model *hfta_fleet_get(hfta_fleet *fleet, int64_t model);

/// Waits until the model has a seat; returns at once if it has one. Returns the
/// seat, or NULL if the training is to stop; then the model has no seat.
const hfta_seat *hfta_fleet_sit(hfta_fleet_model *model, hfta_unit_kind kind);

/// Sets the model's instance, after its creation. Must be set to NULL before
/// the instance is destroyed. A NULL model is allowed.
void hfta_fleet_set_instance(hfta_fleet_model *model, hfta_instance *instance);

/// Sets the number of steps that the training has done, and of those that it
/// has left. A NULL model is allowed.
void hfta_fleet_expect(hfta_fleet_model *model, int64_t done, int64_t left);

/// Waits until the model has a seat, as hfta_fleet_sit does, for work of its
/// instance. Returns false if the training is to stop. NULL is allowed.
bool hfta_fleet_begin(hfta_fleet_model *model, hfta_unit_kind kind);

/// Waits until the model has a seat, even if the training is to stop: for a
/// part that must reach the same step as the other parts. NULL is allowed.
void hfta_fleet_catch_up(hfta_fleet_model *model, hfta_unit_kind kind);

/// Reports that the model has computed: `steps` steps, 0 if its unit doesn't
/// consist of steps. The model may lose its seat to another model by this. NULL
/// is allowed.
void hfta_fleet_pass(hfta_fleet_model *model, int64_t steps);

/// Gives up the model's seat, if it has one, before work that takes time but
/// needs no seat. NULL is allowed.
void hfta_fleet_stand_up(hfta_fleet_model *model);

/// Reports that the training has ended, and gives up its seat. NULL is allowed.
void hfta_fleet_quit(hfta_fleet_model *model);

/// The time of a model's steps, as measured while the model had priority at its
/// seat.
typedef struct hfta_fleet_measure {
  int64_t steps;  ///< the number of steps done in this run
  double seconds; ///< the time of all these steps; for steps that weren't
                  ///< timed, the mean of the timed ones
} hfta_fleet_measure;

/// Returns the time of a model's steps. Called after all models have quit.
hfta_fleet_measure hfta_fleet_measured(const hfta_fleet *fleet, int64_t model);

const hfta_fleet_options *hfta_fleet_get_options(const hfta_fleet *fleet);

/// The results of a fleet.
typedef struct hfta_fleet_summary {
  double seconds;  ///< the time from the beginning of the first unit to the end
                   ///< of the last one
  double busy;     ///< the fraction of all seats' time in which models occupied
                   ///< them
  double forecast; ///< the prediction of `seconds`, made when a tenth of it was
                   ///< over; NaN if it wasn't made, since some model's steps
                   ///< were never timed
  double bound;    ///< a lower bound of `seconds`, predicted at the same time
} hfta_fleet_summary;
/// Returns the results, after all models have quit.
hfta_fleet_summary hfta_fleet_summarize(hfta_fleet *fleet);

#endif // HFTA_SRC_FLEET_FLEET_H
