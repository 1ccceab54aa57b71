//===- StageMemory.h - Memory that a stage's worker needs -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_STAGEMEMORY_H
#define HFTA_LIB_DRIVER_STAGEMEMORY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Whether a segment counts as part of the memory: constants lie in the
/// binary's image, and scratch memory exists once per thread.
bool isResident(Role role);

/// Returns, for each stage of a scheduled module, the bytes that its largest
/// worker needs with all copies at a time: all segments that its schedules
/// touch, and the batches of data that it reads ahead. The number that the
/// program's `info` gives for this worker is less where copies take turns, and
/// also includes the scratch memory of its threads.
SmallVector<int64_t> getWorkerBytes(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_STAGEMEMORY_H
