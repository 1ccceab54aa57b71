//===- workload.h - The work of an instance, and its memory -------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_WORKLOAD_H
#define HFTA_SRC_SCHEDULE_WORKLOAD_H

#include "hfta/communicator.h"
#include "hfta/instance.h"
#include "hfta/store.h"
#include "store/store_rates.h"

/// The work of an instance (of one rank) or of one of its workers: the
/// schedules that it may run, with `initialize`, which it always runs, the
/// copies that they run for, and its share among ranks. Only memory that these
/// schedules need is allocated.
typedef struct hfta_workload {
  bool is_all;          ///< every schedule
  const char *schedule; ///< otherwise the schedules of this name, one per
                        ///< stage; NULL: none
  bool is_loaded;       ///< initial values aren't computed either: a checkpoint
                        ///< provides all that is needed, on any machine
  int64_t first_copy;
  int64_t copies;
  int32_t stage;   ///< for a worker: its stage; -1: none
  int rank, ranks; ///< for a worker: its place among the ranks that share its
                   ///< stage
  hfta_communicator
      *communicator; ///< borrowed; NULL: an instance opens its own
  bool takes_turns;  ///< if the device has no room for all copies, they may
                     ///< take turns, for which the caller must run windows
  int64_t slabs; ///< number of copies with slabs on the device at a time; 0:
                 ///< all, or as many as run at once
  const struct hfta_seat *seat; ///< the seat at which the instance is created,
                                ///< borrowed meanwhile; NULL: it has its own
                                ///< threads and arena
} hfta_workload;

/// Makes the workload of one schedule, or of none (NULL), for some copies, on
/// one rank. The name must outlive the workload.
hfta_workload hfta_workload_of(const char *schedule, int64_t first_copy,
                               int64_t copies);

/// Makes the workload of everything that the program can do, for all copies, on
/// one rank.
hfta_workload hfta_workload_of_all(const hfta_program *program);

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Whether each replica of each stage has a worker of its own: the program has
/// several stages, and a schedule of the workload runs on stages.
bool hfta_workload_has_stages(const hfta_program *program,
                              const hfta_workload *workload);

/// Returns how many workers an instance has for its workload.
uint32_t hfta_workload_worker_count(const hfta_program *program,
                                    const hfta_workload *workload);

/// Returns the workload of the instance's worker number `index`, from 0.
hfta_workload hfta_workload_of_worker(const hfta_program *program,
                                      const hfta_workload *workload,
                                      uint32_t index);

/// Whether a worker runs a schedule of the program.
bool hfta_workload_runs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t schedule);

/// Whether a schedule of the workload, without regard to stages, reads data.
bool hfta_workload_reads_data(const hfta_program *program,
                              const hfta_workload *workload);

/// Whether an instance's rank reads a micro-batch of a data field.
bool hfta_workload_reads(const hfta_program *program,
                         const hfta_workload *workload, uint32_t field,
                         int64_t micro_batch);

//===----------------------------------------------------------------------===//
// A worker's memory and copies
//===----------------------------------------------------------------------===//

/// Whether the program's segment has memory. A stage's worker has memory for
/// the segments that its schedules use. Otherwise parameters, inputs and
/// similar segments always have memory, and segments for training only if a
/// task of the workload uses them.
bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment);

/// Whether copies run the schedule, or a part of it, in turns.
bool hfta_schedule_takes_turns(const hfta_schedule *schedule);

/// Returns the most of the workload's copies that make a turn; all of them if
/// none of its schedules takes turns.
int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads);

/// Whether the next turn's copies overwrite a copy's data in the segment.
bool hfta_workload_shares_slabs(const hfta_program *program,
                                const hfta_workload *workload,
                                uint32_t segment);

/// Whether a segment holds the state that copies keep from step to step.
bool hfta_segment_is_state(const hfta_segment *segment);

/// Returns how many instances of a segment the workload needs.
uint32_t hfta_workload_instances(const hfta_program *program,
                                 const hfta_workload *workload,
                                 uint32_t segment);

/// Returns the bytes of one instance of a segment that the workload needs.
uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment, int threads);

/// Returns the most copies that a task runs for: all, or as many as the device
/// has slabs of.
static inline int64_t hfta_workload_most_copies(const hfta_workload *workload) {
  return workload->slabs > 0 && workload->slabs < workload->copies
             ? workload->slabs
             : workload->copies;
}

/// Returns the bytes that a GPU needs with the slabs of `workload->slabs`
/// copies and the kernels' scratch memory for as many.
uint64_t hfta_workload_device_bytes(const hfta_program *program,
                                    const hfta_workload *workload);

/// Returns the bytes of a segment that the host keeps for a copy that isn't on
/// the GPU; 0: its contents don't outlive a step, or it is on the GPU for all
/// copies.
uint64_t hfta_workload_waiting_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment);

/// Finds a part of the workload's schedules that needs all copies at once, so
/// that they can't take turns of several steps: a task's name, or other words;
/// NULL: none.
const char *hfta_workload_find_common(const hfta_program *program,
                                      const hfta_workload *workload);

/// Returns how many bytes of the arena the workload's FETCHes use.
uint64_t hfta_workload_arena_bytes(const hfta_program *program,
                                   const hfta_workload *workload);

/// The extents that a store holds for a workload.
typedef struct hfta_spilled_extents {
  uint64_t count, bytes;
} hfta_spilled_extents;

/// Lists the extents of a worker's spilled segments, by segment, instance and
/// copy; those of segments without slabs by instance. Extents of copies that
/// aren't the workload's have 0 bytes. `out` receives the bytes of each, or is
/// NULL.
hfta_spilled_extents hfta_workload_spills(const hfta_program *program,
                                          const hfta_workload *workload,
                                          uint64_t *out);

/// The memory that a training's copies need, in bytes, on a GPU and where it
/// has no room for all of them.
typedef struct hfta_device_needs {
  uint64_t first_copy;   ///< GPU: one copy, with everything that copies share
  uint64_t next_copy;    ///< GPU: each further copy that is there at the same
                         ///< time
  uint64_t waiting_copy; ///< host: each copy, whether it is on the GPU or not
  const char *common;    ///< see hfta_workload_find_common
} hfta_device_needs;

hfta_device_needs hfta_find_device_needs(const hfta_program *program);

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// Returns the memory that all workers of an instance use, as
/// hfta_program_memory does.
hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads);

/// Returns the memory of a stage's worker on a rank of its own: the largest of
/// them.
hfta_memory_plan hfta_stage_memory(const hfta_program *program, uint32_t stage,
                                   int threads);

/// Returns the memory of one of several ranks.
hfta_memory_plan hfta_rank_memory(const hfta_program *program, int rank,
                                  int ranks, int threads);

/// Whether each task of an instance's workload can run for only some copies.
bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload);

/// Creates an instance for a workload, as hfta_instance_create does. Calls that
/// need other schedules or copies are not allowed on the instance.
hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out);

/// Returns the memory plan of the instance's rank for its workload.
hfta_memory_plan hfta_instance_memory(const hfta_instance *instance);

/// Sets whether tasks run during transfers to and from the store, as they do at
/// first.
void hfta_instance_set_overlap(hfta_instance *instance, bool overlaps);

/// Returns the bytes that the rank's workers have read from their stores, and
/// written, so far.
hfta_store_traffic hfta_instance_store_traffic(const hfta_instance *instance);

/// Measures the speed of the first worker's store, between two calls. `out` is
/// zeros if nothing is spilled.
hfta_status hfta_instance_measure_store(hfta_instance *instance,
                                        hfta_store_rates *out,
                                        hfta_error *error);

/// Returns a note for the user about the place to which the rank's workers
/// spill, or NULL; static.
const char *hfta_instance_store_note(const hfta_instance *instance);

/// Returns which micro-batches the rank's workers read: one answer for each
/// data field and micro-batch of a step, field by field.
const bool *hfta_instance_reads(const hfta_instance *instance);

/// Returns the instance's communicator, of all ranks that run the program.
hfta_communicator *hfta_instance_communicator(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_WORKLOAD_H
