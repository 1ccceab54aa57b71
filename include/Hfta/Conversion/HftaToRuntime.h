//===- HftaToRuntime.h - Tasks and tables for the C runtime -----*- C++ -*-===//
//
// Tasks, schedules, variables and the job become the constant tables of
// runtime/include/hfta/program.h.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_HFTATORUNTIME_H
#define HFTA_CONVERSION_HFTATORUNTIME_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTHFTATORUNTIME
#include "Hfta/Conversion/Passes.h.inc"

/// Of a program for GPUs: the hfta_image_table of its kernels, which code
/// generation defines.
inline constexpr llvm::StringLiteral kImagesSymbol = "hfta_images";

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_HFTATORUNTIME_H
