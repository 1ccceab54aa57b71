//===- GradientPath.cpp - From a layer's gradient to a parameter's --------===//

#include "Kfac/GradientPath.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

using namespace mlir;
using namespace mlir::hfta;

/// Whether the op keeps each element at its index: a cast, an addition to other
/// gradients, or a stack or unstack of copies.
static bool isPassed(Operation *op) {
  return isa<CastOp, AddOp, StackOp, UnstackOp>(op);
}

/// Whether an op reads or writes a variable through which one task passes a
/// value to others.
template <typename AccessOp>
static bool isLeft(AccessOp access) {
  Role role = access->template getParentOfType<ModuleOp>()
                  .template lookupSymbol<VariableOp>(access.getVariable())
                  .getRole();
  return role == Role::cut || role == Role::saved;
}

/// If another task has passed on `value` in a variable, returns the value that
/// it wrote there; otherwise `value`.
static Value findOrigin(Value value) {
  auto read = value.getDefiningOp<ReadOp>();
  if (!read || !isLeft(read))
    return value;
  for (auto function : read->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    for (auto write : function.getOps<WriteOp>())
      if (write.getVariable() == read.getVariable())
        return findOrigin(write.getValue());
  return value;
}

/// If `write` passes a value on to other tasks, follows their reads of it;
/// returns whether one leads to `gradient`.
bool GradientPath::followAcross(WriteOp write, VariableOp gradient) {
  auto module = write->getParentOfType<ModuleOp>();
  if (!isLeft(write))
    return false;
  for (auto function : module.getOps<func::FuncOp>())
    for (auto read : function.getOps<ReadOp>())
      if (read.getVariable() == write.getVariable() && follow(read, gradient))
        return true;
  return false;
}

/// Searches the uses of `value` depth first for the write of `gradient`, and
/// returns whether it was found; then the path has been appended to this one.
/// The search is short, because a gradient has few uses.
bool GradientPath::follow(Value value, VariableOp gradient) {
  for (Operation *user : value.getUsers()) {
    if (auto write = dyn_cast<WriteOp>(user)) {
      if (write.getVariable() == gradient.getSymName() ||
          followAcross(write, gradient))
        return true;
      continue;
    }
    GradientPath before = *this;
    if (auto reduce = dyn_cast<ReduceOp>(user)) {
      if (reduce.getKind() != ReduceKind::sum || !steps.empty() ||
          !reduced.empty())
        continue;
      reduced.assign(reduce.getAxes());
    } else if (auto transpose = dyn_cast<TransposeOp>(user)) {
      steps.push_back({llvm::to_vector(getShape(value)),
                       llvm::to_vector(getShape(transpose.getResult())),
                       llvm::to_vector(transpose.getPermutation())});
    } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      steps.push_back({llvm::to_vector(getShape(value)),
                       llvm::to_vector(getShape(reshape.getResult())),
                       {}});
    } else if (!isPassed(user)) {
      continue;
    }
    if (follow(user->getResult(0), gradient))
      return true;
    *this = before;
  }
  return false;
}

std::optional<GradientPath> GradientPath::find(Value from,
                                               VariableOp gradient) {
  GradientPath path;
  if (!path.follow(findOrigin(from), gradient))
    return std::nullopt;
  return path;
}

bool GradientPath::keepsOrder() const {
  return llvm::all_of(
      steps, [](const Step &step) { return step.permutation.empty(); });
}

bool GradientPath::operator==(const GradientPath &other) const {
  return reduced == other.reduced && steps == other.steps;
}

static Value reshape(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, value.getLoc(), value, shape);
}

Value GradientPath::goForth(OpBuilder &builder, Value value) const {
  for (const Step &step : steps)
    value = step.permutation.empty()
                ? reshape(builder, value, step.to)
                : TransposeOp::create(builder, value.getLoc(), value,
                                      step.permutation)
                      .getResult();
  return value;
}

Value GradientPath::goBack(OpBuilder &builder, Value value) const {
  for (const Step &step : llvm::reverse(steps)) {
    if (step.permutation.empty()) {
      value = reshape(builder, value, step.from);
      continue;
    }
    SmallVector<int64_t> inverse(step.permutation.size());
    for (auto [to, from] : llvm::enumerate(step.permutation))
      inverse[from] = static_cast<int64_t>(to);
    value = TransposeOp::create(builder, value.getLoc(), value, inverse);
  }
  return value;
}
