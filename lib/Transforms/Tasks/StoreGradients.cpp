//===- StoreGradients.cpp - Gradients of a single micro-batch -------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASTOREGRADIENTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The ops that read and write a gradient's variable.
struct GradientUses {
  SmallVector<ReadOp> reads;
  SmallVector<WriteOp> writes;
};
} // namespace

/// Returns the operand of a cast, or the value itself if no cast defines it.
static Value skipCast(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast ? cast.getInput() : value;
}

/// Returns the addition by which a write adds to the old value of the variable,
/// or of the copy that it writes; null if there is none.
static AddOp findSum(WriteOp write) {
  auto sum = skipCast(write.getValue()).getDefiningOp<AddOp>();
  if (!sum || !sum->hasOneUse())
    return AddOp();
  auto reads = [&](Value operand) {
    auto read = skipCast(operand).getDefiningOp<ReadOp>();
    return read && read->hasOneUse() &&
           read.getVariable() == write.getVariable() &&
           read.getCopy() == write.getCopy();
  };
  return reads(sum.getLhs()) || reads(sum.getRhs()) ? sum : AddOp();
}

static ReadOp getOld(AddOp sum, StringRef variable) {
  for (Value operand : sum->getOperands()) {
    auto read = skipCast(operand).getDefiningOp<ReadOp>();
    if (read && read.getVariable() == variable)
      return read;
  }
  return ReadOp();
}

static bool isZero(Value value) {
  DenseElementsAttr elements;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return isZero(broadcast.getInput());
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isZero();
}

/// Returns whether each copy's gradient is added to once, by a task that
/// doesn't read it otherwise, and is only cleared apart from that.
static bool isAddedToOnce(const GradientUses &uses) {
  constexpr int64_t kAllCopies = -1;
  llvm::SmallDenseSet<int64_t> copies;
  for (WriteOp write : uses.writes) {
    if (isZero(write.getValue()))
      continue;
    AddOp sum = findSum(write);
    if (!sum || !copies.insert(write.getCopy().value_or(kAllCopies)).second)
      return false;
    ReadOp old = getOld(sum, write.getVariable());
    for (ReadOp read : uses.reads)
      if (read != old && read->getBlock() == old->getBlock() &&
          (read.getCopy() == old.getCopy() || !read.getCopy() ||
           !old.getCopy()))
        return false;
  }
  return !copies.empty() &&
         (copies.size() == 1 || !copies.contains(kAllCopies));
}

/// Creates a zero in the shape of one copy of a value.
static Value makeZero(OpBuilder &builder, Value value) {
  auto type = RankedTensorType::get(getTensorType(value).getShape(),
                                    getTensorType(value).getElementType());
  return ConstantOp::create(builder, value.getLoc(),
                            cast<ElementsAttr>(builder.getZeroAttr(type)));
}

/// Replaces the old values by zeros. The additions stay, so that a gradient of
/// -0 becomes 0, as it does if it is added to a cleared gradient.
static void store(const GradientUses &uses) {
  for (WriteOp write : uses.writes) {
    if (isZero(write.getValue())) {
      write.erase();
      continue;
    }
    AddOp sum = findSum(write);
    ReadOp old = getOld(sum, write.getVariable());
    bool isLeft = skipCast(sum.getLhs()).getDefiningOp() == old;
    OpBuilder builder(sum);
    Value zero = makeZero(builder, sum);
    Value stored =
        AddOp::create(builder, sum.getLoc(), isLeft ? zero : sum.getLhs(),
                      isLeft ? sum.getRhs() : zero);
    sum.replaceAllUsesWith(stored);
  }
}

namespace {
struct StoreGradientsPass
    : hfta::impl::HftaStoreGradientsBase<StoreGradientsPass> {
  using HftaStoreGradientsBase::HftaStoreGradientsBase;

  void runOnOperation() override {
    FailureOr<Job> job = Job::read(getOperation());
    if (failed(job))
      return signalPassFailure();
    // Within a budget of memory, what is known to be zeros needn't be kept from
    // step to step.
    if (!job->training || job->microBatches != 1 || job->hasBudget())
      return;
    llvm::StringMap<GradientUses> uses;
    getOperation()->walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op))
        uses[read.getVariable()].reads.push_back(read);
      else if (auto write = dyn_cast<WriteOp>(op))
        uses[write.getVariable()].writes.push_back(write);
    });
    for (auto variable : getOperation().getOps<VariableOp>()) {
      const GradientUses &own = uses[variable.getSymName()];
      if (variable.getRole() != Role::gradient || !isAddedToOnce(own))
        continue;
      store(own);
      getOperation()->setAttr(HftaDialect::kStoresGradientsAttrName,
                              UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
