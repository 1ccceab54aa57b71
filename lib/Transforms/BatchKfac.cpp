//===- BatchKfac.cpp - Matrices of one size, inverted together ------------===//
//
// Small matrices fill the lanes of vectors, and larger ones keep all threads
// busy, if there are many of them: in a task, matrices of one size are handled
// by one op. An op's result for one matrix doesn't depend on the others, so no
// bit changes.
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

/// Returns a key of the properties in which ops that may be joined agree: name,
/// copies, and the types of their operands except for the number of matrices.
/// Returns nothing where it isn't known whose copy's matrices they are: those
/// of several copies must not become one launch.
static std::optional<std::string> getKey(Operation *op, SymbolTable &symbols) {
  // The last operand is the result of an earlier step.
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

/// Cuts one of the joined ops' results out of the whole.
static Value slice(OpBuilder &builder, Value whole, int64_t first,
                   int64_t count) {
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), steps(type.getRank(), 1);
  auto sizes = llvm::to_vector(type.getShape());
  offsets[0] = first;
  sizes[0] = count;
  return SliceOp::create(builder, whole.getLoc(), whole, offsets, sizes, steps);
}

/// Moves the users of results of `ops`, direct or indirect, to after `last`, in
/// the order that they have.
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

/// Joins ops in the place of the last one, which comes after all operands.
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
