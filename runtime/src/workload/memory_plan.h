//===- memory_plan.h - Memory that a program has, by what it is for *- C
//-*-===//

#ifndef HFTA_SRC_WORKLOAD_MEMORY_PLAN_H
#define HFTA_SRC_WORKLOAD_MEMORY_PLAN_H

#include "hfta/device.h"
#include "hfta/prefetch.h"
#include "workload/workload.h"

/// The most steps that may be posted to a device and not yet settled
/// (schedule/ahead.h).
enum { HFTA_MOST_POSTED_STEPS = HFTA_DEVICE_MARKS };

//===----------------------------------------------------------------------===//
// All memory of a rank
//===----------------------------------------------------------------------===//

/// The memory that a program needs, in bytes, by its use. It follows from the
/// program's table alone, without an instance.
typedef struct hfta_memory_plan {
  uint64_t parameters;
  uint64_t gradients;
  uint64_t optimizer_state;
  uint64_t statistics;
  uint64_t curvature;   ///< factors and inverses of a preconditioner, with the
                        ///< sums that they are computed from
  uint64_t activations; ///< saved activations and cuts, in all instances
  uint64_t workspace;
  uint64_t input_output; ///< inputs, outputs, scalars, results
  uint64_t prefetch;     ///< batches of data in the host's memory:
                         ///< HFTA_BATCHES_OF_DATA, and one more for a GPU
  /// Constants, which are part of the binary and not allocated.
  uint64_t constants;
  uint64_t scratch; ///< scratch memory of kernels, of all threads together
  uint64_t arena; ///< memory in which segments that aren't resident have places
                  ///< while they are used
  uint64_t store; ///< memory of the store itself: buffer, threads, checksums
  uint64_t peak;  ///< the sum of all but constants
} hfta_memory_plan;

/// Returns the memory that a program needs on one rank for all of its schedules
/// and copies, with kernels on `threads` threads.
hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads);

/// Returns the memory that all workers of an instance use together, in the
/// categories of hfta_program_memory.
hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads);

/// Returns the memory of a stage's worker, if each worker has a rank of its
/// own: that of the replica which needs most.
hfta_memory_plan hfta_stage_memory(const hfta_program *program, uint32_t stage,
                                   int threads);

/// Returns the memory that one of several ranks uses.
hfta_memory_plan hfta_rank_memory(const hfta_program *program, int rank,
                                  int ranks, int threads);

//===----------------------------------------------------------------------===//
// A GPU's memory
//===----------------------------------------------------------------------===//

/// Returns the bytes of a GPU's memory for the workload with slabs for
/// `workload->slabs` copies, with the kernels' scratch memory for as many
/// copies.
uint64_t hfta_workload_device_bytes(const hfta_program *program,
                                    const hfta_workload *workload);

/// Returns the bytes of a segment that the host keeps for each copy if not all
/// copies are on the GPU; 0 if the contents don't outlive a step, or are on the
/// GPU for all copies.
uint64_t hfta_workload_waiting_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment);

/// The memory in bytes that the copies of a training need on a GPU, and in the
/// host's memory if the GPU has no room for all of them.
typedef struct hfta_device_needs {
  uint64_t first_copy;   ///< on the GPU, for one copy, with everything that
                         ///< copies share
  uint64_t next_copy;    ///< on the GPU, for each further copy that is there at
                         ///< the same time
  uint64_t waiting_copy; ///< in the host's memory, for each copy, whether it is
                         ///< on the GPU or not
  const char *common; ///< the task, or other reason, that prevents turns; NULL:
                      ///< none (hfta_workload_find_common)
} hfta_device_needs;

/// Returns the memory that a program's copies need on a GPU.
hfta_device_needs hfta_find_device_needs(const hfta_program *program);

#endif // HFTA_SRC_WORKLOAD_MEMORY_PLAN_H
