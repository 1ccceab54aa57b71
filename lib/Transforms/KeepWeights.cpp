//===- KeepWeights.cpp - What forwards and backwards make of weights ------===//
//
// A weight that a product wants rounded, or in another order, is made so by a
// kernel of each task that multiplies it. A backward finds what its forward has
// made: nothing between them changes the weight.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAKEEPWEIGHTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// A task that leaves values for another one, and one of the variables in which
/// it does.
struct Pair {
  func::FuncOp from, to;
  VariableOp saved;
};

class WeightKeeper {
public:
  explicit WeightKeeper(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  SmallVector<Pair> findPairs();
  std::string describe(Operation *op) const;
  void keep(Operation *made, Operation *again, VariableOp like);

  ModuleOp module;
  SymbolTable symbols;
  DenseMap<Operation *, VariableOp> kept;
};
} // namespace

/// Whether they are the forward and backward of one block, of which each run of
/// the second follows one of the first.
static bool areForwardAndBackward(func::FuncOp from, func::FuncOp to) {
  auto first = from->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  auto second = to->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  return first && second && first.getBlock() == second.getBlock() &&
         first.getPart() == stringifyTaskPart(TaskPart::forward) &&
         second.getPart() == stringifyTaskPart(TaskPart::backward);
}

SmallVector<Pair> WeightKeeper::findPairs() {
  llvm::StringMap<func::FuncOp> writers;
  module.walk([&](WriteOp write) {
    writers[write.getVariable()] = write->getParentOfType<func::FuncOp>();
  });
  SmallVector<Pair> pairs;
  module.walk([&](ReadOp read) {
    auto variable = symbols.lookup<VariableOp>(read.getVariable());
    auto to = read->getParentOfType<func::FuncOp>();
    func::FuncOp from = writers.lookup(read.getVariable());
    bool isNew = variable.getRole() == Role::saved && from &&
                 areForwardAndBackward(from, to) &&
                 llvm::none_of(pairs, [&](const Pair &known) {
                   return known.from == from && known.to == to;
                 });
    if (isNew)
      pairs.push_back({from, to, variable});
  });
  return pairs;
}

/// What is stored that an op makes of a parameter alone: the same text for the
/// same value. Empty for others.
std::string WeightKeeper::describe(Operation *op) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isRepeated(op))
    return {};
  while (isa_and_present<TransposeOp, CastOp, RoundToTf32Op>(op)) {
    stream << op->getName() << op->getAttrDictionary()
           << op->getResult(0).getType();
    op = op->getOperand(0).getDefiningOp();
  }
  auto read = dyn_cast_or_null<ReadOp>(op);
  if (text.empty() || !read || read.getCopy() ||
      symbols.lookup<VariableOp>(read.getVariable()).getRole() !=
          Role::parameter)
    return {};
  return text + read.getVariable().str();
}

void WeightKeeper::keep(Operation *made, Operation *again, VariableOp like) {
  VariableOp &variable = kept[made];
  OpBuilder builder(like);
  Location loc = made->getLoc();
  if (!variable) {
    variable = VariableOp::create(
        builder, loc,
        names::getCompilerSymbol("weight/" + Twine(kept.size() - 1)),
        cast<RankedTensorType>(made->getResult(0).getType()), Role::saved);
    variable.setBlock(like.getBlock());
    variable.setInstances(like.getInstances());
    symbols.insert(variable);
    builder.setInsertionPoint(
        made->getParentOfType<func::FuncOp>().front().getTerminator());
    WriteOp::create(builder, loc, made->getResult(0), variable.getSymName(),
                    IntegerAttr());
  }
  builder.setInsertionPoint(again);
  again->replaceAllUsesWith(ReadOp::create(
      builder, loc, variable.getType(), variable.getSymName(), IntegerAttr()));
  again->erase();
}

void WeightKeeper::run() {
  for (const Pair &pair : findPairs()) {
    llvm::StringMap<Operation *> made;
    for (Operation &op : func::FuncOp(pair.from).front())
      if (std::string text = describe(&op); !text.empty())
        made.try_emplace(text, &op);
    // The last ops first: what these are made of is then of no use.
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(func::FuncOp(pair.to).front()))) {
      Operation *known = made.lookup(describe(&op));
      if (op.getNumResults() == 1 && op.use_empty() && isPure(&op))
        op.erase();
      else if (known)
        keep(known, &op, pair.saved);
    }
  }
}

namespace {
struct KeepWeightsPass : hfta::impl::HftaKeepWeightsBase<KeepWeightsPass> {
  using HftaKeepWeightsBase::HftaKeepWeightsBase;

  void runOnOperation() override { WeightKeeper(getOperation()).run(); }
};
} // namespace
