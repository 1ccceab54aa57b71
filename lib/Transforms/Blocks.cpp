//===- Blocks.cpp - Cuts a forward pass into blocks -----------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !isa<WriteOp, LayerOp>(op) &&
        !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

/// The ops that compute the value called `name`: one, or, where copies are
/// compiled alone, one a copy.
static SmallVector<Operation *> findNamedOps(Block &block, StringRef name) {
  SmallVector<Operation *> named;
  for (Operation &op : llvm::reverse(block)) {
    if (getOriginName(&op) != name || op.getNumResults() == 0)
      continue;
    bool isLast = llvm::none_of(op.getUsers(), [&](Operation *user) {
      return getOriginName(user) == name;
    });
    if (named.empty() ||
        (isLast && op.getName() == named.front()->getName() &&
         op.getResultTypes() == named.front()->getResultTypes()))
      named.push_back(&op);
  }
  return named;
}

/// What only variables and constants feed (a bias' broadcast, a weight's
/// transpose) belongs to the first block that uses it, and so does its
/// gradient.
static void moveToFirstUse(TaskBuilder &tasks, Block &block,
                           DenseMap<Operation *, TaskTag> &tags) {
  DenseSet<Operation *> fromData;
  for (Operation &op : block) {
    auto read = dyn_cast<ReadOp>(op);
    if ((read && tasks.lookup(read.getVariable()).getRole() == Role::input) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return fromData.contains(operand.getDefiningOp());
        }))
      fromData.insert(&op);
  }
  for (Operation &op : llvm::reverse(block)) {
    if (fromData.contains(&op) || op.use_empty())
      continue;
    int64_t first = std::numeric_limits<int64_t>::max();
    for (Operation *user : op.getUsers())
      first = std::min(first, tags.lookup(user).block);
    tags[&op].block = first;
  }
}

SmallVector<StringRef>
hfta::assignBlocks(TaskBuilder &tasks, Block &pass, TaskPart part,
                   ArrayRef<std::string> cuts,
                   DenseMap<Operation *, TaskTag> &tags) {
  SmallVector<StringRef> unknown;
  DenseMap<Operation *, int64_t> cutOf;
  for (auto [index, name] : llvm::enumerate(cuts)) {
    SmallVector<Operation *> named = findNamedOps(pass, name);
    if (named.empty())
      unknown.push_back(name);
    for (Operation *op : named)
      cutOf[op] = index;
  }
  for (Operation &op : pass) {
    int64_t number = 0;
    for (Value operand : op.getOperands()) {
      Operation *def = operand.getDefiningOp();
      number = std::max(number, tags.lookup(def).block);
      if (auto cut = cutOf.find(def); cut != cutOf.end())
        number = std::max(number, cut->second + 1);
    }
    tags[&op] = {part, number};
  }
  moveToFirstUse(tasks, pass, tags);
  return unknown;
}
