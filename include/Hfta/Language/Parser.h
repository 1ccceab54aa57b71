//===- Parser.h - Job files and flags to syntax trees -----------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_PARSER_H
#define HFTA_LANGUAGE_PARSER_H

#include "Hfta/Language/AST.h"
#include "Hfta/Language/Diagnostics.h"

namespace mlir::hfta {

/// Parses a buffer of the diagnostics' SourceMgr. Errors are reported; the
/// parts that could be parsed are returned all the same.
ast::JobFile parseJobFile(unsigned bufferId, JobDiagnostics &diagnostics);

/// Returns the text as a string literal of the job language.
std::string quoteText(llvm::StringRef text);

/// A job option of the command line.
struct JobFlag {
  std::string name;  ///< without the dashes: "train-data", "seed", ...
  std::string value; ///< as typed
};

/// The options of the command line that concern a job, with or without a job
/// file.
struct JobOptions {
  /// ONNX files, one per copy if there are several; empty with a job file.
  std::vector<std::string> models;
  /// In the order of the command line: lists form their cross product in this
  /// order.
  std::vector<JobFlag> flags;
};

/// Writes the options into `file`, which is empty or comes from a job file: a
/// flag replaces the clause of its name in place, or is appended. Its text is
/// parsed as the clause's would be, in a buffer named after the flag. If there
/// are models but no flag about training, the file is marked as inference.
void addJobOptions(ast::JobFile &file, const JobOptions &options,
                   JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_PARSER_H
