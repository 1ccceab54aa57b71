//===- ProgramTable.h - The hfta_program of a module ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H

#include "ConstantTables.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// One image a segment, null where memory starts as zeros.
LogicalResult buildSegmentImages(ModuleOp module, ConstantTables &tables,
                                 SmallVectorImpl<FlatSymbolRefAttr> &images);

/// What a segment is called in messages and by `info`: its role, its block, and
/// what tells it from another one of the table with the same.
std::string makeSegmentName(SegmentAttr segment, ArrayAttr segments);

/// Emits the constant `symbol` of type hfta_program.
LogicalResult buildProgramTable(ModuleOp module, const Job &job,
                                StringRef symbol);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
