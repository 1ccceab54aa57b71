//===- AssignLayouts.cpp - The order in which activations are stored ------===//

#include "Memory/LayoutClasses.h"

#include "Hfta/Dialect/Hfta/IR/Layouts.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Transforms/Passes.h"
#include "Memory/SeparateLayouts.h"
#include "Tasks/Recomputed.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAASSIGNLAYOUTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Inside a kernel
//===----------------------------------------------------------------------===//

namespace {

/// Rebuilds a kernel's body so that values of the chosen layout classes are
/// computed with channels last, as they are stored.
class BodyRewriter {
public:
  BodyRewriter(OpBuilder &builder, const LayoutClasses &classes)
      : builder(builder), classes(classes) {}

  /// Maps an argument of the old body to `argument` of the new one, which has
  /// its stored or its logical order.
  void addArgument(Value old, Value argument, bool isStored) {
    (isStored ? stored : logical)[old] = argument;
  }
  void rewrite(Operation &op);
  /// Returns the new value for `old` in logical order, or in stored order
  /// (channels last). It is transposed if only the other order exists.
  Value getLogical(Value old);
  Value getStored(Value old);

private:
  bool rewriteElementwise(Operation &op);
  bool rewriteBroadcast(Operation &op);
  bool rewritePairFactors(Operation &op);
  bool rewriteReduce(Operation &op);
  bool rewritePartSums(Operation &op);
  void cloneLogical(Operation &op);
  /// Returns the new value for `old` from `wanted`. If there is none yet, adds
  /// to `wanted` a transpose of the value in `other` by the permutation that
  /// `getPermutation` returns for its rank.
  Value get(Value old, DenseMap<Value, Value> &wanted,
            const DenseMap<Value, Value> &other,
            SmallVector<int64_t> (*getPermutation)(size_t rank));

  OpBuilder &builder;
  const LayoutClasses &classes;
  DenseMap<Value, Value> logical, stored;
};

} // namespace

Value BodyRewriter::get(Value old, DenseMap<Value, Value> &wanted,
                        const DenseMap<Value, Value> &other,
                        SmallVector<int64_t> (*getPermutation)(size_t rank)) {
  Value &value = wanted[old];
  if (!value) {
    Value source = other.lookup(old);
    value =
        TransposeOp::create(builder, old.getLoc(), source,
                            getPermutation(getTensorType(source).getRank()));
  }
  return value;
}

Value BodyRewriter::getLogical(Value old) {
  return get(old, logical, stored, getChannelsFirst);
}

Value BodyRewriter::getStored(Value old) {
  return get(old, stored, logical, getChannelsLast);
}

bool BodyRewriter::rewriteElementwise(Operation &op) {
  if (!isa<ElementwiseOpInterface>(op) ||
      !classes.isChannelsLast(op.getResult(0)) ||
      !llvm::all_equal(llvm::map_range(op.getOperands(), [](Value operand) {
        return getTensorType(operand).getShape();
      })))
    return false;
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, getStored(operand));
  Operation *clone = builder.clone(op, mapping);
  for (auto [old, result] : llvm::zip(op.getResults(), clone->getResults())) {
    result.setType(getStoredType(getTensorType(old)));
    stored[old] = result;
  }
  return true;
}

bool BodyRewriter::rewriteBroadcast(Operation &op) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast || !classes.isChannelsLast(broadcast.getResult()))
    return false;
  RankedTensorType type = getStoredType(getTensorType(broadcast.getResult()));
  SmallVector<int64_t> dimensions =
      permute(getChannelsFirst(type.getRank()), broadcast.getDimensions());
  if (!llvm::is_sorted(dimensions))
    return false;
  stored[broadcast.getResult()] = BroadcastOp::create(
      builder, op.getLoc(), getLogical(broadcast.getInput()), type.getShape(),
      dimensions);
  return true;
}

bool BodyRewriter::rewritePairFactors(Operation &op) {
  auto pairs = dyn_cast<PairFactorsOp>(op);
  if (!pairs || !classes.isChannelsLast(pairs.getResult()))
    return false;
  SmallVector<int64_t> order =
      getChannelsLast(getTensorType(pairs.getInput()).getRank());
  const auto *axis = llvm::find(order, static_cast<int64_t>(pairs.getAxis()));
  stored[pairs.getResult()] = PairFactorsOp::create(
      builder, op.getLoc(), getStored(pairs.getInput()), axis - order.begin());
  return true;
}

/// Rewrites `op` if it is a reduction of a value with channels last, and
/// returns whether it did. Terms are combined in their stored order.
bool BodyRewriter::rewriteReduce(Operation &op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || !classes.isChannelsLast(reduce.getInput()))
    return false;
  SmallVector<int64_t> order =
      getChannelsLast(getTensorType(reduce.getInput()).getRank());
  SmallVector<int64_t> axes, kept;
  for (auto [place, axis] : llvm::enumerate(order)) {
    if (llvm::is_contained(reduce.getAxes(), axis))
      axes.push_back(place);
    else
      kept.push_back(axis);
  }
  Value result = ReduceOp::create(builder, op.getLoc(), reduce.getKind(),
                                  getStored(reduce.getInput()), axes,
                                  reduce.getAccumulateAttr());
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, kept.size()));
  llvm::sort(permutation, [&](int64_t one, int64_t other) {
    return kept[one] < kept[other];
  });
  if (!llvm::is_sorted(kept))
    result = TransposeOp::create(builder, op.getLoc(), result, permutation);
  logical[reduce.getResult()] = result;
  return true;
}

/// Rewrites `op` if it is an hfta.part_sums of a value with channels last, and
/// returns whether it did. As a part is a range of rows, this requires that
/// rows are numbered alike in both orders.
bool BodyRewriter::rewritePartSums(Operation &op) {
  auto sums = dyn_cast<PartSumsOp>(op);
  if (!sums || !classes.isChannelsLast(sums.getInput()))
    return false;
  SmallVector<int64_t> order =
      getChannelsLast(getTensorType(sums.getInput()).getRank());
  auto own = static_cast<int64_t>(sums.getColumn());
  SmallVector<int64_t> rows(order);
  llvm::erase(rows, own);
  if (!llvm::is_sorted(rows))
    return false;
  const auto *column = llvm::find(order, own);
  logical[sums.getResult()] = PartSumsOp::create(
      builder, op.getLoc(), getStored(sums.getInput()), sums.getLength(),
      column - order.begin(), sums.getCentered());
  return true;
}

void BodyRewriter::cloneLogical(Operation &op) {
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, getLogical(operand));
  Operation *clone = builder.clone(op, mapping);
  for (auto [old, result] : llvm::zip(op.getResults(), clone->getResults()))
    logical[old] = result;
}

void BodyRewriter::rewrite(Operation &op) {
  if (!rewriteElementwise(op) && !rewriteBroadcast(op) &&
      !rewritePairFactors(op) && !rewriteReduce(op) && !rewritePartSums(op))
    cloneLogical(op);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {

class TaskRewriter {
public:
  TaskRewriter(func::FuncOp task, const LayoutClasses &classes,
               const SymbolTable &symbols)
      : task(task), classes(classes), symbols(symbols) {}

  void rewrite();

private:
  /// A kernel's result, and whether the new kernel yields it in stored order,
  /// in logical order ("plain"), or both.
  struct Result {
    Value old;
    bool isStored, isPlain;
  };

  bool takesStored(OpOperand &use);
  Result chooseOrders(Value result);
  void rewriteRead(ReadOp read);
  void rewriteCarrier(Operation *op);
  void store(Value value);
  void rewriteKernel(KernelOp kernel);
  void replaceUses(Value old, Value replacement, bool ofStored);

  func::FuncOp task;
  const LayoutClasses &classes;
  const SymbolTable &symbols;
  DenseSet<Value> storedValues;
};

} // namespace

/// Whether a use accepts the value with channels last: the user is a kernel, a
/// stack or unstack with a result in this order, or a write to a variable in
/// this order.
bool TaskRewriter::takesStored(OpOperand &use) {
  if (isa<StackOp, UnstackOp>(use.getOwner())) {
    Value result = use.getOwner()->getResult(0);
    return classes.isChannelsLast(result) && classes.isCarried(result);
  }
  if (auto write = dyn_cast<WriteOp>(use.getOwner())) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    return classes.isChannelsLast(variable);
  }
  return isa<KernelOp>(use.getOwner());
}

TaskRewriter::Result TaskRewriter::chooseOrders(Value result) {
  if (!classes.isChannelsLast(result))
    return {result, false, true};
  bool isStored = false, isPlain = false;
  for (OpOperand &use : result.getUses())
    (takesStored(use) ? isStored : isPlain) = true;
  return {result, isStored, isPlain || !isStored};
}

void TaskRewriter::replaceUses(Value old, Value replacement, bool ofStored) {
  old.replaceUsesWithIf(replacement, [&](OpOperand &use) {
    return takesStored(use) == ofStored;
  });
}

void TaskRewriter::rewriteRead(ReadOp read) {
  auto variable = symbols.lookup<VariableOp>(read.getVariable());
  if (classes.isChannelsLast(variable))
    store(read.getResult());
}

/// Rewrites an hfta.stack or hfta.unstack. Its result is stored in the same
/// order as its operands.
void TaskRewriter::rewriteCarrier(Operation *op) {
  Value result = op->getResult(0);
  if (classes.isChannelsLast(result) && classes.isCarried(result))
    store(result);
}

/// Changes the value's type to channels last. Uses that need the logical order,
/// such as views, get it from a new kernel that transposes the value.
void TaskRewriter::store(Value value) {
  Operation *op = value.getDefiningOp();
  RankedTensorType type = getTensorType(value);
  value.setType(getStoredType(type));
  storedValues.insert(value);
  if (llvm::all_of(value.getUses(),
                   [&](OpOperand &use) { return takesStored(use); }))
    return;
  Location loc = op->getLoc();
  OpBuilder builder(op->getNextNode());
  auto kernel =
      KernelOp::create(builder, loc, TypeRange(type), "transpose",
                       ValueRange(value), ArrayAttr(), DenseI64ArrayAttr());
  Block &body = kernel.getBody().emplaceBlock();
  Value argument = body.addArgument(getLogicalType(value.getType()), loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  Value plain = TransposeOp::create(inner, loc, argument,
                                    getChannelsFirst(type.getRank()));
  YieldOp::create(inner, loc, plain);
  replaceUses(value, kernel.getResult(0), /*ofStored=*/false);
}

void TaskRewriter::rewriteKernel(KernelOp kernel) {
  SmallVector<Result> results = llvm::map_to_vector(
      kernel.getResults(), [&](Value result) { return chooseOrders(result); });
  SmallVector<Type> types;
  for (const Result &result : results) {
    if (result.isStored)
      types.push_back(getStoredType(getTensorType(result.old)));
    if (result.isPlain)
      types.push_back(result.old.getType());
  }
  OpBuilder builder(kernel);
  auto rewritten =
      KernelOp::create(builder, kernel.getLoc(), types, kernel.getName(),
                       kernel.getInputs(), ArrayAttr(), DenseI64ArrayAttr());
  Block &old = kernel.getBody().front();
  Block &body = rewritten.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  BodyRewriter ops(inner, classes);
  for (auto [input, argument] :
       llvm::zip(kernel.getInputs(), old.getArguments()))
    ops.addArgument(
        argument,
        body.addArgument(getLogicalType(input.getType()), argument.getLoc()),
        storedValues.contains(input));
  for (Operation &op : old.without_terminator())
    ops.rewrite(op);

  SmallVector<Value> yielded;
  unsigned next = 0;
  for (auto [result, value] :
       llvm::zip(results, old.getTerminator()->getOperands())) {
    if (result.isStored) {
      yielded.push_back(ops.getStored(value));
      storedValues.insert(rewritten.getResult(next));
      replaceUses(result.old, rewritten.getResult(next++), /*ofStored=*/true);
    }
    if (result.isPlain) {
      yielded.push_back(ops.getLogical(value));
      result.old.replaceAllUsesWith(rewritten.getResult(next++));
    }
  }
  YieldOp::create(inner, kernel.getLoc(), yielded);
  kernel.erase();
}

/// Whether any argument or value of the kernel's body is of a class that is
/// stored with channels last.
static bool isConcerned(KernelOp kernel, const LayoutClasses &classes) {
  auto isChosen = [&](Value value) { return classes.isChannelsLast(value); };
  Block &body = kernel.getBody().front();
  return llvm::any_of(body.getArguments(), isChosen) ||
         llvm::any_of(body.without_terminator(), [&](Operation &op) {
           return llvm::any_of(op.getResults(), isChosen);
         });
}

void TaskRewriter::rewrite() {
  for (Operation &op : llvm::make_early_inc_range(task.getBody().front())) {
    if (auto read = dyn_cast<ReadOp>(op))
      rewriteRead(read);
    else if (isa<StackOp, UnstackOp>(op))
      rewriteCarrier(&op);
    else if (auto kernel = dyn_cast<KernelOp>(op))
      if (isConcerned(kernel, classes))
        rewriteKernel(kernel);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AssignLayoutsPass
    : hfta::impl::HftaAssignLayoutsBase<AssignLayoutsPass> {
  using HftaAssignLayoutsBase::HftaAssignLayoutsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    separateLayouts(module);
    LayoutClasses classes(module, findRecomputed(module));
    remark(classes);
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(HftaDialect::kTaskAttrName))
        TaskRewriter(function, classes, symbols).rewrite();
    for (auto variable : module.getOps<VariableOp>())
      if (classes.isChannelsLast(variable))
        variable.setType(getStoredType(variable.getTensorType()));
  }

  /// Reports for each logical type how many results of kernels are stored with
  /// channels last, and how many in logical order.
  void remark(const LayoutClasses &classes) {
    struct Counts {
      int64_t plain = 0, channelsLast = 0;
    };
    llvm::MapVector<Type, Counts> counts;
    getOperation().walk([&](KernelOp kernel) {
      for (Value result : kernel.getResults()) {
        if (getTensorType(result).getRank() < 3)
          continue;
        Counts &count = counts[getLogicalType(result.getType())];
        ++(classes.isChannelsLast(result) ? count.channelsLast : count.plain);
      }
    });
    for (auto [type, count] : counts) {
      std::string text;
      llvm::raw_string_ostream(text)
          << type << " between kernels: " << count.channelsLast
          << " with channels last, " << count.plain << " plain";
      remark::analysis(
          getOperation().getLoc(),
          remark::RemarkOpts::name("Layouts").category("hfta-assign-layouts"))
          << text;
    }
  }
};
} // namespace
