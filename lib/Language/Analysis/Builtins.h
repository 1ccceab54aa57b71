//===- Builtins.h - Functions of the model language -------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H

#include "Analysis/Arguments.h"
#include "mlir/IR/Value.h"

namespace mlir::hfta::language {

class BodyBuilder;
class BuiltinCall;

/// A function of the model language. The tables of these records are in
/// Building, next to the code that builds ops for the functions; the analysis
/// reads only their names and traits.
struct Builtin {
  llvm::StringLiteral name;
  llvm::ArrayRef<ParameterSpec> parameters;
  /// Builds the ops of a call and returns the result; null after an error,
  /// which was reported.
  Value (*build)(BodyBuilder &body, BuiltinCall &call);
  bool isLayer = false;  ///< has parameters
  bool isRandom = false; ///< draws random numbers
  bool variadic = false;
};

/// Returns the function with this name, or null if there is none.
const Builtin *findBuiltin(llvm::StringRef name);
std::vector<llvm::StringRef> getBuiltinNames();

// The tables, one for each family of functions.
llvm::ArrayRef<Builtin> getElementwiseBuiltins();
llvm::ArrayRef<Builtin> getLayerBuiltins();
llvm::ArrayRef<Builtin> getNormalizationBuiltins();
llvm::ArrayRef<Builtin> getPoolingBuiltins();
llvm::ArrayRef<Builtin> getReductionBuiltins();
llvm::ArrayRef<Builtin> getShapeBuiltins();

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_BUILTINS_H
