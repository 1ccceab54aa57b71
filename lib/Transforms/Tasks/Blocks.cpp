//===- Blocks.cpp - Cuts a forward pass into blocks -----------------------===//

#include "Tasks/Blocks.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most blocks that assignBlocksBySize makes. Ranks exchange the gradients
/// of one block while they compute the backward of others.
static constexpr int64_t kMostBlocks = 8;

void hfta::eraseDeadOps(Block &block, Value kept) {
  Operation *last = kept ? kept.getDefiningOp() : nullptr;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && &op != last && !isa<WriteOp, LayerOp>(op) &&
        !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

static std::optional<int64_t> getNotedBlock(Operation *op) {
  auto block = op->getAttrOfType<IntegerAttr>(HftaDialect::kBlockAttrName);
  return block ? std::optional(block.getInt()) : std::nullopt;
}

/// Finds the ops that depend on the micro-batch's data.
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

/// Assigns ops that aren't in `placed` to the first block that uses them. They
/// depend on variables and constants alone (a bias' broadcast, a weight's
/// transpose), and their gradients will be in the same block.
static void moveToFirstUse(Block &block, const DenseSet<Operation *> &placed,
                           TaskTags &tags) {
  for (Operation &op : llvm::reverse(block)) {
    if (placed.contains(&op) || op.use_empty())
      continue;
    int64_t first = std::numeric_limits<int64_t>::max();
    for (Operation *user : op.getUsers())
      first = std::min(first, tags.lookup(user).block);
    tags[&op].block = first;
  }
}

FailureOr<int64_t> hfta::countBlocks(ModelOp model) {
  DenseSet<int64_t> blocks;
  int64_t last = 0;
  model.walk([&](Operation *op) {
    if (std::optional<int64_t> block = getNotedBlock(op)) {
      blocks.insert(*block);
      last = std::max(last, *block);
    }
  });
  if (blocks.empty() || static_cast<int64_t>(blocks.size()) > last)
    return last + 1;
  return model.emitError("'") << HftaDialect::kBlockAttrName << "' goes up to "
                              << last << ", but not each block has an op";
}

void hfta::assignBlocks(TaskBuilder &tasks, Block &pass, TaskPart part,
                        TaskTags &tags) {
  DenseSet<Operation *> placed = findOpsFromData(tasks, pass);
  for (Operation &op : pass) {
    int64_t number = 0;
    if (std::optional<int64_t> noted = getNotedBlock(&op)) {
      number = *noted;
      placed.insert(&op);
      op.removeAttr(HftaDialect::kBlockAttrName);
    } else {
      for (Value operand : op.getOperands())
        number = std::max(number, tags.lookup(operand.getDefiningOp()).block);
    }
    tags[&op] = {part, number};
  }
  moveToFirstUse(pass, placed, tags);
}

/// Returns the trained variables that `op` uses, directly or through ops that
/// don't depend on the micro-batch's data.
static SmallVector<VariableOp>
findTrained(TaskBuilder &tasks, Operation *op,
            const DenseSet<Operation *> &fromData) {
  SmallVector<VariableOp> found;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> pending = {op};
  while (!pending.empty()) {
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || fromData.contains(def) || !seen.insert(def).second)
        continue;
      pending.push_back(def);
      auto read = dyn_cast<ReadOp>(def);
      VariableOp variable = read ? tasks.lookup(read.getVariable()) : nullptr;
      if (variable && variable.getTrained())
        found.push_back(variable);
    }
  }
  return found;
}

namespace {
/// Assigns trained variables to blocks, in the order in which ops use them. The
/// first block has `bucket` bytes of gradients or little more: its all-reduce
/// comes last, when no computation is left to hide it. The other blocks have
/// about equally many bytes, at least `bucket` each; there are at most
/// kMostBlocks in all. Only a variable of rank 2 or more begins a block, so
/// that a bias or a norm's scale stays with the layer before it, whose kernel
/// it may join.
class BlockFiller {
public:
  BlockFiller(int64_t bucket, int64_t all)
      : bucket(bucket),
        share(std::max<int64_t>(
            1, llvm::divideCeil(all - bucket, kMostBlocks - 1))) {}

  /// Assigns those of an op's variables that have no block yet to the current
  /// block, or to a new one. Returns the last block of all of the op's
  /// variables.
  int64_t place(ArrayRef<VariableOp> variables) {
    int64_t added = 0, last = 0;
    bool opensLayer = false;
    for (VariableOp variable : variables) {
      if (auto known = blockOf.find(variable); known != blockOf.end()) {
        last = std::max(last, known->second);
        continue;
      }
      added += getGradientBytes(variable);
      opensLayer |= variable.getTensorType().getRank() > 1;
    }
    if (added == 0)
      return last;
    if (opensLayer && filled >= bucket && (block == 0 || wantsNext(added))) {
      ++block;
      filled = 0;
    }
    filled += added;
    placed += block == 0 ? 0 : added;
    for (VariableOp variable : variables)
      blockOf.try_emplace(variable, block);
    return block;
  }

  int64_t getCount() const { return block + 1; }

  /// Returns the bytes of a variable's gradient, of all copies together.
  static int64_t getGradientBytes(VariableOp variable) {
    RankedTensorType type = variable.getTensorType();
    return getLogicalBytes(type) * getCopies(type).value_or(1);
  }

private:
  /// Whether the middle of the next `added` bytes lies beyond the current
  /// block's share.
  bool wantsNext(int64_t added) const {
    return (placed + added / 2) / share >= block;
  }

  /// All are bytes of gradients. `bucket` is the least of each block, `share`
  /// the average of all blocks but the first; `filled` are those of the current
  /// block so far, `placed` those of all blocks but the first.
  int64_t bucket, share, filled = 0, placed = 0;
  int64_t block = 0;
  DenseMap<Operation *, int64_t> blockOf;
};
} // namespace

int64_t hfta::assignBlocksBySize(TaskBuilder &tasks, Block &pass, TaskPart part,
                                 int64_t bytes, TaskTags &tags) {
  DenseSet<Operation *> fromData = findOpsFromData(tasks, pass);
  int64_t all = 0;
  for (auto variable : tasks.getModule().getOps<VariableOp>())
    if (variable.getTrained())
      all += BlockFiller::getGradientBytes(variable);
  BlockFiller filler(bytes, all);
  // Ops of copies that aren't fused come copy by copy. As the copies may use
  // the same variables, block numbers needn't increase from op to op.
  for (Operation &op : pass) {
    int64_t number = 0;
    if (fromData.contains(&op)) {
      number = filler.place(findTrained(tasks, &op, fromData));
      for (Value operand : op.getOperands())
        number = std::max(number, tags.lookup(operand.getDefiningOp()).block);
    }
    tags[&op] = {part, number};
  }
  moveToFirstUse(pass, fromData, tags);
  return filler.getCount();
}
