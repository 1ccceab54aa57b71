//===- FrontEnd.h - Job files to modules ------------------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FRONTEND_H
#define HFTA_LANGUAGE_FRONTEND_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Language/Parser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

struct FrontEndOptions {
  /// Where relative names of data files are looked up at compile time; empty:
  /// the job file's folder.
  std::string dataDirectory;
  /// Inputs of an ONNX model that are bound at compile time, by name.
  llvm::StringMap<DenseElementsAttr> constants;
  /// False: every copy is compiled alone.
  bool fuse = true;
};

/// Why there is no module; the driver's exit code follows from it.
enum class FrontEndFailure {
  none,
  usage,      ///< options contradict each other
  input,      ///< the job, a file that it names, or a model is wrong
  unsupported ///< a model needs something that Hfta doesn't have
};

/// What of a pipeline is left to the planner, and where the job speaks of it.
struct PipelineRequest {
  /// `pipeline auto`: stages are to be planned.
  bool plansStages = false;
  /// Parts of the model that each of these has; the module's job has one stage.
  int64_t chunks = 1;
  /// `pipeline plan("FILE")`: where they stand; empty: nowhere.
  std::string planFile;
  /// `order = file("FILE")`: what was read; empty: none.
  std::string orderFile;
  /// Nothing says how many micro-batches there are.
  bool plansMicroBatches = false;
  /// Of planned stages whose micro-batches are planned too: the job's `groups`,
  /// which that of the module leaves out.
  int64_t groups = Job::kAuto;
  /// Stages are given, and `order` is `auto`.
  bool plansOrder = false;
  llvm::SMRange range;                  ///< of the clause, or of `plan(...)`
  std::vector<llvm::SMRange> cutRanges; ///< of all names in `cuts`
  llvm::SMRange replicasRange;          ///< or of what stands in their place
  llvm::SMRange microBatchesRange;      ///< invalid: they aren't given
};

/// What a train block describes.
struct JobModule {
  std::string name;
  OwningOpRef<ModuleOp> module;
  PipelineRequest pipeline;
};

/// Reports train blocks that share a name.
void checkJobNames(const ast::JobFile &file, JobDiagnostics &diagnostics);

/// For each train block, in the file's order, the module that it describes:
/// `hfta.job` and one `hfta.model` a distinct model with @forward, @prepare and
/// @objective. None after a failure. What is wrong with a job goes to
/// `diagnostics`, what is wrong with an ONNX file to the context. A job whose
/// stages are to be planned is one stage of a worker, with one micro-batch if
/// their number is to be planned.
std::vector<JobModule> buildJobModules(MLIRContext *context,
                                       const ast::JobFile &file,
                                       const FrontEndOptions &options,
                                       JobDiagnostics &diagnostics,
                                       FrontEndFailure &failure);

/// The first one of them; null after a failure.
OwningOpRef<ModuleOp> buildJobModule(MLIRContext *context,
                                     const ast::JobFile &file,
                                     const FrontEndOptions &options,
                                     JobDiagnostics &diagnostics,
                                     FrontEndFailure &failure);

/// What flags say of a pipeline without a job.
struct PlanningFlags {
  /// Holds the settings of `cluster` and `pipeline`, the batch and its
  /// micro-batches.
  Job job;
  PipelineRequest pipeline;
};

/// Other flags than those of `cluster`, `pipeline`, `batch` and `micro_batches`
/// mustn't be among `flags`. Nothing after errors, which go to `diagnostics`.
std::optional<PlanningFlags> readPlanningFlags(llvm::ArrayRef<JobFlag> flags,
                                               JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FRONTEND_H
