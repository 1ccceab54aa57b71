//===- MemoryNeeds.h - Memory that a program has all the time ---*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_MEMORYNEEDS_H
#define HFTA_TRANSFORMS_MEMORYNEEDS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <set>

namespace mlir::hfta {

/// The most bytes that a worker has on a rank as long as it runs, of any number
/// of ranks, with as many threads as the job's budget is for and turns of so
/// many copies: the resident segments, the batches of data that it reads ahead,
/// what comes from other ranks, and what its kernels and the store need
/// besides. It is one of a stage, or with -1 the one of a program of one stage;
/// of a program of several stages, who runs what isn't any stage's. Of kernels
/// that aren't lowered the module's `hfta.scratch_bytes` tells what a thread
/// needs, or else a guess. With the worker's arena it is what the runtime calls
/// `peak_bytes` (hfta_workload_memory).
int64_t countResidentBytes(ModuleOp module, const Job &job, int64_t copies,
                           int64_t stage);

/// How far the schedules of such a worker reach into the arena, once their
/// transfers are planned. Unit: bytes.
int64_t countArenaBytes(ModuleOp module, const Job &job, int64_t stage);

/// Copies that a command is for at a time: those of its turn, or all.
int64_t countCopiesAtOnce(Operation *command, const Job &job);

/// The segments that such a worker has, by number.
std::set<int64_t> findWorkerSegments(ModuleOp module, const Job &job,
                                     int64_t stage);

/// Copies of a turn in the step of a scheduled module; all where copies take no
/// turns, or the host chooses.
int64_t getTurnCopies(ModuleOp module, const Job &job);

/// What hfta-schedule-transfers would need.
struct TransferNeeds {
  int64_t bytes = 0;       ///< of the program, with its arena
  int64_t leastBytes = 0;  ///< the same in turns of fewer copies
  int64_t copies = 1;      ///< of a turn
  bool takesTurns = false; ///< or else all copies go through a step together
  /// Of `bytes` what the program has as long as it runs, and how much that is
  /// with turns of one copy.
  int64_t residentBytes = 0, residentBytesOfOne = 0;
  /// What a step reads from the store and writes to it, and whether that is so
  /// because copies take turns of several steps.
  int64_t movedBytes = 0;
  bool takesSeveralSteps = false;
};

/// Of a scheduled module, whose transfers aren't planned yet, in turns of as
/// many copies as its plan has. Turns are noted in the module.
TransferNeeds measureTransfers(ModuleOp module, const Job &job);

/// Bytes of scratch memory that a thread needs for the largest of the kernels
/// that are launched; nothing if some of these aren't lowered.
std::optional<int64_t> findScratch(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_MEMORYNEEDS_H
