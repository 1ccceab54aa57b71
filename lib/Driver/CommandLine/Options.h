//===- Options.h - The table of hftac's options -----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMMANDLINE_OPTIONS_H
#define HFTA_LIB_DRIVER_COMMANDLINE_OPTIONS_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

enum class OptionGroup { output, target, job, binding, report, other };

/// The state of parsing the command line.
struct CommandLineState {
  DriverOptions &options;
  llvm::raw_ostream &errors;
  /// The given options that need a job, as typed.
  std::vector<std::string> jobOptionNames;
  std::string emitted; ///< the argument of --emit, as typed; empty if not given
  std::vector<std::string> optionNames; ///< all given options, as typed

  /// Writes an error message and, unless it is empty, a hint. Returns `code`.
  ExitCode fail(ExitCode code, const llvm::Twine &message,
                const llvm::Twine &hint = "");
};

struct OptionInfo {
  std::string name;      ///< with its dashes
  llvm::StringRef value; ///< name of the value in --help; empty for a flag
  llvm::StringRef help;
  OptionGroup group;
  ExitCode (*apply)(CommandLineState &state, const OptionInfo &option,
                    llvm::StringRef value);
  /// Returns all values that the option may have; null if they can't be listed.
  llvm::SmallVector<llvm::StringRef> (*getChoices)() = nullptr;

  bool isFlag() const { return value.empty(); }
  /// Returns whether the option's value is a path.
  bool takesPath() const {
    return value.contains("FILE") || value.contains("DIR");
  }
};

/// Returns all options, in the order of --help.
std::vector<OptionInfo> getOptions();

llvm::StringRef getTitle(OptionGroup group);

/// All groups, in the order of --help.
inline constexpr OptionGroup kOptionGroups[] = {
    OptionGroup::output,  OptionGroup::target, OptionGroup::job,
    OptionGroup::binding, OptionGroup::report, OptionGroup::other};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMMANDLINE_OPTIONS_H
