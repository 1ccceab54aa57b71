//===- KernelsToThreads.cpp - Kernels as functions of one thread ----------===//

#include "ElementPuller.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAKERNELSTOTHREADS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

class KernelThreader {
public:
  KernelThreader(func::FuncOp kernel, SymbolTable &symbols)
      : kernel(kernel), symbols(symbols), builder(kernel.getContext()),
        from(&kernel.getBody().front()) {}

  LogicalResult build();

private:
  LogicalResult findTies();
  void makeBlock();
  LogicalResult computeElements();
  void store(unsigned result, Value element);
  Value getGlobal(arith::ConstantOp constant);
  int64_t countElements(unsigned result) const {
    return cast<RankedTensorType>(
               from->getTerminator()->getOperand(result).getType())
        .getNumElements();
  }

  func::FuncOp kernel;
  SymbolTable &symbols;
  OpBuilder builder;
  Block *from, *to = nullptr;
  SmallVector<int64_t> ties;
  /// Of each result.
  SmallVector<Value> targets;
  Value item;
  int64_t items = 0;
};

} // namespace

LogicalResult KernelThreader::findTies() {
  unsigned count = kernel.getNumResults();
  ties.assign(count, -1);
  if (auto stored = kernel->getAttrOfType<DenseI64ArrayAttr>(kTiesAttrName))
    ties.assign(stored.asArrayRef().begin(), stored.asArrayRef().end());
  int64_t arguments = kernel.getNumArguments();
  if (ties.size() == count &&
      llvm::all_of(ties, [&](int64_t tie) { return tie < arguments; }))
    return success();
  return kernel.emitError("expected one entry of ")
         << kTiesAttrName << " a result, -1 or an argument";
}

/// Memory of arguments, then of results that overwrite none, the element's
/// number and scratch memory.
void KernelThreader::makeBlock() {
  to = &kernel.getBody().emplaceBlock();
  auto add = [&](Type type, Location loc) -> Value {
    auto tensor = cast<RankedTensorType>(type);
    // What has no elements may have no strides, either.
    SmallVector<int64_t> shape = {0};
    if (tensor.getNumElements() > 0)
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    return to->addArgument(MemRefType::get(shape, tensor.getElementType()),
                           loc);
  };
  for (BlockArgument argument : from->getArguments())
    add(argument.getType(), argument.getLoc());
  for (auto [tie, result] :
       llvm::zip(ties, from->getTerminator()->getOperands()))
    targets.push_back(tie >= 0 ? Value(to->getArgument(tie))
                               : add(result.getType(), result.getLoc()));
  item = to->addArgument(builder.getIndexType(), kernel.getLoc());
  to->addArgument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
                  kernel.getLoc());
}

Value KernelThreader::getGlobal(arith::ConstantOp constant) {
  auto tensor = cast<RankedTensorType>(constant.getType());
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  OpBuilder outside(kernel);
  auto global = memref::GlobalOp::create(
      outside, constant.getLoc(), "constant", outside.getStringAttr("private"),
      type, constant.getValue(), /*constant=*/true, IntegerAttr());
  symbols.insert(global);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(to);
  return memref::GetGlobalOp::create(builder, constant.getLoc(), type,
                                     global.getSymName());
}

/// All elements are computed before one is stored: a result may lie where an
/// argument does.
LogicalResult KernelThreader::computeElements() {
  ElementPuller puller(builder, to, [&](arith::ConstantOp constant) {
    return getGlobal(constant);
  });
  for (auto [argument, memory] :
       llvm::zip(from->getArguments(), to->getArguments()))
    puller.place(argument, memory);
  SmallVector<Value> elements;
  for (auto [result, tensor] :
       llvm::enumerate(from->getTerminator()->getOperands())) {
    int64_t count = countElements(result);
    if (count == 0) {
      elements.push_back(Value());
      continue;
    }
    // Threads without an element of their own compute the last one again.
    Value number = item;
    if (count < items) {
      builder.setInsertionPointToEnd(to);
      number = arith::MinUIOp::create(builder, tensor.getLoc(), item,
                                      puller.index(count - 1));
    }
    auto type = cast<RankedTensorType>(tensor.getType());
    FailureOr<Value> element =
        puller.pull(tensor, puller.delinearize(builder.getAffineDimExpr(0),
                                               number, type.getShape()));
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  for (auto [result, element] : llvm::enumerate(elements))
    if (element)
      store(result, element);
  return success();
}

void KernelThreader::store(unsigned result, Value element) {
  Location loc = element.getLoc();
  builder.setInsertionPointToEnd(to);
  auto type = cast<MemRefType>(targets[result].getType());
  auto put = [&](OpBuilder &b, Location loc) {
    SmallVector<Value> indices;
    AffineExpr number = b.getAffineDimExpr(0);
    for (int64_t axis = type.getRank(); axis-- > 0;) {
      int64_t size = type.getDimSize(axis);
      AffineExpr own = axis == 0 ? number : number % size;
      indices.push_back(affine::AffineApplyOp::create(
          b, loc, AffineMap::get(1, 0, own), item));
      number = number.floorDiv(size);
    }
    std::reverse(indices.begin(), indices.end());
    memref::StoreOp::create(b, loc, element, targets[result], indices);
  };
  int64_t count = type.getNumElements();
  if (count == items)
    return put(builder, loc);
  Value end = arith::ConstantIndexOp::create(builder, loc, count);
  Value isOwn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, item, end);
  scf::IfOp::create(builder, loc, isOwn, [&](OpBuilder &b, Location loc) {
    put(b, loc);
    scf::YieldOp::create(b, loc);
  });
}

LogicalResult KernelThreader::build() {
  if (failed(findTies()))
    return failure();
  for (unsigned result = 0; result < kernel.getNumResults(); ++result)
    items = std::max(items, countElements(result));
  makeBlock();
  if (failed(computeElements()))
    return failure();
  builder.setInsertionPointToEnd(to);
  func::ReturnOp::create(builder, kernel.getLoc());
  from->dropAllReferences();
  from->erase();
  kernel.setType(builder.getFunctionType(to->getArgumentTypes(), {}));
  kernel->removeAttr(kTiesAttrName);
  kernel->setAttr(kItemsAttrName, builder.getI64IntegerAttr(items));
  return success();
}

namespace {
struct KernelsToThreadsPass
    : hfta::impl::HftaKernelsToThreadsBase<KernelsToThreadsPass> {
  using HftaKernelsToThreadsBase::HftaKernelsToThreadsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kKernelAttrName) || kernel.isDeclaration() ||
          kernel->hasAttr(kItemsAttrName))
        continue;
      if (failed(KernelThreader(kernel, symbols).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
