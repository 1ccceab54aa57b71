//===- DescribeModel.cpp - Identity and ONNX template of a model ----------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Export/Onnx/Export.h"
#include "Hfta/Import/Onnx/Import.h"
#include "Hfta/Pipelines/ModelIdentity.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Transforms/Precision/Precision.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADESCRIBEMODEL
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct DescribeModelPass
    : hfta::impl::HftaDescribeModelBase<DescribeModelPass> {
  using HftaDescribeModelBase::HftaDescribeModelBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    auto models = module.getOps<ModelOp>();
    if (models.empty()) {
      module.emitError("module holds no hfta.model");
      return signalPassFailure();
    }
    SmallVector<Attribute> described;
    for (ModelOp model : models) {
      describe(*job, model, described);
      model.walk([](ConstantOp op) { op->removeAttr(kFollowsBatchAttrName); });
    }
    module->setAttr(kModelsAttrName, ArrayAttr::get(&getContext(), described));
  }

  /// Describes a model after the job's element types were applied, as
  /// checkpoints and exports have these types: once for each kind of optimizer
  /// that its copies have, as the kind decides what checkpoints hold.
  void describe(const Job &job, ModelOp natural,
                SmallVectorImpl<Attribute> &described) {
    OwningOpRef<ModelOp> typed = natural.clone();
    for (VariableOp variable : typed->getBody().getOps<VariableOp>())
      variable.removeInitialAttr();
    if (!job.keepsTypes)
      applyElementTypes(*typed, job.precision);
    expandSums(*typed);
    NamedAttrList exported;
    addExport(exported, *typed);
    int64_t kinds = std::max<int64_t>(1, job.optimizers.size());
    for (int64_t kind = 0; kind < kinds; ++kind) {
      SmallVector<int64_t> copies;
      std::vector<int64_t> ofKind = job.getCopiesOfOptimizer(kind);
      for (int64_t copy : natural.getCopies())
        if (llvm::is_contained(ofKind, copy))
          copies.push_back(copy);
      if (copies.empty())
        continue;
      std::string states = describeStates(job, kind);
      NamedAttrList list = exported;
      list.set("copies", DenseI64ArrayAttr::get(&getContext(), copies));
      list.set("identity",
               StringAttr::get(&getContext(), computeIdentity(*typed, states)));
      list.set("identity_of_batch",
               StringAttr::get(&getContext(),
                               computeIdentityOfBatch(*typed, states)));
      described.push_back(list.getDictionary(&getContext()));
    }
  }

  /// Decomposes cumulative sums into their steps. Identities and exports
  /// contain the steps, because models contained them when the first
  /// checkpoints were written.
  static void expandSums(ModelOp model) {
    SmallVector<CumulativeSumOp> sums;
    model.walk([&](CumulativeSumOp op) { sums.push_back(op); });
    for (CumulativeSumOp op : sums) {
      OpBuilder builder(op);
      op->replaceAllUsesWith(op.decompose(builder));
      op->erase();
    }
  }

  void addExport(NamedAttrList &list, ModelOp model) {
    std::vector<std::pair<Location, std::string>> reasons;
    FailureOr<OnnxExportTemplate> exported = failure();
    {
      ScopedDiagnosticHandler handler(
          &getContext(), [&](Diagnostic &diagnostic) {
            reasons.emplace_back(diagnostic.getLocation(), diagnostic.str());
            return success();
          });
      exported = exportOnnx(model);
    }
    if (succeeded(exported)) {
      list.set("export_header",
               StringAttr::get(&getContext(), exported->header));
      list.set("export_graph", StringAttr::get(&getContext(), exported->graph));
      return;
    }
    InFlightDiagnostic warning =
        model.emitWarning("the binary won't be able to export this model");
    for (const auto &[location, reason] : reasons)
      warning.attachNote(location) << reason;
  }
};
} // namespace
