//===- Target.h - Kinds of devices ------------------------------*- C++ -*-===//
//
// A target is a kind of device that programs are compiled for. All that the
// compiler knows of one is behind the class Target, of which each target has
// one instance, in a folder of its own (lib/Target/Cpu, lib/Target/Cuda).
// docs/adding-a-target.md lists what a new one needs.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_TARGET_H
#define HFTA_TARGET_TARGET_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Support/ExitCode.h"
#include "Hfta/Target/FormingPolicy.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

struct Job;
class Target;

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// The settings that the pipelines of all phases need.
struct PipelineSettings {
  /// The target that the module is compiled for, and its attribute. Phases up
  /// to `fused` don't need them.
  const Target *target = nullptr;
  TargetAttr machine;
  std::vector<std::string> cuts;
  /// Whether hfta-plan-spill plans which values stay in memory during a step.
  /// Only relevant with a memory budget.
  bool plansMemory = true;
  /// Whether the program that calls a generated library may run several
  /// backwards before an update (gradient accumulation).
  bool accumulates = false;
  /// Whether each step of lowering kernels is followed by a check that sums
  /// keep their order.
  bool verifySums = false;
};

/// The form of a phase's output.
enum class PhaseForm {
  module, ///< an MLIR module
  file,   ///< one file, or standard output
  linked  ///< the output of a linker or archiver
};

/// The form in which the host's code is written.
enum class HostCode { object, assembly, llvmIR };

struct PhaseInfo {
  llvm::StringLiteral name; ///< as in --emit
  PhaseForm form;
  llvm::StringLiteral description;
  /// Suffix of the default output file's name; empty if the default is standard
  /// output.
  llvm::StringLiteral suffix;
  /// Adds the passes from the previous phase to this one. Null for `import`,
  /// and for phases after MLIR.
  void (*addPasses)(OpPassManager &pm, const PipelineSettings &settings);
  /// The exit code if one of the phase's passes fails.
  ExitCode failure;
  /// For phases after MLIR.
  HostCode hostCode = HostCode::object;
};

/// A phase is the address of its description, which is a constant.
using Phase = const PhaseInfo *;

//===----------------------------------------------------------------------===//
// Options and device code
//===----------------------------------------------------------------------===//

/// The given options of a target, by name (with the dashes).
using TargetOptions = llvm::StringMap<std::string>;

/// An error of a command line.
struct UsageError {
  std::string message, hint; ///< the hint may be empty
};

/// An option of hftac that belongs to a target.
struct TargetOption {
  llvm::StringLiteral name;  ///< with its dashes
  llvm::StringLiteral value; ///< name of the value in --help
  llvm::StringLiteral help;
  /// Whether the option names machines, which `Target::resolve` describes.
  bool namesMachines;
  /// The first phase whose modules don't depend on the option any more; null if
  /// all do.
  Phase end;
  /// Checks a given value.
  std::optional<UsageError> (*check)(llvm::StringRef value);
};

/// A row of the program's table of images (`hfta_image_table`).
struct DeviceImage {
  std::string chip, data;
  uint32_t kind;   ///< hfta_image_kind
  bool warpGroups; ///< whether the image has kernels of warp groups
};

/// The code for a device that isn't the host.
struct DeviceCode {
  std::vector<DeviceImage> images;
  /// The code as text, if the phase asks for text; then there are no images.
  std::optional<std::string> text;
};

/// Makes the code for a device that isn't the host.
class DeviceCompiler {
public:
  virtual ~DeviceCompiler();
  /// Takes the device's kernels out of a program's module and compiles them.
  /// Calls `begin` with the name of each long step when it begins. Writes what
  /// is wrong to `errors`, or reports it at ops.
  virtual ExitCode compile(ModuleOp module,
                           llvm::function_ref<void(llvm::StringRef)> begin,
                           llvm::raw_ostream &errors, DeviceCode &code) = 0;
};

/// The peak rates of a device, for lower bounds of times.
struct DeviceRates {
  std::string name; ///< "sm_80 (A100)"
  double bytes;     ///< memory bandwidth, in bytes per second
  double flops;     ///< f32 operations per second
  /// Operations per second of products of tf32, and of bf16 or f16.
  double tf32, narrow;
  double launch; ///< seconds between two consecutive kernels
};

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

class Target {
public:
  virtual ~Target();

  /// The name, as in `--target`, `#hfta.target` and `hfta_program::target`.
  virtual llvm::StringRef getName() const = 0;
  /// Prints the devices, for --list-targets.
  virtual void printDevices(llvm::raw_ostream &os) const = 0;

  /// Returns the options of hftac that are for this target alone.
  virtual llvm::ArrayRef<TargetOption> getOptions() const = 0;
  /// Checks options, which are valid by themselves, against each other and the
  /// phase that is asked for.
  virtual std::optional<UsageError> checkOptions(const TargetOptions &,
                                                 Phase) const {
    return std::nullopt;
  }
  /// Returns the attribute for the machines that the options name, or reasons
  /// why there is none on this host.
  virtual std::optional<UsageError> resolve(MLIRContext *context,
                                            const TargetOptions &options,
                                            TargetAttr &target) const = 0;
  /// Returns whether `machine`, which may come from a text, describes machines
  /// of this target that the compiler knows.
  virtual bool accepts(Attribute machine) const = 0;
  /// Returns what of the job, which is otherwise right, the target has no
  /// support for: "a budget of memory". Empty if it supports all.
  virtual llvm::StringRef findUnsupported(const Job &) const { return ""; }

  /// Returns the policy by which passes form kernels.
  virtual const FormingPolicy &getForming() const = 0;
  /// Adds the passes that prepare the ops of tasks, composites already
  /// decomposed, for being formed into kernels.
  virtual void addFormingPasses(OpPassManager &pm, bool accumulates) const = 0;
  /// Adds the passes that lower the kernels of planned tasks only as far as
  /// needed to know the size of their scratch memory.
  virtual void addScratchPasses(OpPassManager &) const {}
  /// Returns the devices by whose rates times are estimated. If there is none,
  /// times are estimated by planning's reference rates, and the estimate of a
  /// step is noted in the program.
  virtual llvm::ArrayRef<DeviceRates> getRates() const { return {}; }

  /// Returns the phases that only this target has, in order. They are between
  /// `linalg` and `obj`.
  virtual llvm::ArrayRef<PhaseInfo> getPhases() const = 0;
  /// Returns the phase in which the module's kernels are about to be lowered to
  /// functions of LLVM that can be compiled one by one, so that a cache of
  /// compiled kernels may replace them. Null if there is none.
  virtual Phase getKernelPhase() const { return nullptr; }
  /// Registers the dialects and translations that the target's own phases use.
  virtual void registerDialects(DialectRegistry &) const {}

  /// Returns whether a program has images with code of the device, which isn't
  /// the host.
  virtual bool hasImages() const { return false; }
  /// Creates what compiles code for the device, up to the phase that is asked
  /// for. May write warnings to `errors`. Null if there is no such code, or
  /// after an error, which it writes, too, and whose code `failure` then has.
  virtual std::unique_ptr<DeviceCompiler>
  createDeviceCompiler(const TargetOptions &, TargetAttr, Phase,
                       llvm::raw_ostream &, ExitCode &) const {
    return nullptr;
  }

  /// Returns the target of the module that contains `op`, or the default target
  /// if the module has none. If the module's target isn't registered, reports
  /// an error at the module and returns null.
  static const Target *read(Operation *op);
};

/// Adds a target to those that are known, unless it was added before. The first
/// one is the default. `target` must live as long as the process. Not
/// thread-safe.
void registerTarget(const Target &target);
/// Returns the known targets in the order of their registration.
llvm::ArrayRef<const Target *> getTargets();
/// Returns the target of this name, or null.
const Target *findTarget(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_TARGET_TARGET_H
