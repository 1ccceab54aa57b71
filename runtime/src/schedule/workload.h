//===- workload.h - What an instance is made for ----------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_WORKLOAD_H
#define HFTA_SRC_SCHEDULE_WORKLOAD_H

#include "hfta/instance.h"

/// Kinds of tasks, `init` aside, which always runs, and the copies that they
/// run for. An instance has no memory that these don't need.
typedef struct hfta_workload {
  uint32_t kinds; ///< 1 << hfta_task_kind, each
  int64_t first_copy;
  int64_t copies;
} hfta_workload;

/// Everything that the program can do, for all copies.
hfta_workload hfta_workload_of_all(const hfta_program *program);

/// Whether the program's segment has memory: parameters, inputs and the like
/// always, what training keeps only if a task of the workload touches it.
bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment);

/// How many of the workload's copies go through a list of tasks together.
int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads);

/// Bytes of one instance of a segment that the workload needs.
uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment, int threads);

/// What the workload touches, as hfta_program_memory.
hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads);

/// hfta_instance_create for a workload. Calls that need other tasks or copies
/// are not allowed on the instance.
hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out);

#endif // HFTA_SRC_SCHEDULE_WORKLOAD_H
