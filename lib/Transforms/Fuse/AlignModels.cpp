//===- AlignModels.cpp - Correspondence of graphs -------------------------===//

#include "Fuse/AlignModels.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// The radius of an op's neighbourhood that is compared, in steps along use-def
/// chains.
static constexpr size_t kRounds = 6;

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

SmallVector<std::pair<size_t, size_t>>
hfta::alignSequences(size_t first, size_t second,
                     llvm::function_ref<uint32_t(size_t, size_t)> score) {
  // best[i][j] is the greatest sum of scores for the suffixes that begin at
  // elements i and j.
  size_t width = second + 1;
  std::vector<uint32_t> best((first + 1) * width, 0);
  for (size_t i = first; i-- > 0;)
    for (size_t j = second; j-- > 0;) {
      uint32_t pair = score(i, j);
      uint32_t &entry = best[i * width + j];
      entry = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      if (pair > 0)
        entry = std::max(entry, pair + best[(i + 1) * width + j + 1]);
    }
  SmallVector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0, j = 0; i < first && j < second;) {
    uint32_t pair = score(i, j), entry = best[i * width + j];
    if (pair > 0 && entry == pair + best[(i + 1) * width + j + 1])
      pairs.emplace_back(i++, j++);
    else if (entry == best[(i + 1) * width + j])
      ++i;
    else
      ++j;
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Ops and their neighbourhoods
//===----------------------------------------------------------------------===//

namespace {

/// The ops of one block, with hashes of each op's neighbourhood
/// (Weisfeiler-Lehman colour refinement): round 0 covers the op alone, and each
/// further round one more step towards its operands, or its users.
class LabeledBlock {
public:
  LabeledBlock(Block *block, size_t number,
               llvm::function_ref<bool(StringRef)> isCommon);

  SmallVector<Operation *> ops;
  /// For each op, by its index in `ops`, the hashes of rounds 0 to kRounds over
  /// its operands, and those over its users.
  std::vector<std::array<uint64_t, kRounds + 1>> operands, users;

private:
  uint64_t getSignature(Operation *op, size_t number,
                        llvm::function_ref<bool(StringRef)> isCommon);
  uint64_t hashOperands(size_t index, size_t round);
  uint64_t hashUsers(size_t index, size_t round);

  DenseMap<Operation *, size_t> position;
};

} // namespace

template <typename... Values>
static uint64_t hashOf(const Values &...values) {
  return static_cast<uint64_t>(llvm::hash_combine(values...));
}

LabeledBlock::LabeledBlock(Block *block, size_t number,
                           llvm::function_ref<bool(StringRef)> isCommon) {
  for (Operation &op : block->without_terminator()) {
    position[&op] = ops.size();
    ops.push_back(&op);
  }
  operands.resize(ops.size());
  users.resize(ops.size());
  for (size_t i = 0; i < ops.size(); ++i)
    operands[i][0] = users[i][0] = getSignature(ops[i], number, isCommon);
  for (size_t round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < ops.size(); ++i) {
      operands[i][round + 1] = hashOperands(i, round);
      users[i][round + 1] = hashUsers(i, round);
    }
}

/// Returns the hash of round 0. It is equal for ops that may correspond: ops
/// with equal name, types and attributes, and constants of equal type, whatever
/// their elements. Accesses to a variable that isn't common differ between
/// blocks.
uint64_t
LabeledBlock::getSignature(Operation *op, size_t number,
                           llvm::function_ref<bool(StringRef)> isCommon) {
  uint64_t hash = hashOf(op->getName().getAsOpaquePointer());
  for (Type type : op->getOperandTypes())
    hash = hashOf(hash, type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    hash = hashOf(hash, type.getAsOpaquePointer());
  if (isa<ConstantOp>(op))
    return hash;
  hash = hashOf(hash, op->getAttrDictionary().getAsOpaquePointer());
  StringRef variable;
  if (auto read = dyn_cast<ReadOp>(op))
    variable = read.getVariable();
  else if (auto write = dyn_cast<WriteOp>(op))
    variable = write.getVariable();
  return variable.empty() || isCommon(variable) ? hash : hashOf(hash, number);
}

uint64_t LabeledBlock::hashOperands(size_t index, size_t round) {
  uint64_t hash = operands[index][round];
  for (Value operand : ops[index]->getOperands()) {
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      hash = hashOf(hash, argument.getArgNumber());
      continue;
    }
    auto result = cast<OpResult>(operand);
    hash = hashOf(hash, operands[position.lookup(result.getOwner())][round],
                  result.getResultNumber());
  }
  return hash;
}

uint64_t LabeledBlock::hashUsers(size_t index, size_t round) {
  // A sum doesn't depend on the order of the use list, which is arbitrary.
  uint64_t sum = 0;
  for (OpResult result : ops[index]->getResults())
    for (OpOperand &use : result.getUses()) {
      auto known = position.find(use.getOwner());
      uint64_t user = known == position.end() ? 0 : users[known->second][round];
      sum += hashOf(user, use.getOperandNumber(), result.getResultNumber());
    }
  return hashOf(users[index][round], sum);
}

/// Returns how similar two ops and their neighbourhoods are: 0 if the ops can't
/// correspond, else 1 plus the number of equal hashes.
static uint32_t getLikeness(const LabeledBlock &first, size_t i,
                            const LabeledBlock &second, size_t j) {
  if (first.operands[i][0] != second.operands[j][0])
    return 0;
  uint32_t likeness = 1;
  for (size_t round = 1; round <= kRounds; ++round) {
    likeness += first.operands[i][round] == second.operands[j][round];
    likeness += first.users[i][round] == second.users[j][round];
  }
  return likeness;
}

/// Aligns the ops of two blocks. Pairs their common prefix and common suffix
/// directly, so that only the ops in between need the quadratic search.
static SmallVector<std::pair<size_t, size_t>>
alignOps(const LabeledBlock &first, const LabeledBlock &second) {
  size_t n = first.ops.size(), m = second.ops.size();
  size_t head = 0, tail = 0;
  while (head < std::min(n, m) && first.operands[head] == second.operands[head])
    ++head;
  while (head + tail < std::min(n, m) &&
         first.users[n - 1 - tail] == second.users[m - 1 - tail])
    ++tail;
  SmallVector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < head; ++i)
    pairs.emplace_back(i, i);
  auto score = [&](size_t i, size_t j) {
    return getLikeness(first, head + i, second, head + j);
  };
  for (auto [i, j] : alignSequences(n - head - tail, m - head - tail, score))
    pairs.emplace_back(head + i, head + j);
  for (size_t i = tail; i-- > 0;)
    pairs.emplace_back(n - 1 - i, m - 1 - i);
  return pairs;
}

/// Whether the ops can become one op.
static bool areFusable(ArrayRef<Operation *> ops) {
  Operation *first = ops.front();
  if (isa<ReadOp, WriteOp, ConstantOp>(first))
    return true;
  auto fusable = dyn_cast<FusableOpInterface>(first);
  return fusable && llvm::all_of(ops.drop_front(), [&](Operation *other) {
           std::string reason;
           return succeeded(fusable.isFusableWith(other, reason));
         });
}

SmallVector<SmallVector<Operation *>>
hfta::alignBlocks(ArrayRef<Block *> blocks,
                  llvm::function_ref<bool(StringRef)> isCommon) {
  LabeledBlock first(blocks.front(), 0, isCommon);
  SmallVector<SmallVector<Operation *>> rows;
  for (Operation *op : first.ops)
    rows.push_back({op});
  for (size_t number = 1; number < blocks.size(); ++number) {
    LabeledBlock other(blocks[number], number, isCommon);
    for (auto [i, j] : alignOps(first, other))
      rows[i].push_back(other.ops[j]);
    for (SmallVector<Operation *> &row : rows)
      if (row.size() <= number)
        row.clear();
  }
  llvm::erase_if(rows, [&](const SmallVector<Operation *> &row) {
    return row.size() < blocks.size() || !areFusable(row);
  });
  return rows;
}
