//===- MemoryNeeds.h - Memory that a program has all the time ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEMORYNEEDS_H
#define HFTA_LIB_TRANSFORMS_MEMORYNEEDS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Bytes that a program of one stage has on one rank as long as it runs, with
/// as many threads as the job's budget is for and turns of so many copies: its
/// resident segments, the batches of data that it reads ahead, and what its
/// kernels and the store need besides. With the arena it is what the runtime
/// calls `peak_bytes` (hfta_workload_memory).
int64_t countResidentBytes(ModuleOp module, const Job &job, int64_t copies);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEMORYNEEDS_H
