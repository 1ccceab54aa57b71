//===- HftaActivations.cpp - Ops on activations and their layouts ---------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

using namespace mlir;
using namespace mlir::hfta;

using Activations = SmallVector<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

Activations ConvOp::getActivations() { return {{getInput()}, {getResult()}}; }

Activations ConvInputGradientOp::getActivations() {
  return {{getGradient()}, {getResult()}};
}

Activations ConvWeightGradientOp::getActivations() {
  return {{getInput()}, {getGradient()}};
}

Activations PatchMomentOp::getActivations() { return {{getInput()}}; }

/// The op doesn't influence the choice of a layout: adding statistics to a
/// training must not change any bit of what is trained.
bool PatchMomentOp::choosesLayout() { return false; }

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

Activations MaxPoolOp::getActivations() {
  return {{getInput()}, {getResult(), getIndices()}};
}

Activations MaxPoolGradientOp::getActivations() {
  return {{getGradient(), getIndices()}, {getResult()}};
}

Activations AveragePoolOp::getActivations() {
  return {{getInput()}, {getResult()}};
}

Activations AveragePoolGradientOp::getActivations() {
  return {{getGradient()}, {getResult()}};
}
