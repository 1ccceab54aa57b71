//===- Parser.h - Job files and flags to syntax trees -----------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_PARSER_H
#define HFTA_LANGUAGE_PARSER_H

#include "Hfta/Language/AST.h"
#include "Hfta/Language/Diagnostics.h"

namespace mlir::hfta {

/// Parses a buffer of the diagnostics' SourceMgr. Reports errors, and returns
/// those parts that could be parsed.
ast::JobFile parseJobFile(unsigned bufferId, JobDiagnostics &diagnostics);

/// Returns `text` as a string literal of the job language.
std::string quoteText(llvm::StringRef text);

/// Makes a name of the language from a text such as a file's name without its
/// ending: "mnist-12" becomes "mnist_12". Other characters than letters and
/// digits become '_', and a name that would begin with a digit gets the prefix
/// "model_".
std::string makeJobName(llvm::StringRef text);

/// A job option on the command line, such as --seed.
struct JobFlag {
  std::string name;  ///< without the dashes: "train-data", "seed", ...
  std::string value; ///< as typed
};

/// All options on the command line that concern a job, with or without a job
/// file.
struct JobOptions {
  /// ONNX files: one for all copies, or one per copy. Empty if there is a job
  /// file.
  std::vector<std::string> models;
  /// The flags in the order of the command line. Lists of values form a cross
  /// product in this order.
  std::vector<JobFlag> flags;
};

/// Adds the options to `file`, which is empty or was parsed from a job file. A
/// flag replaces the clause of its name, or is appended. Its value is parsed
/// like the text of the clause, in a buffer named after the flag. If there are
/// models but no flag about training, the file is marked as inference.
void addJobOptions(ast::JobFile &file, const JobOptions &options,
                   JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_PARSER_H
