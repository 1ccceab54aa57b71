//===- workload.h - The work of an instance, and its memory -------*- C -*-===//

#ifndef HFTA_SRC_WORKLOAD_WORKLOAD_H
#define HFTA_SRC_WORKLOAD_WORKLOAD_H

#include "hfta/communicator.h"
#include "hfta/program_queries.h"

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

/// Returns whether all tasks of an instance's workload can run for only some of
/// the copies.
bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload);

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

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Returns the most copies of a turn, for which an instance has memory: the
/// number that the schedule gives, else one per thread; all copies if no
/// schedule takes turns. With one copy per thread, threads don't wait for each
/// other within a turn, and the activations that a copy saves for its backward
/// stay in its thread's caches. An instance uses narrower turns where these
/// turn out to be faster.
int64_t hfta_program_copies_at_once(const hfta_program *program, int threads);

/// Returns the bytes of one instance of a segment. A segment of slabs has one
/// slab per copy, or only as many as a turn has copies if the copies of
/// different turns share slabs.
uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads);

#endif // HFTA_SRC_WORKLOAD_WORKLOAD_H
