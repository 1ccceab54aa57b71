//===- ScratchCompiler.cpp - hftac with one more setting and loss ---------===//
//
// This compiler has one more setting and one more loss than hftac. It shows
// that a record alone defines them: they aren't in Settings.def and Losses.cpp,
// and no code names them.
//===----------------------------------------------------------------------===//

#include "Building/TensorBuilder.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Driver/Main/Driver.h"
#include "Hfta/InitAll.h"
#include "Hfta/Language/Objectives.h"
#include "Hfta/Target/Cpu/CpuTarget.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr ObjectiveParameter kParameters[] = {
    {"rate", ObjectiveParameter::Kind::number, NumberRange::positive(), "2"}};

static ObjectiveError check(const ObjectiveArguments &, ObjectiveTypes types) {
  if (types.output.getShape() == types.label.getShape())
    return {};
  return {"the shapes differ"};
}

/// Builds the difference times the rate.
static Loss build(const ObjectiveOperands &operands,
                  const std::optional<RandomKeys> &) {
  language::TensorBuilder &tensors = operands.tensors;
  Value losses = tensors.binary<SubOp>(operands.output, operands.label);
  if (Value rate = operands.arguments.getNumber("rate"))
    losses = tensors.binary<MulOp>(
        losses, tensors.broadcast(rate, getShape(losses), {}));
  return {losses, tensors.splatLike(losses, 1), {}, {}};
}

/// A target that lowers kernels as the host's, but stores narrow factors.
class ScratchTarget : public CpuTarget {
public:
  llvm::StringRef getName() const override { return "scratch"; }
  const FormingPolicy &getForming() const override {
    static constexpr FormingPolicy policy = [] {
      FormingPolicy policy;
      policy.storesNarrowFactors = true;
      return policy;
    }();
    return policy;
  }
};

int main(int argc, char **argv) {
  static const ScratchTarget target;
  registerAllTargets();
  registerTarget(target);
  ScratchSetting setting({SettingType::Size, "scratch", 0.0,
                          NumberRange::wholeFrom(1024), "scratch", "SIZE",
                          "memory for nothing", "none", "SIZE",
                          "memory for nothing at all", setting_traits::None,
                          [](Job &job) -> SettingRef {
                            // Job has no member for this record, so it shares
                            // the member of a setting that the test doesn't
                            // use.
                            return &job.clusterPointToPoint;
                          }});
  ScratchLoss loss({"scratch_loss", kParameters, "loss of nothing",
                    "a label of one shape", /*classify=*/nullptr, check, build,
                    /*draws=*/false});
  return runDriver(argc, argv);
}
