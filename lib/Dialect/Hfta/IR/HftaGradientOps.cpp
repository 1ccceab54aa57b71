//===- HftaGradientOps.cpp - hfta.stop_gradient ---------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.cpp.inc"

LogicalResult StopGradientOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

Value StopGradientOp::buildScalar(OpBuilder &, Location, ValueRange scalars) {
  return scalars.front();
}

SmallVector<Value> StopGradientOp::decompose(OpBuilder &) {
  return {getInput()};
}

bool hfta::usesBatchStatistics(BatchNormOp norm) {
  return !norm.getRunningMean() ||
         (norm.getTraining() && !norm->hasAttr(kFrozenAttrName));
}
