//===- Passes.h - Transformations on the hfta dialect -----------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_PASSES_H
#define HFTA_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Hfta/Transforms/Passes.h.inc"

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PASSES_H
