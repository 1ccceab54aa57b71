//===- CommandLine.h - Options of hftac -------------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_COMMANDLINE_COMMANDLINE_H
#define HFTA_DRIVER_COMMANDLINE_COMMANDLINE_H

#include "Hfta/Language/Parser.h"
#include "Hfta/Link/Link.h"
#include "Hfta/Pipelines/Phases.h"
#include "Hfta/Support/ExitCode.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta {

/// The action that the command line asks for.
enum class Action {
  compile,
  help,
  version,
  listSupportedOps,
  listTargets,
  listSettings
};

/// The kind of the input files, by their suffixes.
enum class InputKind { job, onnx, mlir };

/// The option `--constant NAME=FILE.npy`, which binds an input of an ONNX model
/// to a constant.
struct ConstantBinding {
  std::string name;
  std::string path;
};

/// The text of a job that isn't in a file, or isn't there yet.
struct JobText {
  std::string name; ///< the file name in messages
  std::string text; ///< the job, as in a job file
};

/// All options of a command line.
struct DriverOptions {
  Action action = Action::compile;
  std::vector<std::string> inputs;
  InputKind inputKind = InputKind::job;
  std::string job;    ///< the job of a job file to compile; empty: all jobs
  std::string output; ///< "-" for standard output
  /// The target of `--target`; without it the default one. An .mlir input that
  /// names its target is compiled for that.
  const Target *target = getTargets().front();
  bool isTargetGiven = false;
  Phase emit = &phases::executable; ///< a phase on the target's path
  TargetOptions targetOptions;
  std::optional<Linker> linker; ///< without it the default one
  std::string dataDirectory;
  std::vector<JobFlag> jobFlags;
  std::vector<ConstantBinding> constants;
  std::vector<std::string> cuts;
  bool fuse = true;
  bool remarks = false;
  bool plan = false;
  bool printsPlan = true; ///< whether the plan is printed, not only made
  bool planPipeline = false;
  std::string profile;  ///< a layer profile to plan for; empty if none
  std::string costs;    ///< a file with a job's measured times; empty if none
  std::string timeline; ///< the SVG file to write; empty if none
  std::string trace;    ///< a trace to draw beside the timeline; empty if none
  int64_t profileSamples = 0; ///< 0 if not given
  std::string workload;       ///< the workload to simulate; empty if none
  bool json = false;          ///< whether to print the simulation as JSON
  /// Whether to compare gradients with recorded ones. Then the job's program
  /// runs in this process, and dropout layers pass on their inputs unchanged.
  bool checkGradients = false;
  std::string record; ///< for `checkGradients`; empty: the file next to the
                      ///< model
  std::optional<JobText> jobText; ///< in place of what a job file contains
  bool timing = false;
  bool verbose = false;
};

/// Reads the arguments (without the program's name) into `options`. Returns
/// `done`, or another code after writing an error message to `errors`. For an
/// action other than `compile`, only the action is set.
ExitCode parseCommandLine(llvm::ArrayRef<const char *> arguments,
                          DriverOptions &options, llvm::raw_ostream &errors);

/// Returns the name of the library that the output path asks for: NAME for
/// "libNAME.a". Returns an empty string if the path isn't of this form or NAME
/// isn't a C identifier.
std::string getLibraryName(llvm::StringRef output);

/// A command, by which hftac does something else than to compile. It is the
/// first argument; that of a compilation is an option, or an input, whose
/// suffix tells it from a command.
struct CommandInfo {
  llvm::StringRef name;
  llvm::StringRef synopsis; ///< the arguments, for --help
  llvm::StringRef help;
  /// Runs the command with what follows its name. Messages go to `errors`,
  /// results to the standard output.
  ExitCode (*run)(llvm::ArrayRef<llvm::StringRef> arguments,
                  llvm::raw_ostream &errors);
};

void printHelp(llvm::raw_ostream &os, llvm::ArrayRef<CommandInfo> commands);
void printVersion(llvm::raw_ostream &os);
void printSupportedOps(llvm::raw_ostream &os);
void printTargets(llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_COMMANDLINE_COMMANDLINE_H
