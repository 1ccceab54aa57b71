//===- workload.h - What an instance is made for ----------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_WORKLOAD_H
#define HFTA_SRC_SCHEDULE_WORKLOAD_H

#include "hfta/communicator.h"
#include "hfta/instance.h"
#include "hfta/store.h"
#include "store/store_rates.h"

/// Schedules, `initialize` aside, which always runs, the copies that they run
/// for, and who runs which share of them: an instance, which is a rank, or one
/// of its workers. There is no memory that these don't need.
typedef struct hfta_workload {
  bool is_all;          ///< every schedule
  const char *schedule; ///< else those of this name, one a stage; NULL: none
  bool is_loaded;       ///< not even initial values are computed: a checkpoint
                        ///< brings all that is asked of it, on any machine
  int64_t first_copy;
  int64_t copies;
  int32_t stage;   ///< of a worker; -1: no stage's
  int rank, ranks; ///< of a worker: which of those that share its stage
  hfta_communicator
      *communicator; ///< borrowed; NULL: an instance opens its own
  bool takes_turns;  ///< where the device has no room for all copies these may
                     ///< take turns, for which the caller goes through windows
  int64_t slabs; ///< of how many copies the device has slabs at a time; 0: of
                 ///< all, or as many as run at once
  const struct hfta_seat *seat; ///< at which it is created, borrowed meanwhile;
                                ///< NULL: it has threads and arena of its own
} hfta_workload;

/// One schedule, or none (NULL), for some copies, on one rank. The name must
/// outlive the workload.
hfta_workload hfta_workload_of(const char *schedule, int64_t first_copy,
                               int64_t copies);

/// Everything that the program can do, for all copies, on one rank.
hfta_workload hfta_workload_of_all(const hfta_program *program);

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Whether a worker alone does each replica of each stage: the program has
/// several stages, and a schedule of the workload is one of them.
bool hfta_workload_has_stages(const hfta_program *program,
                              const hfta_workload *workload);

/// How many workers an instance has for its workload.
uint32_t hfta_workload_worker_count(const hfta_program *program,
                                    const hfta_workload *workload);

/// The workload of the instance's worker number `index`, from 0.
hfta_workload hfta_workload_of_worker(const hfta_program *program,
                                      const hfta_workload *workload,
                                      uint32_t index);

/// Whether a worker runs a schedule of the program.
bool hfta_workload_runs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t schedule);

/// Whether a schedule of the workload reads data; stages aside.
bool hfta_workload_reads_data(const hfta_program *program,
                              const hfta_workload *workload);

/// Whether an instance's rank reads a micro-batch of a data field.
bool hfta_workload_reads(const hfta_program *program,
                         const hfta_workload *workload, uint32_t field,
                         int64_t micro_batch);

//===----------------------------------------------------------------------===//
// A worker's memory and copies
//===----------------------------------------------------------------------===//

/// Whether the program's segment has memory. Of a stage's worker: if its
/// schedules touch it. Otherwise parameters, inputs and the like have it
/// always, what training keeps only if a task of the workload touches it.
bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment);

/// Whether copies go through it, or a part of it, in turns.
bool hfta_schedule_takes_turns(const hfta_schedule *schedule);

/// The most of the workload's copies that make a turn; all of them where none
/// of its schedules takes turns.
int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads);

/// Whether what a copy has in the segment is overwritten by the next turn's.
bool hfta_workload_shares_slabs(const hfta_program *program,
                                const hfta_workload *workload,
                                uint32_t segment);

/// Whether a segment holds what copies have from step to step.
bool hfta_segment_is_state(const hfta_segment *segment);

/// How many instances of a segment the workload needs.
uint32_t hfta_workload_instances(const hfta_program *program,
                                 const hfta_workload *workload,
                                 uint32_t segment);

/// Bytes of one instance of a segment that the workload needs.
uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment, int threads);

/// Bytes that a GPU needs, where it has the slabs of `workload->slabs` copies;
/// scratch memory it has for all of the program's.
uint64_t hfta_workload_device_bytes(const hfta_program *program,
                                    const hfta_workload *workload);

/// Bytes of a segment that the host has of a copy that isn't on the GPU; 0: of
/// what is in it nothing outlives a step, or it is there for all copies.
uint64_t hfta_workload_waiting_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment);

/// What the workload's schedules do for all copies at once, so that these can't
/// take turns of several steps: a task's name, or other words; NULL: nothing.
const char *hfta_workload_find_common(const hfta_program *program,
                                      const hfta_workload *workload);

/// How far the workload's FETCHes reach into the arena.
uint64_t hfta_workload_arena_bytes(const hfta_program *program,
                                   const hfta_workload *workload);

/// What a store holds of a workload.
typedef struct hfta_spilled_extents {
  uint64_t count, bytes;
} hfta_spilled_extents;

/// The extents of a worker's spilled segments, by segment, instance and copy;
/// of segments without slabs by instance. Those of copies that aren't the
/// workload's have none of the bytes. `out`: their bytes, or NULL.
hfta_spilled_extents hfta_workload_spills(const hfta_program *program,
                                          const hfta_workload *workload,
                                          uint64_t *out);

/// What a training's copies need, bytes each, of a GPU and where it has no room
/// for all of them.
typedef struct hfta_device_needs {
  uint64_t first_copy;   ///< of the GPU: one, with all that copies share
  uint64_t next_copy;    ///< each other one that is there at the same time
  uint64_t waiting_copy; ///< of the host: one, whether it is there or not
  const char *common;    ///< see hfta_workload_find_common
} hfta_device_needs;

hfta_device_needs hfta_find_device_needs(const hfta_program *program);

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// What all workers of an instance touch, as hfta_program_memory.
hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads);

/// Of one worker of a stage, on a rank of its own: of the one that needs most.
hfta_memory_plan hfta_stage_memory(const hfta_program *program, uint32_t stage,
                                   int threads);

/// Of a rank, of so many.
hfta_memory_plan hfta_rank_memory(const hfta_program *program, int rank,
                                  int ranks, int threads);

/// Whether each task of an instance's workload can run for some copies alone.
bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload);

/// hfta_instance_create for a workload. Calls that need other schedules or
/// copies are not allowed on the instance.
hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out);

/// What the instance's rank plans for its workload.
hfta_memory_plan hfta_instance_memory(const hfta_instance *instance);

/// Whether tasks run while something is on its way to or from the store, as
/// they do at first.
void hfta_instance_set_overlap(hfta_instance *instance, bool overlaps);

/// Bytes that the rank's workers have read from their stores, and written, so
/// far.
hfta_store_traffic hfta_instance_store_traffic(const hfta_instance *instance);

/// How fast the first worker's store is, between two calls. `out` is zeros
/// where nothing is spilled.
hfta_status hfta_instance_measure_store(hfta_instance *instance,
                                        hfta_store_rates *out,
                                        hfta_error *error);

/// What the user should know of where the rank's workers spill to, or NULL;
/// static.
const char *hfta_instance_store_note(const hfta_instance *instance);

/// The micro-batches that the rank's workers read: one answer a data field and
/// micro-batch of a step, field by field.
const bool *hfta_instance_reads(const hfta_instance *instance);

/// The instance's own, of all ranks that run the program.
hfta_communicator *hfta_instance_communicator(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_WORKLOAD_H
