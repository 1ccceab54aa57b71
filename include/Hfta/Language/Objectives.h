//===- Objectives.h - Losses and metrics in hfta ops ------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_OBJECTIVES_H
#define HFTA_LANGUAGE_OBJECTIVES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

enum class LossKind { crossEntropy, nll, mse, binaryCrossEntropy };

/// Returns whether the loss takes scores of classes: cross_entropy and nll.
bool takesClasses(LossKind kind);

/// The weights of a loss. They are the same for all copies.
struct LossWeights {
  /// A weight for each class; if empty, all are 1.
  std::vector<double> ofClasses;
  /// For binary_cross_entropy: the factors of the losses of label 1. Either one
  /// number, or one for each element of the output's last axis; if empty, 1.
  std::vector<double> ofOnes;
};

struct LossOptions {
  LossKind kind = LossKind::crossEntropy;
  /// The axis of the output that numbers classes; a negative one counts from
  /// the end.
  int64_t axis = -1;
  /// The class whose labels are ignored: their elements don't count in the
  /// mean.
  std::optional<int64_t> ignoreIndex;
  LossWeights weights;
  /// The amount of label smoothing, a float of rank 0; null if there is none.
  Value labelSmoothing;

  /// Returns the ignored class. The default is -100, as in PyTorch.
  int64_t getIgnored() const { return ignoreIndex.value_or(-100); }
  /// Returns whether the label holds a probability for each class rather than a
  /// class number.
  bool takesProbabilities(RankedTensorType output,
                          RankedTensorType label) const;
};

/// Returns an error message if the types of the model's output and of the label
/// don't suit the loss, else an empty text. Axis 0 of both is the micro-batch.
std::string checkLoss(const LossOptions &options, RankedTensorType output,
                      RankedTensorType label);

/// Keys of random numbers, besides the name of their stream. All are i64
/// scalars.
struct RandomKeys {
  Value seed, step, firstSample;
};

struct Loss {
  Value losses;  ///< a loss per element, even for ignored elements
  Value weights; ///< 1 where the element counts, 0 where it is ignored
  /// The values by whose sum the mean divides; null if these are `weights`.
  Value divisors;
  /// Losses, in the shape of `losses`, for targets that are drawn from the
  /// distribution that the output describes. Only their gradient with respect
  /// to the output is meaningful. Null if no targets are drawn.
  Value drawnLosses;
};

/// Builds the ops of a loss.
///
/// - cross_entropy and nll: `output` holds a score (the logarithm of a
///   probability) for each class along the axis. `label` holds class numbers,
///   and has the output's shape without that axis; for cross_entropy it may
///   instead hold a probability for each class, in the output's shape.
/// - mse: the squared differences of output and label.
/// - binary_cross_entropy: `output` holds logits, and `label` probabilities.
///
/// Shapes may also differ in axes of length 1.
///
/// With `keys`, losses for drawn targets are built too. Targets are independent
/// for each element, so that the mean of g gᵀ, where g is the gradient of a
/// drawn loss with respect to the output, is the Fisher matrix. Classes are
/// drawn with the probabilities that the scores describe, regardless of
/// smoothing. For mse, targets are drawn from the normal distribution around
/// the output with variance 1/2, whose negative log-density is the squared
/// difference. For binary_cross_entropy, targets are zeros and ones, with the
/// logits' probabilities. A loss with weights is multiplied by the square root
/// of its weight, so that the mean of g gᵀ is the Hessian of the weighted loss
/// with respect to the output.
Loss buildLoss(OpBuilder &builder, Location loc, const LossOptions &options,
               Value output, Value label,
               const std::optional<RandomKeys> &keys = std::nullopt);

/// Returns the class with the largest probability, the first one of several, as
/// an i64, for a label that holds probabilities.
Value buildLikeliestClass(OpBuilder &builder, Location loc, Value label,
                          int64_t axis);

/// Returns whether `label` holds class numbers along an axis of `output`. If
/// not, `output` must have the label's shape, with one logit for each label.
bool hasClassAxis(RankedTensorType output, RankedTensorType label,
                  int64_t axis);

/// Returns an error message if the types of output and label don't suit the
/// metric, else an empty text.
std::string checkAccuracy(RankedTensorType output, RankedTensorType label,
                          int64_t axis);

/// Returns 1 where the prediction is right, else 0, in the output's element
/// type and the shape of the losses. The predicted class is the first one with
/// the largest score; a logit predicts 1 if it is above 0.
Value buildAccuracy(OpBuilder &builder, Location loc, Value output, Value label,
                    int64_t axis);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_OBJECTIVES_H
