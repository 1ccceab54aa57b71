//===- Options.h - The table of hftac's options -----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_OPTIONS_H
#define HFTA_LIB_DRIVER_OPTIONS_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

enum class OptionGroup { output, target, job, binding, report, other };

/// The state of parsing the command line.
struct CommandLineState {
  DriverOptions &options;
  llvm::raw_ostream &errors;
  /// The options given that only make sense with a job, as typed.
  std::vector<std::string> jobOptionNames;
  std::string emitted; ///< the name in --emit, as typed; empty if not given
  std::vector<std::string> optionNames; ///< all options given, as typed

  /// Writes a message and, if there is one, a hint.
  ExitCode fail(ExitCode code, const llvm::Twine &message,
                const llvm::Twine &hint = "");
};

struct OptionInfo {
  std::string name; ///< including the dashes
  llvm::StringRef
      value; ///< the value's placeholder in --help; empty if there is no value
  llvm::StringRef help;
  OptionGroup group;
  ExitCode (*apply)(CommandLineState &state, const OptionInfo &option,
                    llvm::StringRef value);
};

/// Returns all options, in the order of --help.
std::vector<OptionInfo> getOptions();

llvm::StringRef getTitle(OptionGroup group);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_OPTIONS_H
