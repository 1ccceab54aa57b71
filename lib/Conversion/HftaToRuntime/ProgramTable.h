//===- ProgramTable.h - The hfta_program of a module ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H

#include "ConstantTables.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// A task as the table lists it.
struct TaskEntry {
  std::string name;
  TaskAttr task;
  FlatSymbolRefAttr function;
  SmallVector<uint32_t> reads, writes; ///< segment numbers, ascending
  uint32_t flags = 0;
};

/// One image a segment, null where memory starts as zeros.
LogicalResult buildSegmentImages(ModuleOp module, ConstantTables &tables,
                                 SmallVectorImpl<FlatSymbolRefAttr> &images);

/// Emits the constant `symbol` of type hfta_program.
LogicalResult buildProgramTable(ModuleOp module, const Job &job,
                                ArrayRef<TaskEntry> tasks, int64_t scratchBytes,
                                StringRef symbol);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
