//===- ParseJson.cpp - JSON from files of users ---------------------------===//

#include "ParseJson.h"

/// Returns whether brackets outside of strings are nested at most `most` deep.
static bool isNestedAtMost(llvm::StringRef text, int64_t most) {
  int64_t depth = 0;
  bool isString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (isString && c == '\\')
      ++at;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > most)
      return false;
    else if (!isString && (c == ']' || c == '}'))
      --depth;
  }
  return true;
}

llvm::Expected<llvm::json::Value>
mlir::hfta::planning::parseJson(llvm::StringRef text) {
  constexpr int64_t kMostNested = 64;
  if (!isNestedAtMost(text, kMostNested))
    return llvm::createStringError("values are nested too deep");
  return llvm::json::parse(text);
}
