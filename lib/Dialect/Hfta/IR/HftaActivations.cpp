//===- HftaActivations.cpp - Ops on [batch, channels, space…] -------------===//

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

/// Doesn't choose, since statistics must change no bit of what is trained
/// without them.
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
