//===- CutPoints.h - Where a model can be cut into layers -------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_CUTPOINTS_H
#define HFTA_TRANSFORMS_CUTPOINTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Names of values of a fused module's model that each alone, with parameters,
/// labels, and what is made of data without a gradient (such as a mask), carry
/// a training on: after each of them it can be cut. In the order in which data
/// go through them; between two of them lies a layer with a trained weight.
/// This is what `cuts=all` of hfta-plan-pipeline stands for.
std::vector<std::string> findCutPoints(ModuleOp module);

/// Whether a model's read is that of a layer's trained weight.
bool isWeightRead(ReadOp read);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_CUTPOINTS_H
