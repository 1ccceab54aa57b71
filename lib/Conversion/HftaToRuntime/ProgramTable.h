//===- ProgramTable.h - The hfta_program of a module ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H

#include "ConstantTables.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Creates one image for each segment; null if its memory starts as zeros.
LogicalResult buildSegmentImages(ModuleOp module, ConstantTables &tables,
                                 SmallVectorImpl<FlatSymbolRefAttr> &images);

/// Returns a segment's name, for messages and `info`: its role and its block,
/// and whatever distinguishes it from another segment with the same of both.
std::string makeSegmentName(SegmentAttr segment, ArrayAttr segments);

/// Emits the constant `symbol` of type hfta_program.
LogicalResult buildProgramTable(ModuleOp module, const Job &job,
                                StringRef symbol);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
