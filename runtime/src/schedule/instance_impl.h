//===- instance_impl.h - Shared by the parts of an instance -------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
#define HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H

#include "communicator/worker_group.h"
#include "schedule/crew.h"
#include "schedule/worker.h"

#include <math.h>
#include <pthread.h>

/// The most numbers that a copy's schedules leave for the host: for a step its
/// loss and the report of its update, for an evaluation three sums.
enum { HFTA_RESULTS = 7 };

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< all ranks
  hfta_worker_group *group;        ///< all ranks' workers, NULL for one stage
  hfta_worker *workers;
  uint32_t worker_count;  ///< at least one
  hfta_crew *crew;        ///< NULL for one worker
  bool *reads;            ///< see hfta_instance_reads
  hfta_observer observer; ///< the user's, called besides the reports to other
                          ///< ranks
  pthread_mutex_t mutex;  ///< protects the observer, and the members below
  hfta_status status;     ///< the first failure of the running call

  int32_t *live; ///< the copies that run, ascending
  int64_t live_count;
  int64_t turn;        ///< the turn whose copies a call without copies is for
  bool *is_live;       ///< one per copy
  double (*now)(void); ///< in seconds; hfta_now

  bool has_gradients;          ///< gradients wait for an update
  bool has_remains;            ///< a failed call has left partial gradients,
                               ///< which the next call clears first
  int64_t accumulations;       ///< number of accumulations since the last
                               ///< update
  double *sums;                ///< three per copy, of an evaluation
  double *results;             ///< HFTA_RESULTS per copy, of a step or of a
                               ///< batch
  hfta_update_report *reports; ///< one per copy, of the last update
  double *forced_rates;        ///< one per copy; NaN: the schedule's
  int64_t steps;
  int64_t total_steps;         ///< 0: unknown
  hfta_instance *const *parts; ///< the parts of which it is the first, see
                               ///< parts.h
  uint32_t part_count;         ///< 0: it has no parts
  bool *all_live;              ///< one per copy of all parts together
  bool begins_with_last; ///< turns of several steps: the next window begins
                         ///< with the copies of the last turn
  bool last_lies_beside; ///< the last turn's copies lie in the second place of
                         ///< turns
  hfta_error error;
};

/// The report for a copy that no update has run for, or for values that a
/// program doesn't have.
static const hfta_update_report HFTA_NO_REPORT = {NAN, NAN, NAN, NAN, NAN, NAN};

/// Whether an update uses statistics besides the accumulated gradients.
bool hfta_instance_preconditions(const hfta_instance *instance);

/// Discards the gradients that were accumulated since the last update, because
/// they belong to a state that is being replaced. If that fails, the next call
/// clears them.
hfta_status hfta_instance_clear_gradients(hfta_instance *instance);

/// Notes that a failed call has left partial sums in the gradients, or
/// gradients that an update hasn't used up: the next call clears them first.
/// Returns `status`.
hfta_status hfta_instance_spoil_gradients(hfta_instance *instance,
                                          hfta_status status);

/// A turn: those of the live copies that run steps together. There are as few
/// turns as the device has room for, all of the same width; one turn if all
/// copies fit.
typedef struct hfta_turn {
  int64_t first;  ///< position of its first copy among the live ones
  int64_t copies; ///< number of copies; the last turn may have fewer
} hfta_turn;

/// Returns the number of turns of `copies` with room for `most` at a time; 0:
/// room for all.
int64_t hfta_turn_count(int64_t copies, int64_t most);
hfta_turn hfta_find_turn(int64_t copies, int64_t most, int64_t number);

/// Return the number of turns of an instance's copies on its device, and its
/// current turn.
int64_t hfta_instance_turn_count(const hfta_instance *instance);
hfta_turn hfta_instance_turn(const hfta_instance *instance);

/// Runs a schedule for each turn's copies, one turn after the other.
hfta_status hfta_instance_run_turns(hfta_instance *instance,
                                    const hfta_schedule_call *call);

/// Runs a schedule on all workers. HFTA_USAGE if the program has no such
/// schedule.
hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call);

/// Runs a step of the call's copies; losses of other copies aren't changed.
hfta_status hfta_instance_run_step(hfta_instance *instance,
                                   const hfta_schedule_call *call,
                                   double *losses);

/// Begins a call of a training: clears gradients that a failed call has left,
/// and writes the step's number to the host's images, for an update also the
/// rates and the number of accumulations that made its gradients (1 if none
/// wait, since the step makes one). Fails where a schedule of rates has no end.
hfta_status hfta_instance_set_scalars(hfta_instance *instance, bool updates);

/// Reads the results of a step of all live copies from the host's images:
/// losses, one per copy, and reports.
hfta_status hfta_instance_get_step(hfta_instance *instance, double *losses);

/// Returns how many copies make a turn of a schedule's next call; all live ones
/// if the schedule takes no turns. `is_settled`: the search for the fastest
/// number has ended.
int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled);

/// Sets the observer, from the next step on; NULL: none.
void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer);

/// Returns the functions of its devices.
const hfta_device_functions *
hfta_instance_device_kind(const hfta_instance *instance);

/// Returns the worker that has memory for the segment: if there are several,
/// the first one of the segment's stage, else the first one; NULL if none has.
hfta_worker *hfta_instance_find_worker(const hfta_instance *instance,
                                       uint32_t segment);

/// Write or read a copy's scalar in the host's image of an instance of its
/// segment, converted to or from its stored type. An absent role (UINT32_MAX)
/// isn't written, and reads as NaN.
void hfta_instance_set_real(hfta_instance *instance, uint32_t tensor,
                            int64_t copy, double value);
void hfta_instance_set_integer(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, int64_t number, int64_t value);
double hfta_instance_get_real(const hfta_instance *instance, uint32_t tensor,
                              int64_t copy);

#endif // HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
