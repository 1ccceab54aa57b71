//===- ObjectiveBuilding.h - What losses and metrics share ------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_OBJECTIVEBUILDING_H
#define HFTA_LIB_LANGUAGE_BUILDING_OBJECTIVEBUILDING_H

#include "Building/TensorBuilder.h"
#include "Hfta/Language/Objectives.h"

namespace mlir::hfta::language {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns whether two shapes are equal apart from axes of length 1 that aren't
/// the first.
bool areAlike(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// Returns the shape without one of its axes.
SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis);

/// Returns the axis, where negative numbers count from the last one. Returns
/// nothing if it doesn't exist or is the batch axis.
std::optional<int64_t> findAxis(RankedTensorType type, int64_t axis);

/// Checks that the label holds one class number for each vector of classes
/// along the axis of the output.
ObjectiveError checkClasses(ObjectiveTypes types, int64_t axis);
/// Checks that output and label have the same shape.
ObjectiveError checkValues(ObjectiveTypes types);
/// Checks that a list of weights, unless it is empty, has `count` elements.
/// `what` says what they are.
ObjectiveError checkCount(ArrayRef<double> weights, int64_t count,
                          const Twine &what, ObjectiveTypes types);

/// Checks that an argument that is a tensor has this shape, or is one number.
ObjectiveError checkTensor(const ObjectiveArguments &arguments,
                           llvm::StringRef name, ArrayRef<int64_t> shape);

/// Returns whether the label holds class numbers along an axis of the output.
/// If not, the output must have the label's shape, with one logit for each
/// label.
bool hasClassAxis(ObjectiveTypes types, int64_t axis);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the label in the output's shape and element type.
Value buildTarget(const ObjectiveOperands &operands);

/// Returns a loss of which every element counts.
Loss countAll(TensorBuilder &tensors, Value losses);

/// Returns an argument that is a number of each copy, or its default, in the
/// type and shape of `like`.
Value getNumberLike(const ObjectiveOperands &operands, llvm::StringRef name,
                    double byDefault, Value like);

/// Returns an argument that is a tensor in the type and shape of `like`.
Value getTensorLike(const ObjectiveOperands &operands, llvm::StringRef name,
                    Value like);

/// Returns a scalar, such as a copy's number, in the type and shape of `like`.
Value fillLike(TensorBuilder &tensors, Value number, Value like);

/// Returns the index of the first maximum along `axis`.
Value findLargest(TensorBuilder &tensors, Value values, int64_t axis,
                  Type indexType);

/// Returns the entries of `values` at the index `chosen` along `axis`; zeros
/// for indices that don't exist.
Value pick(TensorBuilder &tensors, Value values, Value chosen, int64_t axis);

/// Draws uniform numbers in [0, 1), one for each of `like`'s elements. Each
/// suffix is a random stream of its own.
Value drawUniform(TensorBuilder &tensors, const RandomKeys &keys, Value like,
                  StringRef suffix = "");

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_OBJECTIVEBUILDING_H
