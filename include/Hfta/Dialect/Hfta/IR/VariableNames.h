//===- VariableNames.h - Symbols of variables -------------------*- C++ -*-===//
//
// How symbols are chosen so that no two of a module collide. A model's tensors
// have the names that its file gives them, which in ONNX files may hold any
// character; symbols that the compiler declares itself begin with "hfta.". A
// model's name that begins so, or like the symbols of functions, gets a prefix,
// so that no name of a user collides with a variable of the compiler.
//
//   step                  "hfta.step"
//   lr, a setting         "hfta.hyper_parameter/lr"
//   gradient of fc.weight "hfta.gradient/fc.weight"
//   "hfta.step" of a file "hfta.model/hfta.step"
//
// Symbols are for readers: passes find a variable by its `purpose`
// (VariableIndex.h), and users see it by its `known_as`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
#define HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta::names {

/// The prefix of symbols of functions that compute a task, and of kernels.
constexpr StringLiteral kTaskPrefix = "task/";
constexpr StringLiteral kKernelPrefix = "kernel/";

/// Returns 63 bits of a name's FNV-1a hash: the random stream of values that
/// are drawn under this name. Source: Fowler, Noll and Vo, IETF
/// draft-eastlake-fnv.
int64_t hash(StringRef name);

/// Returns a symbol that no model's tensor has.
std::string getCompilerSymbol(const Twine &text);
/// Returns the symbol of a tensor that a model's file or a job's layer calls
/// `name`.
std::string getModelSymbol(StringRef name);

} // namespace mlir::hfta::names

#endif // HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
