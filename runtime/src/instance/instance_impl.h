//===- instance_impl.h - Shared by the parts of an instance -------*- C -*-===//

#ifndef HFTA_SRC_INSTANCE_INSTANCE_IMPL_H
#define HFTA_SRC_INSTANCE_INSTANCE_IMPL_H

#include "communicator/worker_group.h"
#include "instance/crew.h"
#include "instance/instance_facts.h"
#include "instance/made_inputs.h"
#include "instance/worker.h"
#include "program/metric_states.h"
#include "workload/turns.h"

#include <math.h>
#include <pthread.h>

/// The most results per copy that a schedule leaves for the host, besides the
/// terms of the loss: after a step its loss and the values of
/// hfta_update_report, after an evaluation two sums. Each term adds up to two
/// results.
enum { HFTA_RESULTS = 7 };

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< the communicator of all ranks
  /// The workers of all ranks; NULL if there is one stage.
  hfta_worker_group *group;
  hfta_worker *workers;
  uint32_t worker_count; ///< number of this rank's workers, at least one
  hfta_crew *crew;       ///< NULL if there is one worker
  bool *reads;           ///< the answers of hfta_instance_reads
  hfta_made_inputs made;
  hfta_observer observer; ///< the user's observer, besides the one that reports
                          ///< progress to other ranks
  pthread_mutex_t mutex;  ///< protects `status`, and calls of the observer
  hfta_status status;     ///< first failure of a worker in the running call

  /// Numbers of the copies that run (the live copies), ascending.
  int32_t *live;
  int64_t live_count;
  int64_t turn;  ///< the current turn, for calls that name no copies
  bool *is_live; ///< for each copy, whether it runs
  /// Whether parameters are loaded from the averages in checkpoints.
  bool loads_averages;
  /// Whether offsets in checkpoints (HFTA_TENSOR_OFFSET) are added to the
  /// parameters that are loaded.
  bool adds_offsets;
  double (*now)(void); ///< the clock, in seconds: hfta_now, except in tests

  bool has_gradients;    ///< accumulated gradients wait for an update
  bool has_remains;      ///< a failed call has left partial gradients,
                         ///< which the next call clears first
  int64_t accumulations; ///< number of accumulations since the last
                         ///< update
  double *sums;          ///< sums per copy, over the batches of an evaluation
  hfta_metric_states metrics; ///< metrics over these batches
  double *results;            ///< results per copy, of the last step or batch
  uint32_t *result_tensors;   ///< the tensors of these results
  /// For each copy the terms of the loss: those of the last step, and of the
  /// last evaluation.
  double *term_losses, *term_means;
  hfta_update_report *reports; ///< one report per copy, of its last update
  double *forced_rates; ///< learning rates that the user has set, one per copy;
                        ///< NaN: the schedule's rate holds
  /// For each hyper-parameter of the program, one value per copy.
  double *hyper_parameters;
  /// The factors of schedules `plateau`, as of
  /// hfta_instance_set_schedule_factor: for each number, one per copy.
  double *schedule_factors;
  int64_t *seeds;      ///< one per copy
  int64_t *horizons;   ///< for each copy, the number of steps after which its
                       ///< schedules end; 0: `total_steps`
  int64_t steps;       ///< number of steps done
  int64_t total_steps; ///< number of steps of the training; 0: unknown
  hfta_instance *const *parts; ///< the parts that this instance represents, as
                               ///< the first of them (parts.h)
  uint32_t part_count;         ///< 0: the instance has no parts
  bool *all_live; ///< for each copy of all parts together, whether it runs
  bool begins_with_last; ///< the next window (window.h) begins with the copies
                         ///< of the last turn, which are still in memory
  bool last_lies_beside; ///< the last turn's copies are in the second place for
                         ///< turns in the arena
  hfta_error error;
};

/// The report of a copy that had no update yet; NaN also stands for values that
/// a program doesn't have.
static const hfta_update_report HFTA_NO_REPORT = {NAN, NAN, NAN, NAN, NAN, NAN};

/// Opens an instance for a workload: its devices, memory and messages. Its
/// variables have no initial values yet (schedule/create.h). On failure `*out`
/// is NULL, and options->error has the message.
hfta_status hfta_instance_open(const hfta_program *program,
                               const hfta_workload *workload,
                               const hfta_options *options,
                               hfta_instance **out);

/// Copies the message of a worker's failed call to the instance; returns
/// `status`.
hfta_status hfta_instance_note(hfta_instance *instance,
                               const hfta_worker *worker, hfta_status status);

/// Returns whether the job has a preconditioner: an update then uses statistics
/// besides the accumulated gradients.
bool hfta_instance_preconditions(const hfta_instance *instance);

/// Return the number of turns of an instance's live copies on its device, and
/// its current turn.
int64_t hfta_instance_turn_count(const hfta_instance *instance);
hfta_turn hfta_instance_turn(const hfta_instance *instance);

/// Returns the width of turns in a schedule's next call, the largest of all
/// workers'; the number of live copies if the schedule takes no turns.
/// `*is_settled` becomes whether the search for the fastest width has ended.
int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled);

/// Sets the function that gets a report of each finished activity of the
/// devices, from the next step on; NULL: none is called.
void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer);

/// Returns the functions of the kind of its devices.
const hfta_device_functions *
hfta_instance_device_kind(const hfta_instance *instance);

/// Returns a worker of this rank that has memory for the segment: the first one
/// of the segment's stage, else the first of any stage; NULL if there is none.
hfta_worker *hfta_instance_find_worker(const hfta_instance *instance,
                                       uint32_t segment);

/// Write or read a copy's scalar in the host's image of its segment, converted
/// to or from the tensor's type. `tensor` is an index from hfta_roles; an
/// absent one (UINT32_MAX) isn't written, and reads as NaN. `number` is an
/// instance of the segment; the other functions use the first one.
void hfta_instance_set_real(hfta_instance *instance, uint32_t tensor,
                            int64_t copy, double value);
void hfta_instance_set_integer(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, int64_t number, int64_t value);
double hfta_instance_get_real(const hfta_instance *instance, uint32_t tensor,
                              int64_t copy);

#endif // HFTA_SRC_INSTANCE_INSTANCE_IMPL_H
