//===- HftaToRuntime.h - Tasks and tables for the C runtime -----*- C++ -*-===//
//
// Turns tasks, schedules, variables and the job into the constant tables of
// runtime/include/hfta/program.h.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_HFTATORUNTIME_H
#define HFTA_CONVERSION_HFTATORUNTIME_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTHFTATORUNTIME
#include "Hfta/Conversion/Passes.h.inc"

/// Symbol of the hfta_image_table that holds a program's GPU kernels. The
/// conversion refers to the table, and code generation in the driver defines
/// it.
inline constexpr llvm::StringLiteral kImagesSymbol = "hfta_images";

/// The runtime's constant to which the table of a job with a search refers, so
/// that only such a program is linked with the code for searches.
inline constexpr llvm::StringLiteral kSearchCommandsSymbol =
    "hfta_search_commands";

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_HFTATORUNTIME_H
