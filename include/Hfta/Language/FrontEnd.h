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

/// The module that the job describes: `hfta.job` and one `hfta.model` a
/// distinct model with @forward, @prepare and @objective. Null after a failure.
/// What is wrong with the job goes to `diagnostics`, what is wrong with an ONNX
/// file to the context.
OwningOpRef<ModuleOp> buildJobModule(MLIRContext *context,
                                     const ast::JobFile &file,
                                     const FrontEndOptions &options,
                                     JobDiagnostics &diagnostics,
                                     FrontEndFailure &failure);

/// What flags say of a pipeline without a job.
struct PlanningFlags {
  /// Holds the settings of `cluster` and `pipeline`, the batch and its
  /// micro-batches, which are Job::kAuto if nothing says how many.
  Job job;
  /// Whether `pipeline` gives the stages; else they are to be planned.
  bool givesStages = false;
  std::vector<llvm::SMRange> cutRanges; ///< of all names in `job.cuts`
  llvm::SMRange replicasRange;          ///< or of what stands in their place
};

/// Other flags than those of `cluster`, `pipeline`, `batch` and `micro_batches`
/// mustn't be among `flags`. Nothing after errors, which go to `diagnostics`.
std::optional<PlanningFlags> readPlanningFlags(llvm::ArrayRef<JobFlag> flags,
                                               JobDiagnostics &diagnostics);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FRONTEND_H
