//===- VariableNames.cpp - Symbols of variables ---------------------------===//

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Support/TaskNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::hfta;

/// The prefix of the symbols of the compiler's own variables. Symbols that
/// object files define for the runtime also begin with "hfta", but have another
/// separator.
static constexpr StringLiteral kPrefix = "hfta.";
static constexpr StringLiteral kAnyPrefix = "hfta";

int64_t names::hash(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 0x100000001b3u;
  return static_cast<int64_t>(hash >> 1);
}

std::string names::getCompilerSymbol(const Twine &text) {
  return (kPrefix + text).str();
}

std::string names::getModelSymbol(StringRef name) {
  bool isTaken =
      name.starts_with(kAnyPrefix) || name.starts_with(kTaskPrefix) ||
      name.starts_with(kKernelPrefix) ||
      llvm::is_contained({"forward", "prepare", "objective", "served"}, name) ||
      llvm::is_contained(schedules::kAll, name);
  return isTaken ? getCompilerSymbol("model/" + name) : name.str();
}
