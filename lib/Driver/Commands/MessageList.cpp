//===- MessageList.cpp - Messages of hftac as data ------------------------===//

#include "Commands/MessageList.h"

#include "Hfta/Language/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr llvm::StringLiteral kLevels[] = {"error", "warning", "note",
                                                  "remark"};

/// Reads the place of "FILE:LINE:COLUMN: error: TEXT" or "FILE: error: TEXT".
static void readPlace(llvm::StringRef place, Message &message) {
  if (place == "hftac")
    return;
  auto [rest, column] = place.rsplit(':');
  auto [file, line] = rest.rsplit(':');
  if (column.getAsInteger(10, message.begin) ||
      line.getAsInteger(10, message.line)) {
    message.begin = message.line = 0;
    message.file = place.str();
    return;
  }
  message.file = file.str();
  message.end = message.begin;
}

/// Reads the first line of a message. Returns false if it is none.
static bool readHead(llvm::StringRef line, Message &message) {
  if (line.consume_front("hint: ")) {
    message.level = "hint";
    message.text = line.str();
    return true;
  }
  // The level that comes first: a message may hold the words of another one.
  size_t first = llvm::StringRef::npos;
  for (llvm::StringRef level : kLevels) {
    std::string mark = (": " + level + ": ").str();
    size_t at = line.find(mark);
    if (at >= first)
      continue;
    first = at;
    message = Message();
    message.level = level.str();
    message.text = line.drop_front(at + mark.size()).str();
    readPlace(line.take_front(at), message);
  }
  if (first != llvm::StringRef::npos)
    return true;
  if (!line.consume_front("hftac: "))
    return false;
  message.level = "note";
  message.text = line.str();
  return true;
}

/// Returns whether a line marks a part of the source line before it.
static bool isMark(llvm::StringRef line) {
  return line.contains('^') &&
         line.find_first_not_of(" \t^~") == llvm::StringRef::npos;
}

/// Reads the source line and its mark, if they are at the beginning of `lines`.
/// A line that isn't ASCII has no mark.
static void readSource(llvm::ArrayRef<llvm::StringRef> &lines,
                       Message &message) {
  if (message.line == 0 || lines.empty())
    return;
  llvm::StringRef source = lines.front();
  Message other;
  bool isForeign = !llvm::isASCII(source);
  if (isForeign && !readHead(source, other)) {
    message.source = source.str();
    lines = lines.drop_front();
  }
  if (isForeign || lines.size() < 2 || !isMark(lines[1]))
    return;
  message.source = source.str();
  size_t begin = lines[1].find_first_of("^~");
  size_t end = lines[1].find_last_of("^~") + 1;
  // A tab is printed as several columns, so that a mark under a line with tabs
  // tells no bytes.
  if (!source.contains('\t') && begin + 1 == message.begin)
    message.end = static_cast<unsigned>(end) + 1;
  lines = lines.drop_front(2);
}

std::vector<Message> hfta::readMessages(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> all;
  text.split(all, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::vector<Message> messages;
  for (llvm::ArrayRef<llvm::StringRef> lines = all; !lines.empty();) {
    Message message;
    bool isHead = readHead(lines.front(), message);
    if (!isHead && !messages.empty()) // another line of the last message
      messages.back().text += ("\n" + lines.front()).str();
    lines = lines.drop_front();
    if (!isHead)
      continue;
    readSource(lines, message);
    bool belongs = message.level == "hint" ||
                   (message.level == "note" && message.line != 0);
    if (belongs && !messages.empty())
      messages.back().children.push_back(std::move(message));
    else
      messages.push_back(std::move(message));
  }
  return messages;
}

/// Returns the number, counted from 1, of the character at a byte of a line.
static int64_t countCharacters(llvm::StringRef line, unsigned byte) {
  return 1 + llvm::count_if(line.take_front(byte - 1), [](char c) {
           return (c & 0xc0) != 0x80; // no byte that continues a character
         });
}

/// Returns the line that a message is about, as the file has it: what is
/// printed has spaces for tabs. Returns what was printed if the file can't be
/// read.
static std::string readLine(const Message &message) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      openText(message.file);
  if (!file) {
    llvm::consumeError(file.takeError());
    return message.source;
  }
  llvm::StringRef rest = (*file)->getBuffer();
  for (unsigned line = 1; line < message.line; ++line)
    rest = rest.split('\n').second;
  return rest.split('\n').first.str();
}

llvm::json::Value hfta::toJson(const Message &message) {
  llvm::json::Object object{{"level", message.level},
                            {"message", message.text}};
  if (!message.file.empty())
    object["file"] = message.file;
  if (message.line != 0) {
    object["line"] = message.line;
    object["column"] = message.begin;
    std::string source = message.source.empty() ? "" : readLine(message);
    if (!source.empty())
      object["character"] = countCharacters(source, message.begin);
    // Where the end isn't known, it is the beginning.
    if (message.end > message.begin) {
      object["end_column"] = message.end;
      if (!source.empty())
        object["end_character"] = countCharacters(source, message.end);
    }
  }
  if (!message.children.empty())
    object["children"] =
        llvm::json::Array(llvm::map_range(message.children, toJson));
  return object;
}
