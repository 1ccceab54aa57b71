//===- FrontEnd.h - Job files to modules ------------------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FRONTEND_H
#define HFTA_LANGUAGE_FRONTEND_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Language/Parser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

struct FrontEndOptions {
  /// The folder to which names of data files are relative at compile time; if
  /// empty, the job file's folder.
  std::string dataDirectory;
  /// Inputs of an ONNX model that are bound to constants, by name.
  llvm::StringMap<DenseElementsAttr> constants;
  /// Whether copies are fused; if false, every copy has its own ops.
  bool fuse = true;
  /// The number of slots of a search that leaves it open.
  int64_t automaticSlots = 8;
  /// Whether dropout layers of an ONNX model pass on their inputs unchanged.
  bool withoutDropout = false;
};

/// The reason why no module was built, from which the driver derives its exit
/// code.
enum class FrontEndFailure {
  none,
  usage,      ///< options contradict each other
  input,      ///< the job, a file that it names, or a model is wrong
  unsupported ///< a model needs something that Hfta doesn't have
};

/// Those parts of a job's pipeline that the planner is to choose, with the
/// source ranges of what the job says about its pipeline.
struct PipelineRequest {
  /// Whether stages are to be planned (`pipeline auto`).
  bool plansStages = false;
  /// The number of parts of the model per planned stage. (The job in the module
  /// has only one stage.)
  int64_t chunks = 1;
  /// The file with the stages, from `pipeline plan("FILE")`; empty if there is
  /// none.
  std::string planFile;
  /// The file from which the order was read, from `order = file("FILE")`; empty
  /// if there is none.
  std::string orderFile;
  /// Whether the number of micro-batches is to be planned.
  bool plansMicroBatches = false;
  /// The job's setting `groups`, if both the stages and the number of
  /// micro-batches are planned. The job in the module doesn't have it then.
  int64_t groups = Job::kAuto;
  /// Whether only the order is to be planned: the stages are given, and `order`
  /// is `auto`.
  bool plansOrder = false;
  llvm::SMRange range; ///< range of the clause `pipeline`, or of `plan(...)`
  std::vector<llvm::SMRange> cutRanges; ///< ranges of all names in `cuts`
  /// Range of the argument `replicas`, or of the clause if it has none.
  llvm::SMRange replicasRange;
  llvm::SMRange microBatchesRange; ///< invalid if the number isn't given
};

/// The module of a train block, and what remains to be planned of its pipeline.
struct JobModule {
  std::string name;
  std::string title; ///< the name and, of one of several arrays, its choices
  OwningOpRef<ModuleOp> module;
  PipelineRequest pipeline;
  /// The number of arrays of the job's search, and which of them this is. Each
  /// is a module of its own (docs/search.md, "Arrays").
  int64_t arrays = 1, array = 0;
};

/// Reports train blocks that have the same name.
void checkJobNames(const ast::JobFile &file, JobDiagnostics &diagnostics);

/// Builds a module for each train block, in the file's order; for one whose
/// search needs several arrays, a module for each of these. A module has the
/// attribute `hfta.job`, and one `hfta.model` for each distinct model, with
/// @forward, @prepare and @objective. If a job's stages are to be planned, its
/// module has one stage with one worker, and one micro-batch if their number is
/// to be planned too. Returns an empty list after a failure; errors in a job go
/// to `diagnostics`, errors in an ONNX file to the context.
std::vector<JobModule> buildJobModules(MLIRContext *context,
                                       const ast::JobFile &file,
                                       const FrontEndOptions &options,
                                       JobDiagnostics &diagnostics,
                                       FrontEndFailure &failure);

/// Builds the module of the first train block, like buildJobModules. Returns
/// null after a failure.
OwningOpRef<ModuleOp> buildJobModule(MLIRContext *context,
                                     const ast::JobFile &file,
                                     const FrontEndOptions &options,
                                     JobDiagnostics &diagnostics,
                                     FrontEndFailure &failure);

/// A pipeline that is described by flags only, without a job file.
struct PlanningFlags {
  /// Has the settings of `cluster` and `pipeline`, the batch and the number of
  /// micro-batches; all others are unset.
  Job job;
  PipelineRequest pipeline;
};

/// Reads flags, which may only be those of `cluster`, `pipeline`, `batch` and
/// `micro_batches`. Returns nothing after errors, which go to `diagnostics`.
std::optional<PlanningFlags> readPlanningFlags(llvm::ArrayRef<JobFlag> flags,
                                               JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FRONTEND_H
