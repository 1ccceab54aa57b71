//===- VariableNames.h - Symbols of variables -------------------*- C++ -*-===//
//
// Chooses symbols so that no two in a module collide. A model's tensors have
// the names of its file, which in ONNX files may contain any character. Symbols
// of the compiler begin with "hfta.". If a model's name begins like a symbol of
// the compiler, or like one of functions, it gets a prefix, so that no user's
// name collides with the compiler's.
//
//   variable                     symbol
//   step                         "hfta.step"
//   the hyper-parameter lr       "hfta.hyper_parameter/lr"
//   the gradient of fc.weight    "hfta.gradient/fc.weight"
//   "hfta.step" in a model file  "hfta.model/hfta.step"
//
// Symbols are only for readers of modules. Passes find a variable by its
// `purpose` (VariableIndex.h), and users see its name `known_as`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
#define HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta::names {

/// Prefix of the symbols of functions that compute a task.
constexpr StringLiteral kTaskPrefix = "task/";
/// Prefix of the symbols of kernels.
constexpr StringLiteral kKernelPrefix = "kernel/";

/// Returns the upper 63 bits of the FNV-1a hash of a name. It identifies the
/// stream of random numbers that are drawn for the tensor of this name. Source:
/// Fowler, Noll and Vo, IETF draft-eastlake-fnv.
int64_t hash(StringRef name);

/// Returns the symbol "hfta.TEXT", which no tensor of a model has.
std::string getCompilerSymbol(const Twine &text);
/// Returns the symbol of the tensor that a model's file, or a layer of a job,
/// calls `name`.
std::string getModelSymbol(StringRef name);

} // namespace mlir::hfta::names

#endif // HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
