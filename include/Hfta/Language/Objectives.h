//===- Objectives.h - Losses and metrics in hfta ops ------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_OBJECTIVES_H
#define HFTA_LANGUAGE_OBJECTIVES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <optional>
#include <string>

namespace mlir::hfta {

enum class LossKind { crossEntropy, nll, mse, binaryCrossEntropy };

struct LossOptions {
  LossKind kind = LossKind::crossEntropy;
  /// The axis of the classes; negative ones count from the end.
  int64_t axis = -1;
  /// Labels of this class have weight 0 (PyTorch's default).
  int64_t ignoreIndex = -100;
  /// A float of rank 0, or null: no smoothing.
  Value labelSmoothing;
};

/// What is wrong with the operands' types; empty if nothing. `output` is the
/// model's, `label` has the micro-batch on axis 0 too.
std::string checkLoss(const LossOptions &options, RankedTensorType output,
                      RankedTensorType label);

/// What random numbers are keyed by besides their own name: i64 scalars.
struct RandomKeys {
  Value seed, step, firstSample;
};

struct Loss {
  Value losses;  ///< an element each, unweighted
  Value weights; ///< 1 where it counts, 0 where it is ignored
  /// Losses, as `losses`, beside targets that are drawn from what the output
  /// says of them; of these the gradient by the output alone counts. Null where
  /// nothing is drawn.
  Value drawnLosses;
};

/// cross_entropy, nll: `output` holds a score (a logarithm of a probability)
/// for each class along the axis, `label` class numbers in the remaining
/// shape. mse: squared differences. binary_cross_entropy: `output` holds
/// logits, `label` probabilities. Axes of length 1 may differ.
///
/// With `keys` targets are drawn, too, each element with random numbers of its
/// own, so that the mean of a drawn loss' g gᵀ is its Fisher matrix: classes
/// with the probabilities that the scores are logarithms of, whatever the
/// smoothing; for mse what a normal distribution around the output with
/// variance 1/2 gives, whose negative logarithm is the squared difference; ones
/// and zeros with the logits' probabilities.
Loss buildLoss(OpBuilder &builder, Location loc, const LossOptions &options,
               Value output, Value label,
               const std::optional<RandomKeys> &keys = std::nullopt);

/// Whether `label` numbers the classes along an axis of `output`; otherwise an
/// output of the label's shape is one logit a label.
bool hasClassAxis(RankedTensorType output, RankedTensorType label,
                  int64_t axis);

/// What is wrong with the operands' types; empty if nothing.
std::string checkAccuracy(RankedTensorType output, RankedTensorType label,
                          int64_t axis);

/// 1 where the first largest class (or the side of the logit) is the label's,
/// else 0; in the output's element type and in the shape of the losses.
Value buildAccuracy(OpBuilder &builder, Location loc, Value output, Value label,
                    int64_t axis);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_OBJECTIVES_H
