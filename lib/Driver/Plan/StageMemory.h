//===- StageMemory.h - Memory that a stage's worker needs -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_STAGEMEMORY_H
#define HFTA_LIB_DRIVER_PLAN_STAGEMEMORY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Returns whether segments of this role count as memory of a worker. Constants
/// don't, as they are part of the binary's image; nor does scratch memory,
/// which exists once per thread.
bool isResident(Role role);

/// Returns, for each stage of a scheduled module, the bytes that its largest
/// worker needs if all copies run at a time: all segments that its schedules
/// access, and the batches of data that it reads ahead. The program's command
/// `info` differs: it gives less where copies take turns, and includes the
/// threads' scratch memory.
SmallVector<int64_t> getWorkerBytes(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_STAGEMEMORY_H
