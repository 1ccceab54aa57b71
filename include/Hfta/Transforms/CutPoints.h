//===- CutPoints.h - Values after which a model can be cut ------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_CUTPOINTS_H
#define HFTA_TRANSFORMS_CUTPOINTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Finds the cut points of a fused module's model: the names of values after
/// which the model can be cut, since each alone (with parameters, labels, and
/// values made of data without a gradient, such as a mask) carries a training
/// on. They are in the order in which data go through them; between two of them
/// lies a layer with a trained weight. `cuts=all` of hfta-plan-pipeline stands
/// for these.
std::vector<std::string> findCutPoints(ModuleOp module);

/// Whether a read of the model reads a layer's trained weight.
bool isWeightRead(ReadOp read);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_CUTPOINTS_H
