//===- BatchMatrices.cpp - Matrices of one size, computed together --------===//
//
// Merges ops of a task that do the same with matrices of one size, those of
// several layers, into one op on all of these matrices. With many matrices in
// one op, small ones fill the lanes of vectors, larger ones keep all threads
// busy, and there are fewer launches. The result for one matrix doesn't depend
// on the others, so no bit changes.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/CopyUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTABATCHMATRICES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The most elements of an operand that merged ops have for each copy, if they
/// become ops on tensors. Larger matrices fill launches of their own, and would
/// only need more memory together.
static constexpr int64_t kMostElements = 1 << 20;

static RankedTensorType getFirstType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

static int64_t countMatrices(Operation *op) {
  return getFirstType(op).getDimSize(0);
}

/// Builds the slice of `count` matrices from number `first` on: the result of
/// one of the merged ops.
static Value slice(OpBuilder &builder, Value whole, int64_t first,
                   int64_t count) {
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), steps(type.getRank(), 1);
  auto sizes = llvm::to_vector(type.getShape());
  offsets[0] = first;
  sizes[0] = count;
  return SliceOp::create(builder, whole.getLoc(), whole, offsets, sizes, steps);
}

/// Moves all direct and indirect users of `ops` that come before `last` to
/// after it, and keeps their order. Writes among them may pass other reads: a
/// task reads no value of a variable after it has written it.
static void moveUsersBehind(ArrayRef<Operation *> ops, Operation *last) {
  DenseSet<Operation *> moved(ops.begin(), ops.end());
  SmallVector<Operation *> users;
  for (Operation *op = ops.front()->getNextNode(); op != last;
       op = op->getNextNode()) {
    bool isUser = llvm::any_of(op->getOperands(), [&](Value operand) {
      return moved.contains(operand.getDefiningOp());
    });
    if (isUser && moved.insert(op).second)
      users.push_back(op);
  }
  for (Operation *user : llvm::reverse(users))
    user->moveAfter(last);
}

/// Merges `ops` into one op at the place of the last one, which comes after all
/// of their operands.
static void join(ArrayRef<Operation *> ops) {
  Operation *last = ops.back();
  moveUsersBehind(ops, last);
  OpBuilder builder(last);
  SmallVector<Value> operands;
  for (unsigned number = 0; number < last->getNumOperands(); ++number) {
    SmallVector<Value> parts;
    for (Operation *op : ops)
      parts.push_back(op->getOperand(number));
    operands.push_back(
        ConcatOp::create(builder, last->getLoc(), parts, /*axis=*/0));
  }
  OperationState state(last->getLoc(), last->getName(), operands, /*types=*/{},
                       last->getAttrs());
  int64_t all =
      cast<RankedTensorType>(operands.front().getType()).getDimSize(0);
  for (Type type : last->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    auto shape = llvm::to_vector(tensor.getShape());
    shape[0] = all;
    state.addTypes(tensor.clone(shape));
  }
  Operation *joined = builder.create(state);
  int64_t first = 0;
  for (Operation *op : ops) {
    int64_t count = countMatrices(op);
    for (auto [result, whole] :
         llvm::zip(op->getResults(), joined->getResults()))
      result.replaceAllUsesWith(slice(builder, whole, first, count));
    first += count;
  }
  for (Operation *op : ops)
    op->erase();
}

namespace {
/// Finds and merges the ops of one task.
class MatrixBatcher {
public:
  /// Without `uses`, all ops serve the same copies.
  explicit MatrixBatcher(const CopyUses *uses) : uses(uses) {}

  void run(Block &task) {
    for (Operation &op : task)
      add(op);
    for (auto &[key, ops] : alike)
      joinInParts(ops);
  }

private:
  void add(Operation &op);
  std::string getKey(Operation &op, int64_t depth) const;
  static void joinInParts(MutableArrayRef<Operation *> ops);

  const CopyUses *uses;
  /// For each op, the number of ops on matrices on the longest way to it.
  DenseMap<Operation *, int64_t> depths;
  /// Ops that may be merged, by their key.
  std::map<std::string, SmallVector<Operation *>> alike;
};
} // namespace

void MatrixBatcher::add(Operation &op) {
  int64_t depth = 0;
  for (Value operand : op.getOperands())
    if (Operation *from = operand.getDefiningOp())
      depth = std::max(depth, depths.lookup(from));
  if (op.hasTrait<MatrixTrait>()) {
    alike[getKey(op, depth)].push_back(&op);
    ++depth;
  }
  depths[&op] = depth;
}

/// Returns a key that is equal for ops that may be merged. It consists of the
/// op's name, attributes and depth, the operands' types without axis 0, which
/// counts matrices, and the copies that the op serves, because other copies'
/// matrices must not be computed along. Ops of one depth don't depend on each
/// other.
std::string MatrixBatcher::getKey(Operation &op, int64_t depth) const {
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << op.getName() << ' ' << op.getAttrDictionary() << ' ' << depth;
  for (Type type : op.getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    stream << ' ' << tensor.clone(tensor.getShape().drop_front());
  }
  if (uses)
    for (unsigned copy : uses->getCopies(&op).set_bits())
      stream << ' ' << copy;
  return key;
}

/// Merges ops that are alike, as many at a time as the limit of their size
/// allows.
void MatrixBatcher::joinInParts(MutableArrayRef<Operation *> ops) {
  // Other merges may have moved some of them.
  llvm::sort(ops, [](Operation *one, Operation *other) {
    return one->isBeforeInBlock(other);
  });
  size_t most = ops.size();
  if (!ops.front()->hasTrait<AloneTrait>())
    most = std::max<int64_t>(
        kMostElements / getFirstType(ops.front()).getNumElements(), 1);
  for (; ops.size() > 1; ops = ops.drop_front(std::min(most, ops.size())))
    if (ArrayRef<Operation *> part = ops.take_front(most); part.size() > 1)
      join(part);
}

namespace {
struct BatchMatricesPass
    : hfta::impl::HftaBatchMatricesBase<BatchMatricesPass> {
  using HftaBatchMatricesBase::HftaBatchMatricesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<CopyUses> uses;
    if (int64_t copies = countCopiesApart(module))
      uses.emplace(module, copies);
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(HftaDialect::kTaskAttrName))
        MatrixBatcher(uses ? &*uses : nullptr).run(function.getBody().front());
  }
};
} // namespace
