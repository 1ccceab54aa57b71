//===- instance_impl.h - Shared by the parts of an instance -------*- C -*-===//

#ifndef HFTA_SRC_INSTANCE_INSTANCE_IMPL_H
#define HFTA_SRC_INSTANCE_INSTANCE_IMPL_H

#include "communicator/worker_group.h"
#include "instance/crew.h"
#include "instance/instance_facts.h"
#include "instance/worker.h"

#include <math.h>
#include <pthread.h>

/// The most results per copy that a schedule leaves for the host: after a step
/// its loss and the values of hfta_update_report, after an evaluation three
/// sums.
enum { HFTA_RESULTS = 7 };

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< the communicator of all ranks
  /// The workers of all ranks; NULL if there is one stage.
  hfta_worker_group *group;
  hfta_worker *workers;
  uint32_t worker_count;  ///< number of this rank's workers, at least one
  hfta_crew *crew;        ///< NULL if there is one worker
  bool *reads;            ///< the answers of hfta_instance_reads
  hfta_observer observer; ///< the user's observer, besides the one that reports
                          ///< progress to other ranks
  pthread_mutex_t mutex;  ///< protects `status`, and calls of the observer
  hfta_status status;     ///< first failure of a worker in the running call

  /// Numbers of the copies that run (the live copies), ascending.
  int32_t *live;
  int64_t live_count;
  int64_t turn;        ///< the current turn, for calls that name no copies
  bool *is_live;       ///< for each copy, whether it runs
  double (*now)(void); ///< the clock, in seconds: hfta_now, except in tests

  bool has_gradients;    ///< accumulated gradients wait for an update
  bool has_remains;      ///< a failed call has left partial gradients,
                         ///< which the next call clears first
  int64_t accumulations; ///< number of accumulations since the last
                         ///< update
  double *sums;    ///< three sums per copy, over the batches of an evaluation
  double *results; ///< up to HFTA_RESULTS results per copy, of the last step or
                   ///< batch
  hfta_update_report *reports; ///< one report per copy, of its last update
  double *forced_rates; ///< learning rates that the user has set, one per copy;
                        ///< NaN: the schedule's rate holds
  int64_t steps;        ///< number of steps done
  int64_t total_steps;  ///< number of steps of the training; 0: unknown
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

/// Returns whether the job has a preconditioner: an update then uses statistics
/// besides the accumulated gradients.
bool hfta_instance_preconditions(const hfta_instance *instance);

/// Discards the gradients accumulated since the last update, because they
/// belong to a state that is being replaced. If that fails, the next call
/// clears them.
hfta_status hfta_instance_clear_gradients(hfta_instance *instance);

/// Records that gradients hold partial sums, or values that no update will use,
/// because a call has failed: the next call clears them first. Returns
/// `status`.
hfta_status hfta_instance_spoil_gradients(hfta_instance *instance,
                                          hfta_status status);

/// A turn: some of the live copies, which run steps together on a device
/// without room for all copies. There are as few turns as possible, all of the
/// same width; a single turn if all copies fit.
typedef struct hfta_turn {
  int64_t first;  ///< position of the turn's first copy among the live copies
  int64_t copies; ///< number of its copies; the last turn may have fewer than
                  ///< the others
} hfta_turn;

/// Return the number of turns in which `copies` copies run if there is room for
/// `most` of them at a time (0: for all), and turn `number` of them.
int64_t hfta_turn_count(int64_t copies, int64_t most);
hfta_turn hfta_find_turn(int64_t copies, int64_t most, int64_t number);

/// Return the number of turns of an instance's live copies on its device, and
/// its current turn.
int64_t hfta_instance_turn_count(const hfta_instance *instance);
hfta_turn hfta_instance_turn(const hfta_instance *instance);

/// Runs a schedule once for each turn's copies, one turn after the other.
hfta_status hfta_instance_run_turns(hfta_instance *instance,
                                    const hfta_schedule_call *call);

/// Runs a schedule on all workers at once and waits for them. HFTA_USAGE if the
/// program has no such schedule.
hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call);

/// Runs a step for the call's copies. `losses` (or NULL) has one loss per copy;
/// those of other copies aren't changed.
hfta_status hfta_instance_run_step(hfta_instance *instance,
                                   const hfta_schedule_call *call,
                                   double *losses);

/// Prepares a call of a training: clears gradients that a failed call has left,
/// and writes scalars to the host's images. These are the number of steps and
/// of the accumulations whose gradients are used (1 if none wait, since a step
/// makes one); with `updates` also the learning rates and the damping.
/// HFTA_USAGE for a cosine schedule if the number of steps is unknown.
hfta_status hfta_instance_set_scalars(hfta_instance *instance, bool updates);

/// Reads the results of a step of all live copies from the host's images: the
/// reports, and the losses (one per copy, NaN for copies that don't run; NULL:
/// not needed).
hfta_status hfta_instance_get_step(hfta_instance *instance, double *losses);

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
