//===- Builtins.h - Functions of the model language -------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H

#include "Analysis/Arguments.h"
#include "mlir/IR/Value.h"

namespace mlir::hfta::language {

class BodyBuilder;
class BuiltinCall;

/// One record per function. The tables are in Building, next to the code that
/// builds the functions; analysis reads names and kinds.
struct Builtin {
  llvm::StringLiteral name;
  llvm::ArrayRef<ParameterSpec> parameters;
  /// Returns null after an error, which is reported.
  Value (*build)(BodyBuilder &body, BuiltinCall &call);
  bool isLayer = false;  ///< has parameters
  bool isRandom = false; ///< draws random numbers
  bool variadic = false;
};

/// Returns null if there is no such function.
const Builtin *findBuiltin(llvm::StringRef name);
std::vector<llvm::StringRef> getBuiltinNames();

// One table per family.
llvm::ArrayRef<Builtin> getElementwiseBuiltins();
llvm::ArrayRef<Builtin> getLayerBuiltins();
llvm::ArrayRef<Builtin> getNormalizationBuiltins();
llvm::ArrayRef<Builtin> getPoolingBuiltins();
llvm::ArrayRef<Builtin> getReductionBuiltins();
llvm::ArrayRef<Builtin> getShapeBuiltins();

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H
