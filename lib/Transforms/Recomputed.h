//===- Recomputed.h - Values that tasks compute again -----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_RECOMPUTED_H
#define HFTA_LIB_TRANSFORMS_RECOMPUTED_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Results of elementwise ops in kernels, and of all ops of `recompute` tasks,
/// that compute a value again, of the same operands, that training tasks have
/// computed for the same copy, or an evaluation's task of another block:
/// (again, first).
SmallVector<std::pair<Value, Value>> findRecomputed(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_RECOMPUTED_H
