//===- MatricesToLoops.cpp - Algorithms on matrices to loops on memory ----===//

#include "Hfta/Conversion/LowerKernels.h"
#include "Matrices/MatrixKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAMATRICESTOLOOPS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static MemRefType getMemoryType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Replaces the kernel's tensor arguments by the memory of each lane's operands
/// and results, the lanes' items, and scratch memory. Results of the op that
/// the kernel doesn't return get scratch memory.
static SmallVector<MatrixKernel> makeArguments(func::FuncOp function,
                                               Operation *op, int64_t count) {
  Block &body = function.getBody().front();
  Operation *end = body.getTerminator();
  SmallVector<Location> places;
  SmallVector<Type> types;
  for (BlockArgument argument : body.getArguments()) {
    argument.setType(getMemoryType(argument.getType()));
    places.push_back(argument.getLoc());
    types.push_back(argument.getType());
  }
  SmallVector<MatrixKernel> lanes(count);
  for (auto [number, lane] : llvm::enumerate(lanes)) {
    SmallVector<Value> tensors(body.getArguments().take_front(types.size()));
    for (size_t i = 0; number > 0 && i < types.size(); ++i)
      tensors[i] = body.addArgument(types[i], places[i]);
    for (Value operand : op->getOperands())
      lane.operands.push_back(
          tensors[cast<BlockArgument>(operand).getArgNumber()]);
    lane.results.resize(op->getNumResults());
    for (Value result : end->getOperands())
      lane.results[cast<OpResult>(result).getResultNumber()] =
          body.addArgument(getMemoryType(result.getType()), result.getLoc());
  }
  OpBuilder builder(op);
  for (MatrixKernel &lane : lanes)
    lane.item = body.addArgument(builder.getIndexType(), op->getLoc());
  body.addArgument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
                   op->getLoc());
  for (OpResult result : op->getResults()) {
    if (lanes.front().results[result.getResultNumber()])
      continue;
    Value unused = memref::AllocOp::create(builder, op->getLoc(),
                                           getMemoryType(result.getType()));
    for (MatrixKernel &lane : lanes)
      lane.results[result.getResultNumber()] = unused;
  }
  return lanes;
}

/// Returns whether the op is all that the kernel does: the op is followed by
/// the return, its operands are arguments, and the kernel returns results of
/// the op, each at most once.
static bool isAlone(func::FuncOp function, Operation *op) {
  Operation *end = function.getBody().front().getTerminator();
  llvm::SmallDenseSet<Value> seen;
  return op->getNextNode() == end &&
         llvm::all_of(
             op->getOperands(),
             [](Value operand) { return isa<BlockArgument>(operand); }) &&
         llvm::all_of(end->getOperands(), [&](Value result) {
           return result.getDefiningOp() == op && seen.insert(result).second;
         });
}

static int64_t countLanes(Operation *op) {
  auto inverse = dyn_cast<SpdInverseOp>(op);
  return inverse ? countInverseLanes(inverse) : 1;
}

static LogicalResult emit(LoopBuilder &builder, Operation *op,
                          ArrayRef<MatrixKernel> lanes, bool usesLanes) {
  if (auto inverse = dyn_cast<SpdInverseOp>(op))
    return emitInverse(builder, inverse, lanes), success();
  if (auto eigen = dyn_cast<SymmetricEigenOp>(op))
    return emitEigen(builder, eigen, lanes.front()), success();
  if (auto loss = dyn_cast<CtcLossOp>(op))
    return emitCtcLoss(builder, loss, lanes.front(), usesLanes), success();
  if (auto iteration = dyn_cast<OrthogonalIterationOp>(op))
    return emitOrthogonalIteration(builder, iteration, lanes.front()),
           success();
  return op->emitOpError("has no lowering to loops");
}

static LogicalResult lower(func::FuncOp function, Operation *op,
                           bool usesLanes) {
  int64_t count = usesLanes ? countLanes(op) : 1;
  Block &body = function.getBody().front();
  int64_t matrices =
      cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
  SmallVector<MatrixKernel> lanes = makeArguments(function, op, count);
  body.getTerminator()->eraseOperands(0,
                                      body.getTerminator()->getNumOperands());
  LoopBuilder builder(op->getLoc(), op);
  if (failed(emit(builder, op, lanes, usesLanes)))
    return failure();
  op->erase();
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange()));
  function->removeAttr(kTiesAttrName);
  function->setAttr(kItemsAttrName, builder.getI64IntegerAttr(matrices));
  if (count > 1)
    function->setAttr(kLanesAttrName, builder.getI64IntegerAttr(count));
  return success();
}

namespace {
struct MatricesToLoopsPass
    : hfta::impl::HftaMatricesToLoopsBase<MatricesToLoopsPass> {
  using HftaMatricesToLoopsBase::HftaMatricesToLoopsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttrName) || function.isDeclaration())
      return;
    Block &body = function.getBody().front();
    for (Operation &op : body) {
      if (!op.hasTrait<AloneTrait>())
        continue;
      if (&op != &body.front() || !isAlone(function, &op)) {
        op.emitOpError("must be all of its kernel");
        return signalPassFailure();
      }
      if (failed(lower(function, &op, usesLanes)))
        signalPassFailure();
      return;
    }
  }
};
} // namespace
