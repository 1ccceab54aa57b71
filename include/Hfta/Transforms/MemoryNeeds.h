//===- MemoryNeeds.h - Memory that a program has all the time ---*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_MEMORYNEEDS_H
#define HFTA_TRANSFORMS_MEMORYNEEDS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <set>

namespace mlir::hfta {

/// Returns the most bytes that a worker occupies for as long as it runs, on any
/// number of ranks, with as many threads as the job's budget is for and turns
/// of `copies` copies: the resident segments, the batches of data that it reads
/// ahead, the data that come from other ranks, and what its kernels and the
/// store need in addition. The worker is one of `stage`, or with -1 the one of
/// a program of one stage; in a program of several stages -1 is the process
/// that runs what belongs to no stage. If kernels aren't lowered yet, the
/// scratch memory of a thread is taken from the module's `hfta.scratch_bytes`,
/// or else guessed. Together with the worker's arena this is what the runtime
/// calls `peak_bytes` (hfta_workload_memory).
int64_t countResidentBytes(ModuleOp module, const Job &job, int64_t copies,
                           int64_t stage);

/// Returns the bytes of the arena that the schedules of such a worker use, once
/// their transfers are planned.
int64_t countArenaBytes(ModuleOp module, const Job &job, int64_t stage);

/// Returns how many copies a command is for at a time: those of its turn, or
/// all.
int64_t countCopiesAtOnce(Operation *command, const Job &job);

/// Finds the numbers of the segments that such a worker has.
std::set<int64_t> findWorkerSegments(ModuleOp module, const Job &job,
                                     int64_t stage);

/// Returns how many copies a turn has in the step of a scheduled module; all
/// where copies take no turns, or where the host chooses the turns.
int64_t getTurnCopies(ModuleOp module, const Job &job);

/// The memory and transfers that hfta-schedule-transfers would need.
struct TransferNeeds {
  int64_t bytes = 0;       ///< the program's, with its arena
  int64_t leastBytes = 0;  ///< likewise, in turns of fewer copies
  int64_t copies = 1;      ///< in a turn
  bool takesTurns = false; ///< false: all copies go through a step together
  /// The share of `bytes` that the program occupies as long as it runs, and how
  /// much that would be with turns of one copy.
  int64_t residentBytes = 0, residentBytesOfOne = 0;
  /// The bytes that a step reads from the store and writes to it, and whether
  /// this is so because copies take turns of several steps.
  int64_t movedBytes = 0;
  bool takesSeveralSteps = false;
};

/// Measures a scheduled module whose transfers aren't planned yet, in turns of
/// as many copies as its plan has. Notes the turns in the module.
TransferNeeds measureTransfers(ModuleOp module, const Job &job);

/// Returns the bytes of scratch memory that a thread needs for the largest of
/// the launched kernels; nothing if some of them aren't lowered.
std::optional<int64_t> findScratch(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_MEMORYNEEDS_H
