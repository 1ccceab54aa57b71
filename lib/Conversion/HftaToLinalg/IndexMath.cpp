//===- IndexMath.cpp - Arithmetic on indices ------------------------------===//

#include "IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::createCarryingLoop(OpBuilder &builder, Location loc, Value begin,
                               Value end, int64_t step, Value carried,
                               function_ref<Value(Value, Value)> body) {
  auto build = [&](OpBuilder &nested, Location nestedLoc, Value index,
                   ValueRange running) {
    scf::YieldOp::create(nested, nestedLoc, body(index, running.front()));
  };
  return scf::ForOp::create(builder, loc, begin, end,
                            createIndex(builder, loc, step), carried, build)
      .getResult(0);
}

Value hfta::createPart(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  auto type = RankedTensorType::get(shape, getElementType(tensor));
  return tensor::ExtractSliceOp::create(
      builder, loc, type, tensor, offsets,
      getAsIndexOpFoldResult(builder.getContext(), sizes), strides);
}
