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
  /// The folder of relative names of data files at compile time; empty: the job
  /// file's folder.
  std::string dataDirectory;
  /// Inputs of an ONNX model that are bound at compile time, by name.
  llvm::StringMap<DenseElementsAttr> constants;
  /// Whether copies are fused; if false, every copy is compiled separately.
  bool fuse = true;
  /// Whether dropout layers of an ONNX model pass on what they get.
  bool withoutDropout = false;
};

/// The reason why there is no module; the driver's exit code follows from it.
enum class FrontEndFailure {
  none,
  usage,      ///< options contradict each other
  input,      ///< the job, a file that it names, or a model is wrong
  unsupported ///< a model needs something that Hfta doesn't have
};

/// The parts of a pipeline that are left to the planner, and where the job
/// mentions them.
struct PipelineRequest {
  /// Whether stages are to be planned (`pipeline auto`).
  bool plansStages = false;
  /// Parts of the model that each planned stage has; the module's job has one
  /// stage.
  int64_t chunks = 1;
  /// The file with the stages (`pipeline plan("FILE")`); empty: none.
  std::string planFile;
  /// The file that the order was read from (`order = file("FILE")`); empty:
  /// none.
  std::string orderFile;
  /// Whether the number of micro-batches is not given.
  bool plansMicroBatches = false;
  /// The job's `groups`, which the module's job leaves out, if both the stages
  /// and their micro-batches are planned.
  int64_t groups = Job::kAuto;
  /// Whether the stages are given, and `order` is `auto`.
  bool plansOrder = false;
  llvm::SMRange range; ///< range of the clause, or of `plan(...)`
  std::vector<llvm::SMRange> cutRanges; ///< ranges of all names in `cuts`
  /// Range of `replicas`; without it, of the clause.
  llvm::SMRange replicasRange;
  llvm::SMRange microBatchesRange; ///< invalid: the number isn't given
};

/// A module together with the pipeline request of its train block.
struct JobModule {
  std::string name;
  OwningOpRef<ModuleOp> module;
  PipelineRequest pipeline;
};

/// Reports train blocks that share a name.
void checkJobNames(const ast::JobFile &file, JobDiagnostics &diagnostics);

/// Builds a module for each train block, in the file's order: `hfta.job`, and
/// one `hfta.model` per distinct model with @forward, @prepare and @objective.
/// Returns none after a failure. Errors in a job go to `diagnostics`, errors in
/// an ONNX file to the context. A job whose stages are to be planned gets one
/// stage of one worker, with one micro-batch if their number is to be planned
/// too.
std::vector<JobModule> buildJobModules(MLIRContext *context,
                                       const ast::JobFile &file,
                                       const FrontEndOptions &options,
                                       JobDiagnostics &diagnostics,
                                       FrontEndFailure &failure);

/// Builds the module of the first train block; returns null after a failure.
OwningOpRef<ModuleOp> buildJobModule(MLIRContext *context,
                                     const ast::JobFile &file,
                                     const FrontEndOptions &options,
                                     JobDiagnostics &diagnostics,
                                     FrontEndFailure &failure);

/// The description of a pipeline by flags, without a job.
struct PlanningFlags {
  /// Holds the settings of `cluster` and `pipeline`, the batch and its
  /// micro-batches.
  Job job;
  PipelineRequest pipeline;
};

/// Reads the flags, which may only be those of `cluster`, `pipeline`, `batch`
/// and `micro_batches`. Returns nothing after errors, which go to
/// `diagnostics`.
std::optional<PlanningFlags> readPlanningFlags(llvm::ArrayRef<JobFlag> flags,
                                               JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FRONTEND_H
