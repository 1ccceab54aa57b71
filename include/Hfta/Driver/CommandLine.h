//===- CommandLine.h - Options of hftac -------------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_COMMANDLINE_H
#define HFTA_DRIVER_COMMANDLINE_H

#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Driver/Phases.h"
#include "Hfta/Language/Parser.h"

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

/// What `--gpu-code` asks for.
struct GpuCode {
  bool cubin = true, ptx = true;
  bool emulated = false; ///< instead of both
  bool isGiven = false;
};

struct DriverOptions {
  Action action = Action::compile;
  std::vector<std::string> inputs;
  InputKind inputKind = InputKind::job;
  std::string job;    ///< which one of a job file; empty: all
  std::string output; ///< "-": standard output
  TargetKind target = TargetKind::cpu;
  Phase emit = Phase::executable; ///< on the target's path
  std::string cpu;                ///< empty: not given
  std::vector<std::string> chips; ///< of GPUs; empty: not given
  GpuCode gpuCode;
  std::string ptxas; ///< empty: wherever it is found
  std::string dataDirectory;
  std::vector<JobFlag> jobFlags;
  std::vector<ConstantBinding> constants;
  std::vector<std::string> cuts;
  bool fuse = true;
  bool remarks = false;
  bool plan = false;
  bool planPipeline = false;
  std::string profile;        ///< empty: none
  std::string costs;          ///< measured times of a job; empty: none
  std::string timeline;       ///< empty: none
  std::string trace;          ///< beside the timeline; empty: none
  int64_t profileSamples = 0; ///< 0: not given
  std::string workload;       ///< that is simulated; empty: none
  bool json = false;          ///< how that is printed
  bool timing = false;
  bool verbose = false;
};

/// Reads the arguments (without the program's name). Returns `done`, or another
/// code after it has written to `errors` what is wrong. With an action other
/// than `compile` nothing but that is set.
ExitCode parseCommandLine(llvm::ArrayRef<const char *> arguments,
                          DriverOptions &options, llvm::raw_ostream &errors);

/// Name of the generated library ("libNAME.a" → "NAME"); empty if there is
/// none or if it isn't an identifier of C.
std::string getLibraryName(llvm::StringRef output);

void printHelp(llvm::raw_ostream &os);
void printVersion(llvm::raw_ostream &os);
void printSupportedOps(llvm::raw_ostream &os);
void printTargets(llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_COMMANDLINE_H
