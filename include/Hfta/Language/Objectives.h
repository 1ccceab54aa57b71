//===- Objectives.h - Losses and metrics in hfta ops ------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_OBJECTIVES_H
#define HFTA_LANGUAGE_OBJECTIVES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

enum class LossKind { crossEntropy, nll, mse, binaryCrossEntropy };

/// Whether the loss is one of scores of classes.
bool takesClasses(LossKind kind);

/// The weights of a loss, which all copies have.
struct LossWeights {
  /// One for each class; empty: all are 1.
  std::vector<double> ofClasses;
  /// Factors of the losses of ones: one number, or one for each element of the
  /// output's last axis; empty: 1.
  std::vector<double> ofOnes;
};

struct LossOptions {
  LossKind kind = LossKind::crossEntropy;
  /// The axis of the classes; a negative one counts from the end.
  int64_t axis = -1;
  /// Labels of this class don't count.
  std::optional<int64_t> ignoreIndex;
  LossWeights weights;
  /// A float of rank 0, or null: no smoothing.
  Value labelSmoothing;

  /// Returns the class that is ignored; PyTorch's default is none.
  int64_t getIgnored() const { return ignoreIndex.value_or(-100); }
  /// Whether the label holds a probability for each class rather than the
  /// number of one.
  bool takesProbabilities(RankedTensorType output,
                          RankedTensorType label) const;
};

/// Returns what is wrong with the operands' types; empty if nothing is.
/// `output` is the type of the model's output; `label`, too, has the
/// micro-batch on axis 0.
std::string checkLoss(const LossOptions &options, RankedTensorType output,
                      RankedTensorType label);

/// The keys of random numbers in addition to the name of their stream: i64
/// scalars.
struct RandomKeys {
  Value seed, step, firstSample;
};

struct Loss {
  Value losses;  ///< one per element, whether it counts or not
  Value weights; ///< 1 where the element counts, 0 where it is ignored
  /// The mean divides by the sum of these. Null: by that of `weights`.
  Value divisors;
  /// Losses, in the shape of `losses`, for targets that are drawn from the
  /// distribution that the output describes; only their gradient with respect
  /// to the output matters. Null where no targets are drawn.
  Value drawnLosses;
};

/// Builds a loss. cross_entropy and nll: `output` holds a score (the logarithm
/// of a probability) for each class along the axis, and `label` class numbers
/// in the remaining shape, or, for cross_entropy, floats in the output's shape:
/// probabilities. mse: squared differences. binary_cross_entropy: `output`
/// holds logits, and `label` probabilities. The shapes may differ in axes of
/// length 1.
///
/// With `keys`, targets are drawn too, with independent random numbers for each
/// element, so that the mean of g gᵀ, with g the gradient of a drawn loss, is
/// the Fisher matrix. Classes have the probabilities whose logarithms the
/// scores are, whatever the smoothing. For mse, targets are drawn from the
/// normal distribution around the output with variance 1/2, whose negative
/// logarithm is the squared difference. For binary_cross_entropy they are ones
/// and zeros with the logits' probabilities. A loss with weights of classes, or
/// of ones, is multiplied by the root of its weight: g gᵀ is then the Hessian
/// of the weighted loss with respect to the output.
Loss buildLoss(OpBuilder &builder, Location loc, const LossOptions &options,
               Value output, Value label,
               const std::optional<RandomKeys> &keys = std::nullopt);

/// Returns the first class with the largest probability, as an i64, for a label
/// of probabilities.
Value buildLikeliestClass(OpBuilder &builder, Location loc, Value label,
                          int64_t axis);

/// Returns whether `label` holds numbers of classes along an axis of `output`;
/// otherwise an output of the label's shape holds one logit per label.
bool hasClassAxis(RankedTensorType output, RankedTensorType label,
                  int64_t axis);

/// Returns what is wrong with the operands' types; empty if nothing is.
std::string checkAccuracy(RankedTensorType output, RankedTensorType label,
                          int64_t axis);

/// Returns 1 where the first largest class (or the side of the logit) is the
/// label's, else 0; in the output's element type and in the shape of the
/// losses.
Value buildAccuracy(OpBuilder &builder, Location loc, Value output, Value label,
                    int64_t axis);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_OBJECTIVES_H
