//===- Options.h - The table of hftac's options -----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_OPTIONS_H
#define HFTA_LIB_DRIVER_OPTIONS_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

enum class OptionGroup { output, target, job, binding, report, other };

/// What parsing has found so far.
struct CommandLineState {
  DriverOptions &options;
  llvm::raw_ostream &errors;
  /// Options that only make sense with a job, as typed.
  std::vector<std::string> jobOptionNames;
  std::string emitted;                  ///< as typed; empty: not given
  std::vector<std::string> optionNames; ///< all, as typed

  /// Writes a message and, if there is one, a hint.
  ExitCode fail(ExitCode code, const llvm::Twine &message,
                const llvm::Twine &hint = "");
};

struct OptionInfo {
  std::string name;      ///< with dashes
  llvm::StringRef value; ///< what stands in for it in --help; empty: none
  llvm::StringRef help;
  OptionGroup group;
  ExitCode (*apply)(CommandLineState &state, const OptionInfo &option,
                    llvm::StringRef value);
};

/// In the order of --help.
std::vector<OptionInfo> getOptions();

llvm::StringRef getTitle(OptionGroup group);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_OPTIONS_H
