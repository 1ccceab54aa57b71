//===- workload.h - The work of an instance, and its memory -------*- C -*-===//

#ifndef HFTA_SRC_WORKLOAD_WORKLOAD_H
#define HFTA_SRC_WORKLOAD_WORKLOAD_H

#include "hfta/communicator.h"
#include "hfta/instance.h"
#include "hfta/store.h"
#include "store/store_rates.h"

/// The work of an instance (on one rank) or of one of its workers: the
/// schedules that it may run, the copies for which they run, and its share
/// among ranks. `initialize` always belongs to it. Only memory that these
/// schedules need is allocated.
typedef struct hfta_workload {
  bool is_all;          ///< it may run every schedule
  const char *schedule; ///< else the name of the schedules that it may run, one
                        ///< per stage; NULL: none
  /// Initial values aren't computed, since a checkpoint provides all that is
  /// needed; this works on any machine.
  bool is_loaded;
  int64_t first_copy; ///< the first of its copies, which are consecutive
  int64_t copies;     ///< number of its copies
  int32_t stage;      ///< a worker's stage; -1: the workload isn't for a stage
  int rank, ranks;    ///< the instance's rank, and the number of ranks; for a
                      ///< worker of a stage, its replica, and their number
  /// Borrowed; NULL: the instance opens its own.
  hfta_communicator *communicator;
  bool takes_turns; ///< copies may take turns if the device has no room for all
                    ///< of them; the caller must then run windows (window.h)
  int64_t slabs; ///< the most copies that have slabs on the device at a time;
                 ///< 0: all copies, or as many as make a turn of a schedule
  /// The seat at which the instance is created, borrowed during the creation;
  /// NULL: the instance has threads and an arena of its own.
  const struct hfta_seat *seat;
} hfta_workload;

/// Returns the workload of one schedule (NULL: of none) for `copies` copies
/// from `first_copy` on, on one rank. The name must outlive the workload.
hfta_workload hfta_workload_of(const char *schedule, int64_t first_copy,
                               int64_t copies);

/// Returns the workload of all schedules of a program, for all copies, on one
/// rank.
hfta_workload hfta_workload_of_all(const hfta_program *program);

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Returns whether each replica of each stage has a worker of its own: if the
/// program has several stages, and the workload includes a schedule that is
/// divided into stages.
bool hfta_workload_has_stages(const hfta_program *program,
                              const hfta_workload *workload);

/// Returns the number of workers of an instance with this workload.
uint32_t hfta_workload_worker_count(const hfta_program *program,
                                    const hfta_workload *workload);

/// Returns the workload of worker number `index`, from 0, of an instance.
hfta_workload hfta_workload_of_worker(const hfta_program *program,
                                      const hfta_workload *workload,
                                      uint32_t index);

/// Returns whether a worker may run a schedule, given as an index into
/// hfta_program.schedules.
bool hfta_workload_runs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t schedule);

/// Returns whether a schedule for the workload's stage reads data fields; for
/// the workload of an instance, schedules of stages aren't considered.
bool hfta_workload_reads_data(const hfta_program *program,
                              const hfta_workload *workload);

/// Returns whether a rank's workers read a micro-batch of a data field.
bool hfta_workload_reads(const hfta_program *program,
                         const hfta_workload *workload, uint32_t field,
                         int64_t micro_batch);

//===----------------------------------------------------------------------===//
// A worker's memory and copies
//===----------------------------------------------------------------------===//

/// Returns whether a segment has memory. A worker of a stage has memory for the
/// segments that its schedules use. Otherwise, segments such as parameters and
/// inputs always have memory, but those for training only if a task of the
/// workload uses them.
bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment);

/// Returns whether copies run a schedule, or a part of it, in turns.
bool hfta_schedule_takes_turns(const hfta_schedule *schedule);

/// Returns the most copies of a turn; all of the workload's copies if none of
/// its schedules takes turns.
int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads);

/// Returns whether copies of different turns share the slabs of a segment, so
/// that the next turn overwrites a copy's data.
bool hfta_workload_shares_slabs(const hfta_program *program,
                                const hfta_workload *workload,
                                uint32_t segment);

/// Returns whether a segment holds state that copies keep from step to step:
/// parameters, statistics, optimizer state or curvature.
bool hfta_segment_is_state(const hfta_segment *segment);

/// Returns the number of instances of a segment that the workload needs.
uint32_t hfta_workload_instances(const hfta_program *program,
                                 const hfta_workload *workload,
                                 uint32_t segment);

/// Returns the bytes that the workload needs of one instance of a segment.
uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment, int threads);

/// Returns the most copies for which a task runs: all copies of the workload,
/// or as many as have slabs on the device.
static inline int64_t hfta_workload_most_copies(const hfta_workload *workload) {
  return workload->slabs > 0 && workload->slabs < workload->copies
             ? workload->slabs
             : workload->copies;
}

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

/// Returns the name of a task, or other words for something, in the workload's
/// schedules that needs all copies at once, so that copies can't take turns of
/// several steps; NULL if there is nothing.
const char *hfta_workload_find_common(const hfta_program *program,
                                      const hfta_workload *workload);

/// Returns the size in bytes of the arena that the workload's FETCHes use.
uint64_t hfta_workload_arena_bytes(const hfta_program *program,
                                   const hfta_workload *workload);

/// The extents that a store holds for a workload: their number, and their
/// bytes.
typedef struct hfta_spilled_extents {
  uint64_t count, bytes;
} hfta_spilled_extents;

/// Returns the number and size of the extents of a worker's spilled segments.
/// `out`, if it isn't NULL, receives the bytes of each, ordered by segment,
/// instance and copy (segments without slabs have one extent per instance).
/// Extents of copies that aren't the workload's have 0 bytes.
hfta_spilled_extents hfta_workload_spills(const hfta_program *program,
                                          const hfta_workload *workload,
                                          uint64_t *out);

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

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

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

/// Returns whether all tasks of an instance's workload can run for only some of
/// the copies.
bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload);

/// Creates an instance for a workload, as hfta_instance_create does. Calls that
/// need schedules or copies outside of the workload aren't allowed on the
/// instance.
hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out);

/// Returns the memory that the instance's rank uses for its workload.
hfta_memory_plan hfta_instance_memory(const hfta_instance *instance);

/// Sets whether tasks may overlap with transfers to and from the store. At
/// first they do.
void hfta_instance_set_overlap(hfta_instance *instance, bool overlaps);

/// Returns how many bytes the rank's workers have read from their stores, and
/// written, so far.
hfta_store_traffic hfta_instance_store_traffic(const hfta_instance *instance);

/// Measures the speed of the first worker's store. No other call may be in
/// flight. `*out` becomes zeros if nothing is spilled.
hfta_status hfta_instance_measure_store(hfta_instance *instance,
                                        hfta_store_rates *out,
                                        hfta_error *error);

/// Returns a note for the user about the medium to which the rank's workers
/// spill, as static text, or NULL.
const char *hfta_instance_store_note(const hfta_instance *instance);

/// Returns an array that says which micro-batches the rank's workers read. It
/// has a value for each data field and each micro-batch of a step, field by
/// field, and belongs to the instance.
const bool *hfta_instance_reads(const hfta_instance *instance);

/// Returns the instance's communicator, which has all ranks that run the
/// program.
hfta_communicator *hfta_instance_communicator(hfta_instance *instance);

#endif // HFTA_SRC_WORKLOAD_WORKLOAD_H
