//===- CommandLine.h - Options of hftac -------------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_COMMANDLINE_H
#define HFTA_DRIVER_COMMANDLINE_H

#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Driver/Phases.h"
#include "Hfta/Language/Parser.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta {

enum class Action {
  compile,
  help,
  version,
  listSupportedOps,
  listTargets,
  listSettings
};

enum class InputKind { job, onnx, mlir };

/// `--constant NAME=FILE.npy`.
struct ConstantBinding {
  std::string name;
  std::string path;
};

/// The kinds of GPU code that `--gpu-code` asks for.
struct GpuCode {
  bool cubin = true, ptx = true;
  bool emulated = false; ///< instead of both of them
  bool isGiven = false;
};

/// A job that hftac has written itself, for a model of the command line. Its
/// program runs in this process, and its dropout layers drop nothing.
struct GeneratedJob {
  std::string name; ///< the text's name in messages
  std::string text;
};

struct DriverOptions {
  Action action = Action::compile;
  std::vector<std::string> inputs;
  InputKind inputKind = InputKind::job;
  std::string job;    ///< the job of a job file to compile; empty: all jobs
  std::string output; ///< "-" for standard output
  TargetKind target = TargetKind::cpu;
  Phase emit = Phase::executable; ///< a phase on the target's path
  std::string cpu;                ///< empty if not given
  std::vector<std::string> chips; ///< names of GPU chips; empty if not given
  GpuCode gpuCode;
  std::string ptxas; ///< empty: search for it
  std::string dataDirectory;
  std::vector<JobFlag> jobFlags;
  std::vector<ConstantBinding> constants;
  std::vector<std::string> cuts;
  bool fuse = true;
  bool remarks = false;
  bool plan = false;
  bool planPipeline = false;
  std::string profile;  ///< empty if none
  std::string costs;    ///< a file of measured times of a job; empty if none
  std::string timeline; ///< empty if none
  std::string trace;    ///< drawn next to the timeline; empty if none
  int64_t profileSamples = 0; ///< 0 if not given
  std::string workload;       ///< the workload to simulate; empty if none
  bool json = false;          ///< prints the simulation as JSON
  bool checkGradients = false;
  std::string record; ///< empty: the file next to the model
  std::optional<GeneratedJob> generatedJob; ///< in place of a job file
  bool timing = false;
  bool verbose = false;
};

/// Reads the arguments, which don't include the program's name. Returns `done`,
/// or another code after writing an error message to `errors`. For an action
/// other than `compile` only the action is set.
ExitCode parseCommandLine(llvm::ArrayRef<const char *> arguments,
                          DriverOptions &options, llvm::raw_ostream &errors);

/// Returns the name of the generated library ("libNAME.a" → "NAME"); empty if
/// the output isn't a library or the name isn't a C identifier.
std::string getLibraryName(llvm::StringRef output);

void printHelp(llvm::raw_ostream &os);
void printVersion(llvm::raw_ostream &os);
void printSupportedOps(llvm::raw_ostream &os);
void printTargets(llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_COMMANDLINE_H
