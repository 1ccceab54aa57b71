//===- BatchKfac.cpp - Matrices of one size, inverted together ------------===//
//
// Merges ops of a task that invert or decompose matrices of one size into one
// op on all of these matrices. With many matrices in one op, small ones fill
// the lanes of vectors, and larger ones keep all threads busy. The result for
// one matrix doesn't depend on the others, so no bit changes.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTABATCHKFAC
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns a key that is equal for ops that may be merged. It consists of the
/// op's name, the copy that the op is for, and the operands' types without axis
/// 0, the number of matrices. Returns nothing if that copy isn't known, because
/// matrices of several copies must not become one launch.
static std::optional<std::string> getKey(Operation *op, SymbolTable &symbols) {
  // The last operand is the result of an earlier run, read from a variable. The
  // variable shows for which copy the op is.
  Value last = op->getOperands().back();
  if (auto reshape = last.getDefiningOp<ReshapeOp>())
    last = reshape.getInput();
  auto old = last.getDefiningOp<ReadOp>();
  if (!old)
    return std::nullopt;
  auto variable = symbols.lookup<VariableOp>(old.getVariable());
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << op->getName() << ' ' << old.getCopyAttr() << ' '
         << variable.getCopyAttr();
  for (Type type : op->getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    stream << ' ' << tensor.clone(tensor.getShape().drop_front());
  }
  return key;
}

static int64_t countMatrices(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(0);
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
/// after it, and keeps their order.
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
  OperationState state(last->getLoc(), last->getName());
  state.addOperands(operands);
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
struct BatchKfacPass : hfta::impl::HftaBatchKfacBase<BatchKfacPass> {
  using HftaBatchKfacBase::HftaBatchKfacBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(HftaDialect::kTaskAttrName))
        continue;
      std::map<std::string, SmallVector<Operation *>> alike;
      for (Operation &op : function.getBody().front())
        if (op.hasTrait<MatrixTrait>())
          if (std::optional<std::string> key = getKey(&op, symbols))
            alike[*key].push_back(&op);
      for (auto &[key, ops] : alike)
        if (ops.size() > 1)
          join(ops);
    }
  }
};
} // namespace
