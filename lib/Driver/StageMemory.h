//===- StageMemory.h - Memory that a stage's worker needs -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_STAGEMEMORY_H
#define HFTA_LIB_DRIVER_STAGEMEMORY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Whether a segment is part of memory; constants lie in the binary's image,
/// scratch is one a thread.
bool isResident(Role role);

/// Of each stage of a scheduled module, the bytes that the worker needs which
/// needs most, with all copies at a time: those of all segments that its
/// schedules touch, and of the batches of data that it reads ahead. What `info`
/// of the program plans for this worker is less where copies take turns, and
/// has the scratch memory of its threads besides.
SmallVector<int64_t> getWorkerBytes(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_STAGEMEMORY_H
