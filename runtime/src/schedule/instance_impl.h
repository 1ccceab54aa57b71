//===- instance_impl.h - What the parts of an instance share ----*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
#define HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H

#include "hfta/device.h"
#include "schedule/batches.h"
#include "schedule/share.h"
#include "schedule/sums.h"
#include "schedule/turns.h"
#include "schedule/workload.h"

/// The instances of one segment.
typedef struct hfta_segment_memory {
  void **bases;       ///< `count` addresses
  char *host;         ///< the host's image of all instances, or NULL
  uint64_t bytes;     ///< of each
  uint32_t count;     ///< 0: scratch, which the pool owns, or not needed
  uint32_t read_only; ///< `bases` lead into the program's image
} hfta_segment_memory;

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator;
  hfta_share share;
  hfta_sums sums_of_groups;
  hfta_observer observer; ///< who is told beside the other ranks
  hfta_device *device;
  hfta_segment_memory *memory; ///< one a segment
  void **call_bases;           ///< what a running task gets, one a segment
  bool *keeps;                 ///< of the running schedule, one a segment

  int32_t *live; ///< the copies that run, ascending
  int64_t live_count;
  bool *is_live;       ///< one a copy
  int32_t *chosen;     ///< room for some of them
  hfta_turns *turns;   ///< one a schedule
  double (*now)(void); ///< in seconds; hfta_now

  hfta_batches batches;
  bool has_gradients;   ///< that wait for an update
  double *sums;         ///< of an evaluation, three a copy
  double *forced_rates; ///< one a copy; NaN: the schedule's
  int64_t steps;
  int64_t total_steps; ///< 0: unknown
  hfta_error error;
};

/// What a schedule is run for.
typedef struct hfta_schedule_call {
  const char *name;
  const void *const *inputs; ///< one a data field, or one a model input
  int64_t micro_batches;
} hfta_schedule_call;

/// Gradients that were accumulated since the last update belong to a state that
/// is replaced.
hfta_status hfta_instance_clear_gradients(hfta_instance *instance);

/// Gives the device all commands of a schedule and waits until they are done.
/// HFTA_USAGE if the program has no such schedule.
hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call);

/// How many copies make a turn of a schedule's next call; all that run if it
/// takes none. `is_settled`: other numbers have been tried.
int64_t hfta_instance_copies_at_once(const hfta_instance *instance,
                                     const hfta_schedule *schedule,
                                     bool *is_settled);

/// From the next step on. NULL: nobody.
void hfta_instance_observe(hfta_instance *instance,
                           const hfta_observer *observer);

/// The address of a copy's tensor in the first instance of its segment.
char *hfta_instance_address(const hfta_instance *instance, uint32_t tensor,
                            int64_t copy);

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
