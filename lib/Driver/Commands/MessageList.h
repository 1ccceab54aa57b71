//===- MessageList.h - Messages of hftac as data ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMMANDS_MESSAGELIST_H
#define HFTA_LIB_DRIVER_COMMANDS_MESSAGELIST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// A message that hftac has printed.
struct Message {
  std::string level; ///< error, warning, note, remark or hint
  std::string text;
  std::string file; ///< empty if it is about no file
  /// The line, counted from 1; 0 if the message is about the whole file.
  unsigned line = 0;
  /// The first byte of the line that it is about, and the one after the last,
  /// counted from 1.
  unsigned begin = 0, end = 0;
  std::string source; ///< the line's text; empty if it wasn't printed
  std::vector<Message> children; ///< hints, and notes about other places
};

/// Reads messages from the text that hftac prints about an input, in the form
/// that docs/hftac.md describes: the place, the level and the message; the
/// source line and a line that marks a part of it; a hint.
std::vector<Message> readMessages(llvm::StringRef text);

/// Returns an object with the fields `level`, `message`, `file`, `line`,
/// `column`, `end_column` (bytes from 1), `character`, `end_character` (the
/// same in characters) and `children`, without those that aren't known.
llvm::json::Value toJson(const Message &message);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMMANDS_MESSAGELIST_H
