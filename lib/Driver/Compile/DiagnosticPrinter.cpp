//===- DiagnosticPrinter.cpp - Prints diagnostics of hftac ----------------===//

#include "Compile/DiagnosticPrinter.h"
#include "Hfta/Dialect/Hfta/IR/Notes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

/// Returns the first file location within `location`, or null, and sets `name`
/// to the innermost name around it.
static FileLineColLoc findFile(Location location, StringRef &name) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file;
  if (auto named = dyn_cast<NameLoc>(location)) {
    name = named.getName();
    return findFile(named.getChildLoc(), name);
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return findFile(call.getCallee(), name);
  if (auto opaque = dyn_cast<OpaqueLoc>(location))
    return findFile(opaque.getFallbackLocation(), name);
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (FileLineColLoc file = findFile(inner, name))
        return file;
  return nullptr;
}

static llvm::SMLoc findText(llvm::SourceMgr &sources, FileLineColLoc file) {
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id)
    if (sources.getMemoryBuffer(id)->getBufferIdentifier() ==
        file.getFilename().getValue())
      return sources.FindLocForLineAndColumn(
          id, file.getLine(), std::max<unsigned>(file.getColumn(), 1));
  return llvm::SMLoc();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static llvm::SourceMgr::DiagKind getKind(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return llvm::SourceMgr::DK_Error;
  case DiagnosticSeverity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case DiagnosticSeverity::Note:
    return llvm::SourceMgr::DK_Note;
  case DiagnosticSeverity::Remark:
    return llvm::SourceMgr::DK_Remark;
  }
  llvm_unreachable("all severities are listed");
}

static StringRef getWord(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("all severities are listed");
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context,
                                     llvm::SourceMgr &sources, raw_ostream &os,
                                     bool remarks)
    : ScopedDiagnosticHandler(context), sources(sources), os(os),
      remarks(remarks) {
  setHandler([this](Diagnostic &diagnostic) { print(diagnostic); });
}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  DiagnosticSeverity severity = diagnostic.getSeverity();
  if (isNote(diagnostic))
    severity = DiagnosticSeverity::Note;
  if (severity == DiagnosticSeverity::Remark && !remarks)
    return;
  if (severity == DiagnosticSeverity::Error)
    ++errors;
  print(diagnostic.getLocation(), severity, diagnostic.str());
  for (Diagnostic &note : diagnostic.getNotes())
    print(note.getLocation(), note.getSeverity(), note.str());
}

void DiagnosticPrinter::print(Location location, DiagnosticSeverity severity,
                              StringRef message) {
  StringRef name;
  FileLineColLoc file = findFile(location, name);
  llvm::SMLoc text = file ? findText(sources, file) : llvm::SMLoc();
  if (text.isValid()) {
    sources.PrintMessage(os, text, getKind(severity), message, {}, {},
                         os.has_colors());
    return;
  }
  if (!file) {
    os << "hftac";
  } else {
    os << file.getFilename().getValue();
    if (file.getLine() != 0)
      os << ':' << file.getLine() << ':' << file.getColumn();
  }
  os << ": " << getWord(severity) << ": " << message;
  if (!name.empty() && !message.contains(("'" + name + "'").str()))
    os << " (at '" << name << "')";
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

void hfta::enableRemarks(MLIRContext *context) {
  remark::RemarkCategories categories;
  categories.all = categories.passed = categories.missed = categories.analysis =
      categories.failed = "hfta.*";
  (void)remark::enableOptimizationRemarks(
      *context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}
