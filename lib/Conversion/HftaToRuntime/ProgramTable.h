//===- ProgramTable.h - The hfta_program of a module ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H

#include "ConstantTables.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Creates an initial image for each segment of constants or scalars. Appends
/// one entry for each segment to `images`, null for a segment whose memory
/// starts as zeros. Fails if the contents of a variable are missing.
LogicalResult buildSegmentImages(ModuleOp module, ConstantTables &tables,
                                 SmallVectorImpl<FlatSymbolRefAttr> &images);

/// Returns a segment's name for messages and for `info`: its role, its block,
/// and suffixes that tell segments of the same role and block apart.
std::string makeSegmentName(SegmentAttr segment, ArrayAttr segments);

/// Creates the constant of type hfta_program, and all tables that it refers to,
/// under the name `symbol`.
LogicalResult buildProgramTable(ModuleOp module, const Job &job,
                                StringRef symbol);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMTABLE_H
