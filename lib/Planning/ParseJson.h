//===- ParseJson.h - JSON from files of users -------------------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_PARSEJSON_H
#define HFTA_LIB_PLANNING_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace mlir::hfta::planning {

/// Parses JSON as llvm::json::parse does. Since the stack of that function
/// grows with each bracket, values that are nested deeper than any of ours are
/// an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_PARSEJSON_H
