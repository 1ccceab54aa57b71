//===- VariableNames.cpp - Symbols of variables ---------------------------===//

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::hfta;

/// The compiler's variables begin so, and with another separator what objects
/// define for the runtime.
static constexpr StringLiteral kPrefix = "hfta.";
static constexpr StringLiteral kAnyPrefix = "hfta";
static constexpr StringLiteral kModel = "model";
static constexpr StringLiteral kHyperParameter = "hyper_parameter";

std::string names::getSymbol(StringRef kind, StringRef symbol) {
  return (kPrefix + kind + "/" + symbol).str();
}

std::string names::getPortSymbol(StringRef kind, StringRef port) {
  return getSymbol(kind, getModelSymbol(port));
}

bool names::isOfKind(StringRef symbol, StringRef kind) {
  return symbol.consume_front(kPrefix) && symbol.consume_front(kind) &&
         symbol.starts_with("/");
}

StringRef names::getSubject(StringRef symbol) {
  return symbol.split('/').second;
}

std::string names::getHyperParameterSymbol(StringRef name) {
  return getSymbol(kHyperParameter, name);
}

std::string names::getModelSymbol(StringRef name) {
  bool isTaken =
      name.starts_with(kAnyPrefix) || name.starts_with(kTaskPrefix) ||
      name.starts_with(kKernelPrefix) ||
      llvm::is_contained({"forward", "prepare", "objective"}, name) ||
      llvm::is_contained(schedules::kAll, name);
  return isTaken ? getSymbol(kModel, name) : name.str();
}

std::string names::getOwnName(StringRef symbol) {
  if (!symbol.consume_front(kPrefix))
    return symbol.str();
  auto [kind, subject] = symbol.split('/');
  if (kind == kModel || kind == kHyperParameter)
    return subject.str();
  return subject.empty() ? kind.str()
                         : (kind + "/" + getOwnName(subject)).str();
}
