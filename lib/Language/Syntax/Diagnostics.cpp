//===- Diagnostics.cpp - Errors of job files and flags --------------------===//

#include "Hfta/Language/Diagnostics.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

/// Source lines longer than this aren't printed with messages.
static constexpr size_t kMaxLine = 400;

void JobDiagnostics::print(llvm::SourceMgr::DiagKind kind, llvm::SMRange range,
                           const llvm::Twine &message) {
  llvm::SmallVector<llvm::SMRange, 1> ranges;
  if (range.isValid() && range.Start != range.End)
    ranges.push_back(range);
  llvm::SMDiagnostic diagnostic =
      sources.GetMessage(range.Start, kind, message, ranges);
  if (diagnostic.getLineContents().size() > kMaxLine)
    diagnostic = llvm::SMDiagnostic(
        sources, range.Start, diagnostic.getFilename(), diagnostic.getLineNo(),
        diagnostic.getColumnNo(), kind, diagnostic.getMessage(), "", {});
  sources.PrintMessage(os, diagnostic, os.has_colors());
}

void JobDiagnostics::error(llvm::SMRange range, const llvm::Twine &message,
                           const llvm::Twine &hint) {
  ++errors;
  bool isNew = said.emplace(range.Start.getPointer(), message.str()).second;
  if (isNew && said.size() == limit + 1)
    os << "more errors are not shown\n";
  isPrinted = isNew && said.size() <= limit;
  if (!isPrinted)
    return;
  print(llvm::SourceMgr::DK_Error, range, message);
  llvm::SmallString<64> text;
  hint.toVector(text);
  if (!text.empty())
    os << "hint: " << text << "\n";
}

void JobDiagnostics::note(llvm::SMRange range, const llvm::Twine &message) {
  if (isPrinted)
    print(llvm::SourceMgr::DK_Note, range, message);
}

FileLineColLoc JobDiagnostics::getLocation(MLIRContext *context,
                                           llvm::SMRange range) {
  unsigned buffer = sources.FindBufferContainingLoc(range.Start);
  if (buffer == 0)
    return FileLineColLoc::get(context, "", 0, 0);
  std::pair<unsigned, unsigned> place =
      sources.getLineAndColumn(range.Start, buffer);
  return FileLineColLoc::get(
      context, sources.getMemoryBuffer(buffer)->getBufferIdentifier(),
      place.first, place.second);
}
