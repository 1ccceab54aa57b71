//===- Blocks.cpp - Cuts a forward pass into blocks -----------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::hfta;

/// What ranks exchange of one block is hidden behind the backward of others:
/// with so many, all but an eighth of it.
static constexpr int64_t kMostBlocks = 8;

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

/// The ops that the micro-batch's data reach.
static DenseSet<Operation *> findOpsFromData(TaskBuilder &tasks, Block &block) {
  DenseSet<Operation *> fromData;
  for (Operation &op : block) {
    auto read = dyn_cast<ReadOp>(op);
    if ((read && tasks.lookup(read.getVariable()).getRole() == Role::input) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return fromData.contains(operand.getDefiningOp());
        }))
      fromData.insert(&op);
  }
  return fromData;
}

/// What only variables and constants feed (a bias' broadcast, a weight's
/// transpose) belongs to the first block that uses it, and so does its
/// gradient.
static void moveToFirstUse(Block &block, const DenseSet<Operation *> &fromData,
                           DenseMap<Operation *, TaskTag> &tags) {
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
  moveToFirstUse(pass, findOpsFromData(tasks, pass), tags);
  return unknown;
}

/// Bytes of all copies' gradients of the trained variables that `op` is the
/// first to use, itself or through what only variables feed.
static int64_t takeGradientBytes(TaskBuilder &tasks, Operation *op,
                                 const DenseSet<Operation *> &fromData,
                                 DenseSet<Operation *> &taken) {
  int64_t bytes = 0;
  SmallVector<Operation *> pending = {op};
  while (!pending.empty()) {
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || fromData.contains(def) || !taken.insert(def).second)
        continue;
      pending.push_back(def);
      auto read = dyn_cast<ReadOp>(def);
      VariableOp variable = read ? tasks.lookup(read.getVariable()) : nullptr;
      if (!variable || !variable.getTrained() || !taken.insert(variable).second)
        continue;
      RankedTensorType type = variable.getTensorType();
      bytes += getLogicalBytes(type) * getCopies(type).value_or(1);
    }
  }
  return bytes;
}

int64_t hfta::assignBlocksBySize(TaskBuilder &tasks, Block &pass, TaskPart part,
                                 int64_t bytes,
                                 DenseMap<Operation *, TaskTag> &tags) {
  DenseSet<Operation *> fromData = findOpsFromData(tasks, pass), taken;
  SmallVector<int64_t> bytesOf;
  int64_t left = 0;
  for (Operation &op : pass) {
    bytesOf.push_back(fromData.contains(&op)
                          ? takeGradientBytes(tasks, &op, fromData, taken)
                          : 0);
    left += bytesOf.back();
  }
  bytes = std::max<int64_t>(bytes, llvm::divideCeil(left, kMostBlocks));
  int64_t block = 0, filled = 0;
  for (auto [op, own] : llvm::zip_equal(pass, bytesOf)) {
    if (own > 0 && filled >= bytes) {
      ++block;
      filled = 0;
    }
    filled += own;
    tags[&op] = {part, fromData.contains(&op) ? block : 0};
  }
  moveToFirstUse(pass, fromData, tags);
  return block + 1;
}
