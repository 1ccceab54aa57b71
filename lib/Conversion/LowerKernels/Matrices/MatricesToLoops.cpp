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

/// Gives the kernel memory for tensors, the item's number and scratch memory.
/// What the op computes for nobody goes to scratch memory.
static MatrixKernel makeArguments(func::FuncOp function, Operation *op) {
  Block &body = function.getBody().front();
  Operation *end = body.getTerminator();
  MatrixKernel kernel;
  for (Value operand : op->getOperands())
    kernel.operands.push_back(operand);
  kernel.results.resize(op->getNumResults());
  for (Value result : end->getOperands()) {
    unsigned number = cast<OpResult>(result).getResultNumber();
    kernel.results[number] =
        body.addArgument(getMemoryType(result.getType()), result.getLoc());
  }
  OpBuilder builder(op);
  kernel.item = body.addArgument(builder.getIndexType(), op->getLoc());
  body.addArgument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
                   op->getLoc());
  for (auto [memory, result] : llvm::zip(kernel.results, op->getResults()))
    if (!memory)
      memory = memref::AllocOp::create(builder, op->getLoc(),
                                       getMemoryType(result.getType()));
  return kernel;
}

/// Whether the function's results are all the op's, each at most once.
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

static LogicalResult emit(LoopBuilder &builder, Operation *op,
                          const MatrixKernel &kernel) {
  if (auto inverse = dyn_cast<SpdInverseOp>(op))
    return emitInverse(builder, inverse, kernel), success();
  if (auto eigen = dyn_cast<SymmetricEigenOp>(op))
    return emitEigen(builder, eigen, kernel), success();
  return op->emitError("has no lowering to loops");
}

static LogicalResult lower(func::FuncOp function, Operation *op) {
  Block &body = function.getBody().front();
  int64_t matrices =
      cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
  MatrixKernel kernel = makeArguments(function, op);
  body.getTerminator()->eraseOperands(0,
                                      body.getTerminator()->getNumOperands());
  LoopBuilder builder(op->getLoc(), op);
  if (failed(emit(builder, op, kernel)))
    return failure();
  op->erase();
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      argument.setType(getMemoryType(argument.getType()));
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange()));
  function->removeAttr(kTiesAttrName);
  function->setAttr(kItemsAttrName, builder.getI64IntegerAttr(matrices));
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
        op.emitError("must be all of its kernel");
        return signalPassFailure();
      }
      if (failed(lower(function, &op)))
        signalPassFailure();
      return;
    }
  }
};
} // namespace
