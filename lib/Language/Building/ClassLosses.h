//===- ClassLosses.h - Losses of class scores -------------------*- C++ -*-===//
//
// `cross_entropy` takes a score of each class and `nll` the logarithm of its
// probability. Both take a class number as the label; `cross_entropy` also
// takes a probability of each class.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_CLASSLOSSES_H
#define HFTA_LIB_LANGUAGE_BUILDING_CLASSLOSSES_H

#include "Hfta/Language/Objectives.h"

namespace mlir::hfta::language {

/// The names of arguments, for records and checks.
inline constexpr llvm::StringLiteral kIgnoreIndexArgument = "ignore_index";
inline constexpr llvm::StringLiteral kSmoothingArgument = "label_smoothing";
inline constexpr llvm::StringLiteral kClassWeightsArgument = "class_weights";
inline constexpr llvm::StringLiteral kLogTargetArgument = "log_target";
inline constexpr llvm::StringLiteral kAdvantageArgument = "advantage";
inline constexpr llvm::StringLiteral kGammaArgument = "gamma";

LabelKind classifyClassNumbers(const ObjectiveArguments &arguments,
                               ObjectiveTypes types);
LabelKind classifyClassesOrProbabilities(const ObjectiveArguments &arguments,
                                         ObjectiveTypes types);

/// Returns the number of the class whose elements don't count.
int64_t getIgnoredClass(const ObjectiveArguments &arguments);

ObjectiveError checkNll(const ObjectiveArguments &arguments,
                        ObjectiveTypes types);
ObjectiveError checkCrossEntropy(const ObjectiveArguments &arguments,
                                 ObjectiveTypes types);

/// Builds the loss. Targets are drawn with the probabilities whose logarithms
/// the scores are, whatever the smoothing. With weights of classes, drawn
/// losses are multiplied by the root of the element's weight: g gᵀ is then the
/// Hessian of the weighted loss with respect to the output.
Loss buildNll(const ObjectiveOperands &operands,
              const std::optional<RandomKeys> &keys);
Loss buildCrossEntropy(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &keys);

/// Builds the negative log-probability of the label's class times `advantage`,
/// which has no gradient (R. J. Williams, "Simple statistical
/// gradient-following algorithms for connectionist reinforcement learning",
/// 1992).
ObjectiveError checkPolicyGradient(const ObjectiveArguments &arguments,
                                   ObjectiveTypes types);
Loss buildPolicyGradient(const ObjectiveOperands &operands,
                         const std::optional<RandomKeys> &keys);

/// Builds -(1 - p)^gamma log p, where p is the probability of the label's class
/// (T.-Y. Lin et al., "Focal loss for dense object detection", 2017).
Loss buildClassFocal(const ObjectiveOperands &operands,
                     const std::optional<RandomKeys> &keys);

/// Builds T² times the Kullback-Leibler divergence of softmax(output / T) from
/// softmax(label / T), whose gradient isn't followed. Source: G. Hinton, O.
/// Vinyals, J. Dean, "Distilling the knowledge in a neural network", 2015.
Loss buildDistillation(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &keys);

ObjectiveError checkKl(const ObjectiveArguments &arguments,
                       ObjectiveTypes types);
/// Builds the sum of p (log p - x) along the axis, where a probability p of 0
/// has no term. Targets are drawn with the probabilities whose logarithms the
/// outputs are.
Loss buildKl(const ObjectiveOperands &operands,
             const std::optional<RandomKeys> &keys);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_CLASSLOSSES_H
