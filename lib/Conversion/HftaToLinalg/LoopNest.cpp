//===- LoopNest.cpp - Structured ops built axis by axis -------------------===//

#include "LoopNest.h"
#include "Hfta/Conversion/SumOrder.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

Axis LoopNest::add(int64_t size, utils::IteratorType kind) {
  sizes.push_back(size);
  kinds.push_back(kind);
  return getAffineDimExpr(sizes.size() - 1, builder.getContext());
}

Axes LoopNest::addParallel(ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(sizes,
                             [&](int64_t size) { return addParallel(size); });
}

Axes LoopNest::addReduction(ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(sizes,
                             [&](int64_t size) { return addReduction(size); });
}

SmallVector<int64_t> LoopNest::getSizes(ArrayRef<Axis> axes) const {
  return llvm::map_to_vector(axes, [&](Axis axis) { return getSize(axis); });
}

void LoopNest::read(Value tensor, ArrayRef<Axis> position) {
  inputs.push_back(tensor);
  inputPositions.emplace_back(position);
}

void LoopNest::write(Type elementType, ArrayRef<Axis> position) {
  outputs.push_back(
      tensor::EmptyOp::create(builder, loc, getSizes(position), elementType));
  outputPositions.emplace_back(position);
}

void LoopNest::accumulate(Value initial, ArrayRef<Axis> position) {
  update(createFilled(builder, loc, getSizes(position), initial), position);
}

void LoopNest::update(Value initial, ArrayRef<Axis> position) {
  outputs.push_back(initial);
  outputPositions.emplace_back(position);
}

void LoopNest::readSizes() {
  Axes hidden;
  for (unsigned position = 0, end = sizes.size(); position < end; ++position) {
    Axis axis = getAffineDimExpr(position, builder.getContext());
    auto stands = [&](const Axes &axes) {
      return llvm::is_contained(axes, axis);
    };
    if (!llvm::any_of(inputPositions, stands) &&
        !llvm::any_of(outputPositions, stands))
      hidden.push_back(axis);
  }
  if (!hidden.empty())
    read(tensor::EmptyOp::create(builder, loc, getSizes(hidden),
                                 builder.getI8Type()),
         hidden);
}

SmallVector<Value> LoopNest::build(Body body) {
  unsigned operands = inputs.size();
  readSizes();
  bool hasSizes = inputs.size() != operands;
  SmallVector<AffineMap> maps;
  for (const Axes &position :
       llvm::concat<const Axes>(inputPositions, outputPositions))
    maps.push_back(
        AffineMap::get(sizes.size(), 0, position, builder.getContext()));
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(outputs)), inputs, outputs, maps,
      kinds, [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
        SmallVector<Value> scalars(arguments);
        if (hasSizes)
          scalars.erase(scalars.begin() + operands);
        linalg::YieldOp::create(nested, nestedLoc,
                                body(nested, nestedLoc, scalars));
      });
  stateSumOrder(op);
  return SmallVector<Value>(op.getResults());
}
