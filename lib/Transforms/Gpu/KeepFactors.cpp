//===- KeepFactors.cpp - Operands that forward and backward share ---------===//
//
// Factors are the operands of products. If a product needs a weight or
// activation in rounded or transposed form, each task with such a product
// converts it by a kernel. This pass lets the backward of a block use the
// result of its forward instead: the weight doesn't change in between.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAKEEPFACTORS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// A forward task, the backward task of the same block, and one of the
/// variables in which the first saves values for the second.
struct Pair {
  func::FuncOp from, to;
  VariableOp saved;
};

class FactorKeeper {
public:
  explicit FactorKeeper(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  SmallVector<Pair> findPairs();
  std::string describeBase(Value value) const;
  std::string describe(Operation *op) const;
  void keep(Operation *made, Operation *again, VariableOp like);
  llvm::StringSet<> collectRead();

  ModuleOp module;
  SymbolTable symbols;
  DenseMap<Operation *, VariableOp> kept; ///< by the op of the forward
};
} // namespace

/// Whether the tasks are the forward and backward of one block, so that each
/// run of the second follows one of the first.
static bool areForwardAndBackward(func::FuncOp from, func::FuncOp to) {
  auto first = from->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  auto second = to->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  return first && second && first.getBlock() == second.getBlock() &&
         first.getPart() == stringifyTaskPart(TaskPart::forward) &&
         second.getPart() == stringifyTaskPart(TaskPart::backward);
}

SmallVector<Pair> FactorKeeper::findPairs() {
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

/// Returns the symbol of the parameter or saved variable that `value` is read
/// from or written to; empty if there is none. It is the same in the forward,
/// which saves a value, and in the backward, which reads it.
std::string FactorKeeper::describeBase(Value value) const {
  StringRef name;
  if (auto read = value.getDefiningOp<ReadOp>(); read && !read.getCopy())
    name = read.getVariable();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<WriteOp>(user); write && name.empty())
      name = !write.getCopy() ? write.getVariable() : StringRef();
  auto variable =
      name.empty() ? VariableOp() : symbols.lookup<VariableOp>(name);
  bool isKept = variable && variable.getType() == value.getType() &&
                (variable.getRole() == Role::parameter ||
                 variable.getRole() == Role::saved);
  return isKept ? name.str() : std::string();
}

/// Returns a text for an op that transposes or rounds a parameter or saved
/// value, directly or by way of other such ops. Equal texts mean equal results.
/// The text is empty for all other ops, and for those that kernels recompute.
std::string FactorKeeper::describe(Operation *op) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isRepeated(op))
    return {};
  while (isa_and_present<TransposeOp, CastOp, RoundToTf32Op>(op)) {
    stream << op->getName() << op->getAttrDictionary()
           << op->getResult(0).getType();
    Value value = op->getOperand(0);
    if (std::string base = describeBase(value); !base.empty())
      return text + base;
    op = value.getDefiningOp();
  }
  return {};
}

/// Replaces op `again` of a backward by a read of the result of `made`, which
/// the forward writes to a new variable with the block and instances of `like`.
void FactorKeeper::keep(Operation *made, Operation *again, VariableOp like) {
  VariableOp &variable = kept[made];
  OpBuilder builder(like);
  Location loc = made->getLoc();
  if (!variable) {
    variable = VariableOp::create(
        builder, loc,
        names::getCompilerSymbol("factor/" + Twine(kept.size() - 1)),
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

/// Collects the variables that tasks read.
llvm::StringSet<> FactorKeeper::collectRead() {
  llvm::StringSet<> names;
  module.walk([&](ReadOp read) { names.insert(read.getVariable()); });
  return names;
}

void FactorKeeper::run() {
  llvm::StringSet<> before = collectRead();
  for (const Pair &pair : findPairs()) {
    llvm::StringMap<Operation *> made;
    for (Operation &op : func::FuncOp(pair.from).front())
      if (std::string text = describe(&op); !text.empty())
        made.try_emplace(text, &op);
    // Visit the last ops first, so that operands that become unused are erased,
    // too.
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(func::FuncOp(pair.to).front()))) {
      Operation *known = made.lookup(describe(&op));
      if (op.getNumResults() == 1 && op.use_empty() && isPure(&op))
        op.erase();
      else if (known)
        keep(known, &op, pair.saved);
    }
  }
  // Stop saving values that no task reads any more.
  llvm::StringSet<> after = collectRead();
  auto isUnread = [&](StringRef name) {
    return before.contains(name) && !after.contains(name);
  };
  module.walk([&](WriteOp write) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (variable.getRole() == Role::saved && isUnread(write.getVariable()))
      write.erase();
  });
  for (auto variable : llvm::make_early_inc_range(module.getOps<VariableOp>()))
    if (variable.getRole() == Role::saved && isUnread(variable.getSymName()))
      symbols.erase(variable);
}

namespace {
struct KeepFactorsPass : hfta::impl::HftaKeepFactorsBase<KeepFactorsPass> {
  using HftaKeepFactorsBase::HftaKeepFactorsBase;

  void runOnOperation() override { FactorKeeper(getOperation()).run(); }
};
} // namespace
