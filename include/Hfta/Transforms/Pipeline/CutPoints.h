//===- CutPoints.h - Values after which a model can be cut ------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_PIPELINE_CUTPOINTS_H
#define HFTA_TRANSFORMS_PIPELINE_CUTPOINTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Returns the names of the values after which the model of a fused module can
/// be cut, in the order in which data go through them. Each value by itself
/// carries on the training: what comes after it depends on what comes before it
/// only through this value, apart from parameters, labels, and values computed
/// from data that have no gradient, such as a mask. Between two cut points
/// there is at least one layer with a trained weight. The option `cuts=all` of
/// hfta-plan-pipeline means these values.
std::vector<std::string> findCutPoints(ModuleOp module);

/// Returns whether an `hfta.read` of the model reads the trained weight of a
/// layer.
bool isWeightRead(ReadOp read);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PIPELINE_CUTPOINTS_H
