//===- Notes.cpp - Messages that are neither errors nor remarks -----------===//

#include "Hfta/Dialect/Hfta/IR/Notes.h"

using namespace mlir;

static constexpr llvm::StringLiteral kMark = "hfta.note";

void hfta::emitNote(Location location, const Twine &message) {
  InFlightDiagnostic diagnostic = emitRemark(location, message);
  if (Diagnostic *own = diagnostic.getUnderlyingDiagnostic())
    own->getMetadata().push_back(DiagnosticArgument(StringRef(kMark)));
}

bool hfta::isNote(Diagnostic &diagnostic) {
  return llvm::any_of(
      diagnostic.getMetadata(), [](const DiagnosticArgument &mark) {
        return mark.getKind() ==
                   DiagnosticArgument::DiagnosticArgumentKind::String &&
               mark.getAsString() == kMark;
      });
}
