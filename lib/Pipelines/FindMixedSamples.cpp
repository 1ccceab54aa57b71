//===- FindMixedSamples.cpp - Finds models that mix samples ---------------===//

#include "Hfta/Dialect/Hfta/IR/Notes.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Transforms/Samples/SampleMixing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFINDMIXEDSAMPLES
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the name of the node that an op was imported from; empty if it has
/// none.
static std::string getNodeName(Location location) {
  std::string name;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

static std::string describeNode(Location location) {
  std::string name = getNodeName(location);
  return name.empty() ? "this operation" : "node '" + name + "'";
}

static StringRef describe(MixingKind kind) {
  switch (kind) {
  case MixingKind::samples:
    return "a sample's result depends on other samples";
  case MixingKind::position:
    return "a sample's result depends on its position";
  case MixingKind::size:
    return "a sample's result depends on the number of samples";
  }
  llvm_unreachable("all kinds are listed");
}

static std::string describe(const Mixing &mixing) {
  return describeNode(mixing.location) +
         " mixes the samples of a batch: " + describe(mixing.kind).str();
}

static std::string countSamples(int64_t count) {
  return std::to_string(count) + (count == 1 ? " sample" : " samples");
}

namespace {
struct FindMixedSamplesPass
    : hfta::impl::HftaFindMixedSamplesBase<FindMixedSamplesPass> {
  using HftaFindMixedSamplesBase::HftaFindMixedSamplesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    // The driver runs this pass once more, before it plans the job. Give notes
    // only once.
    if (module->hasAttr(kLossMixedByAttrName) ||
        module->hasAttr(kOutputMixedByAttrName))
      return;
    std::optional<Mixing> loss, output;
    SmallVector<Mixing> found;
    for (ModelOp model : module.getOps<ModelOp>()) {
      ModelMixing mixing = findMixing(model);
      removeMarks(model);
      loss = loss ? loss : mixing.loss;
      output = output ? output : mixing.output;
      for (const std::optional<Mixing> &one : {mixing.loss, mixing.output})
        if (one)
          found.push_back(*one);
    }
    setName(kLossMixedByAttrName, loss);
    setName(kOutputMixedByAttrName, output);
    if (loss && job->microBatches > 1) {
      refuseToCut(*job, *loss);
      return signalPassFailure();
    }
    report(*job, found, loss.has_value());
  }

  static void removeMarks(ModelOp model) {
    model.walk([](ConstantOp op) { op->removeAttr(kOfBatchSizeAttrName); });
    if (auto ofTwo = model.lookupSymbol<func::FuncOp>(kForwardOfTwoName))
      ofTwo.erase();
  }

  void setName(StringRef attribute, const std::optional<Mixing> &mixing) {
    if (!mixing)
      return;
    std::string name = getNodeName(mixing->location);
    getOperation()->setAttr(
        attribute, StringAttr::get(&getContext(), name.empty() ? "?" : name));
  }

  static void refuseToCut(const Job &job, const Mixing &mixing) {
    InFlightDiagnostic error = emitError(mixing.location);
    error << describe(mixing) << ", so that a batch of "
          << countSamples(job.batch) << " can't be cut into "
          << job.microBatches << " micro-batches";
    error.attachNote(mixing.location)
        << "micro_batches 1 without replicas and groups trains whole batches";
  }

  /// Emits a note for each node that mixes samples. The first note also says
  /// what this means for the job's data.
  static void report(const Job &job, ArrayRef<Mixing> found, bool mixesLosses) {
    std::string rule;
    if (job.getMicroBatch() > 1)
      rule = (mixesLosses ? ", so that test data and what 'run' gets must hold "
                          : ", so that what 'run' gets must hold ") +
             ("a multiple of " + countSamples(job.getMicroBatch()));
    if (mixesLosses)
      rule += rule.empty() ? ", so that batches aren't cut"
                           : ", and batches aren't cut";
    llvm::StringSet<> known;
    for (const Mixing &mixing : found) {
      std::string text = describe(mixing);
      if (known.insert(text).second)
        emitNote(mixing.location, text + rule);
      rule.clear();
    }
  }
};
} // namespace
