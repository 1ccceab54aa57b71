//===- MemoryNeeds.h - Memory that a program has all the time ---*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_SPILL_MEMORYNEEDS_H
#define HFTA_TRANSFORMS_SPILL_MEMORYNEEDS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

#include <set>

namespace mlir::hfta {

/// Returns the bytes that a worker occupies as long as it runs, on any number
/// of ranks, with the number of threads in the job's budget, and with turns of
/// `copies` copies. They are the resident segments, batches of data that are
/// read ahead, data that arrive from other ranks, scratch memory of kernels,
/// and the store's needs. Together with the worker's arena this is what the
/// runtime calls `peak_bytes` (hfta_workload_memory).
///
/// The worker is one of `stage`. In a program of one stage, -1 means its only
/// worker; in a program of several stages, -1 means the process that runs
/// whatever belongs to no stage. If kernels haven't been lowered yet, a
/// thread's scratch memory is the module's attribute `hfta.scratch_bytes`, or
/// else a guess.
int64_t countResidentBytes(ModuleOp module, const Job &job, int64_t copies,
                           int64_t stage);

/// Returns the bytes of the arena that the schedules of a worker of `stage`
/// (see countResidentBytes) use. Transfers must be planned.
int64_t countArenaBytes(ModuleOp module, const Job &job, int64_t stage);

/// Returns for how many copies a command runs at a time: those of its turn if
/// it is in a loop over turns, else all.
int64_t countCopiesAtOnce(Operation *command, const Job &job);

/// Returns the numbers of the segments that a worker of `stage` (see
/// countResidentBytes) has.
std::set<int64_t> findWorkerSegments(ModuleOp module, const Job &job,
                                     int64_t stage);

/// Returns the number of copies in a turn of the step's schedule; the number of
/// all copies if they take no turns, or if the runtime chooses the turns.
int64_t getTurnCopies(ModuleOp module, const Job &job);

/// The memory and transfers of a module within a memory budget, as
/// hfta-schedule-transfers would plan them.
struct TransferNeeds {
  int64_t bytes = 0;       ///< memory of the program, including its arena
  int64_t leastBytes = 0;  ///< the least memory, with fewer copies per turn
  int64_t copies = 1;      ///< copies per turn, for `bytes`
  bool takesTurns = false; ///< whether copies go through a step in turns
  /// The part of `bytes` outside of the arena, and how much that is with one
  /// copy per turn.
  int64_t residentBytes = 0, residentBytesOfOne = 0;
  /// Bytes that are read from the store and written to it, per step.
  int64_t movedBytes = 0;
  /// Whether each turn runs several steps, so that fewer bytes are moved.
  bool takesSeveralSteps = false;
};

/// Returns the needs of a scheduled module whose transfers aren't planned yet.
/// Tries the number of copies per turn that the module's plan has and, if that
/// needs more than the budget, smaller ones. Leaves the last number that it
/// tried in the schedules' loops over turns.
TransferNeeds measureTransfers(ModuleOp module, const Job &job);

/// Returns the bytes of scratch memory that a thread needs for the largest
/// launched kernel, or nothing if a kernel isn't lowered.
std::optional<int64_t> findScratch(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SPILL_MEMORYNEEDS_H
