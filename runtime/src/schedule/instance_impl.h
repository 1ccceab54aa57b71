//===- instance_impl.h - What the parts of an instance share ----*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
#define HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H

#include "hfta/device.h"
#include "schedule/workload.h"

/// The instances of one segment.
typedef struct hfta_segment_memory {
  void **bases;       ///< `count` addresses
  int64_t *held;      ///< which micro-batch each holds (input segments), or -1
  uint64_t bytes;     ///< of each
  uint32_t count;     ///< 0: scratch, which the pool owns, or not needed
  uint32_t read_only; ///< `bases` lead into the program's image
} hfta_segment_memory;

struct hfta_instance {
  const hfta_program *program;
  hfta_workload workload;
  hfta_device *device;
  hfta_segment_memory *memory; ///< one a segment
  void **call_bases;           ///< what a running task gets, one a segment

  /// Tasks of the blocks, `program->blocks` each.
  const hfta_task **forward;
  const hfta_task **backward;
  const hfta_task **norm;
  const hfta_task **update;

  int64_t copies_at_once; ///< how many go through a step together
  int keeps_gradients;    ///< all copies' wait for an update
  double *norms;          ///< of one copy, as many as trained parameters
  uint64_t norm_count;
  double *forced_rates; ///< one a copy; NaN: the schedule's
  int64_t steps;
  int64_t total_steps;  ///< 0: unknown
  double *task_seconds; ///< borrowed; NULL, or each task's time is added to it
  hfta_error error;
};

/// Neighbouring copies.
typedef struct copy_range {
  int64_t first;
  int64_t count;
} copy_range;

/// Runs a task with the segment instances of a micro-batch, for as many copies
/// at a time as go through a step together if it may.
hfta_status hfta_instance_run(hfta_instance *instance, const hfta_task *task,
                              int64_t micro_batch, copy_range copies);

/// The copies that a task runs for: the workload's. If it can't run for some
/// alone, those before them too.
copy_range hfta_instance_copies_of(const hfta_instance *instance,
                                   const hfta_task *task);

/// Runs all tasks of a kind in the table's order for the workload's copies.
hfta_status hfta_instance_run_kind(hfta_instance *instance,
                                   hfta_task_kind kind);

/// Makes the input segments hold a micro-batch of the data fields.
hfta_status hfta_instance_load_fields(hfta_instance *instance,
                                      const void *const *inputs,
                                      int64_t micro_batch);

/// Says that the input segments hold nothing of use.
void hfta_instance_forget_inputs(hfta_instance *instance);

/// The address of a copy's tensor in the first instance of its segment.
char *hfta_instance_address(const hfta_instance *instance, uint32_t tensor,
                            int64_t copy);

/// Reads or writes a copy's scalar, converting from and to its stored type. An
/// absent role (UINT32_MAX) is written nowhere and read as NaN.
hfta_status hfta_instance_write_real(hfta_instance *instance, uint32_t tensor,
                                     int64_t copy, double value);
hfta_status hfta_instance_write_integer(hfta_instance *instance,
                                        uint32_t tensor, int64_t copy,
                                        int64_t value);
hfta_status hfta_instance_read_real(hfta_instance *instance, uint32_t tensor,
                                    int64_t copy, double *out);

/// Zeroes the tensor for all copies.
hfta_status hfta_instance_clear(hfta_instance *instance, uint32_t tensor);

#endif // HFTA_SRC_SCHEDULE_INSTANCE_IMPL_H
