//===- instance_impl.h - What the parts of an instance share ----*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
#define HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H

#include "communicator/worker_group.h"
#include "schedule/crew.h"
#include "schedule/worker.h"

#include <math.h>
#include <pthread.h>

/// How many numbers a copy's schedules leave for the host at most: of a step
/// its loss and what its update tells, of an evaluation three sums.
enum { HFTA_RESULTS = 7 };

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< of all ranks
  hfta_worker_group *group; ///< of all ranks' workers, NULL for one stage
  hfta_worker *workers;
  uint32_t worker_count;  ///< at least one
  hfta_crew *crew;        ///< NULL for one worker
  bool *reads;            ///< see hfta_instance_reads
  hfta_observer observer; ///< who is told beside the other ranks
  pthread_mutex_t mutex;  ///< of the observer, and of what follows
  hfta_status status;     ///< of the running call: the first failure's

  int32_t *live; ///< the copies that run, ascending
  int64_t live_count;
  int64_t turn;  ///< the one whose copies a call is for that doesn't say which
  bool *is_live; ///< one a copy
  double (*now)(void); ///< in seconds; hfta_now

  bool has_gradients;          ///< that wait for an update
  int64_t accumulations;       ///< that were done since the last update
  double *sums;                ///< of an evaluation, three a copy
  double *results;             ///< HFTA_RESULTS a copy, of a step or of a batch
  hfta_update_report *reports; ///< one a copy, of the last update
  double *forced_rates;        ///< one a copy; NaN: the schedule's
  int64_t steps;
  int64_t total_steps;         ///< 0: unknown
  hfta_instance *const *parts; ///< of which it is the first, see parts.h
  uint32_t part_count;         ///< 0: it is by itself
  bool *all_live;              ///< of all parts together
  bool begins_with_last; ///< turns of several steps: the last one's copies
  bool last_lies_beside; ///< these have the other turns' place
  hfta_error error;
};

/// Of a copy that no update has run for, and of what a program doesn't have.
static const hfta_update_report HFTA_NO_REPORT = {NAN, NAN, NAN, NAN, NAN, NAN};

/// Whether an update takes more than gradients from what was accumulated.
bool hfta_instance_preconditions(const hfta_instance *instance);

/// Gradients that were accumulated since the last update belong to a state that
/// is replaced.
hfta_status hfta_instance_clear_gradients(hfta_instance *instance);

/// Of the copies that run those that go through steps together: as few turns as
/// the device has room for, each of as many copies. One turn where all do.
typedef struct hfta_turn {
  int64_t first;  ///< place of the first one among all that run
  int64_t copies; ///< the last turn may have fewer
} hfta_turn;

/// Turns of `copies`, of which there is room for `most` at a time; 0: for all.
int64_t hfta_turn_count(int64_t copies, int64_t most);
hfta_turn hfta_find_turn(int64_t copies, int64_t most, int64_t number);

/// The same of an instance's copies on its device, and its current turn.
int64_t hfta_instance_turn_count(const hfta_instance *instance);
hfta_turn hfta_instance_turn(const hfta_instance *instance);

/// Runs a schedule for each turn's copies after the other's.
hfta_status hfta_instance_run_turns(hfta_instance *instance,
                                    const hfta_schedule_call *call);

/// Runs a schedule on all workers. HFTA_USAGE if the program has no such
/// schedule.
hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call);

/// A step of the call's copies; losses of others stay as they are.
hfta_status hfta_instance_run_step(hfta_instance *instance,
                                   const hfta_schedule_call *call,
                                   double *losses);

/// The host's images get the step's number, and the rates of an update; and of
/// how many accumulations its gradients are, which is one that comes if none
/// wait. Fails where a schedule of rates has no end.
hfta_status hfta_instance_set_scalars(hfta_instance *instance, bool updates);

/// What a step of all that run has left in the host's images: losses, one a
/// copy, and reports.
hfta_status hfta_instance_get_step(hfta_instance *instance, double *losses);

/// How many copies make a turn of a schedule's next call; all that run if it
/// takes none. `is_settled`: other numbers have been tried.
int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled);

/// From the next step on. NULL: nobody.
void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer);

/// The functions of its devices.
const hfta_device_functions *
hfta_instance_device_kind(const hfta_instance *instance);

/// The worker that has memory for the segment: of several the first one of the
/// segment's stage, else the first; NULL if none has.
hfta_worker *hfta_instance_find_worker(const hfta_instance *instance,
                                       uint32_t segment);

/// A copy's scalar in the host's image of an instance of its segment, converted
/// from and to its stored type. An absent role (UINT32_MAX) is written nowhere
/// and read as NaN.
void hfta_instance_set_real(hfta_instance *instance, uint32_t tensor,
                            int64_t copy, double value);
void hfta_instance_set_integer(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, int64_t number, int64_t value);
double hfta_instance_get_real(const hfta_instance *instance, uint32_t tensor,
                              int64_t copy);

#endif // HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
