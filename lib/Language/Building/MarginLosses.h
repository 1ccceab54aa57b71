//===- MarginLosses.h - Losses of margins and embeddings --------*- C++ -*-===//
//
// Losses that push scores, or distances of vectors, apart by a margin.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_MARGINLOSSES_H
#define HFTA_LIB_LANGUAGE_BUILDING_MARGINLOSSES_H

#include "Hfta/Language/Objectives.h"

#include <cfloat>

namespace mlir::hfta::language {

/// The names of arguments, for records and checks.
inline constexpr llvm::StringLiteral kMarginArgument = "margin";
inline constexpr llvm::StringLiteral kPowerArgument = "p";
inline constexpr llvm::StringLiteral kNegativeArgument = "negative";
inline constexpr llvm::StringLiteral kSwapArgument = "swap";
inline constexpr llvm::StringLiteral kAlikeArgument = "label";
inline constexpr llvm::StringLiteral kTemperatureArgument = "temperature";

inline constexpr ObjectiveParameter kMargin = {
    kMarginArgument, ObjectiveParameter::Kind::number, {0, FLT_MAX}, "1"};

inline constexpr ObjectiveParameter kNoMargin = {
    kMarginArgument, ObjectiveParameter::Kind::number, {0, FLT_MAX}, "0"};

Loss buildSoftMargin(const ObjectiveOperands &operands,
                     const std::optional<RandomKeys> &keys);
Loss buildHinge(const ObjectiveOperands &operands,
                const std::optional<RandomKeys> &keys);
Loss buildHingeEmbedding(const ObjectiveOperands &operands,
                         const std::optional<RandomKeys> &keys);
Loss buildMultiMargin(const ObjectiveOperands &operands,
                      const std::optional<RandomKeys> &keys);

ObjectiveError checkMarginRanking(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types);
Loss buildMarginRanking(const ObjectiveOperands &operands,
                        const std::optional<RandomKeys> &keys);

ObjectiveError checkTriplet(const ObjectiveArguments &arguments,
                            ObjectiveTypes types);
/// The distances are those of PyTorch's TripletMarginLoss, which adds 1e-6 to
/// each difference.
Loss buildTriplet(const ObjectiveOperands &operands,
                  const std::optional<RandomKeys> &keys);

ObjectiveError checkContrastive(const ObjectiveArguments &arguments,
                                ObjectiveTypes types);
/// Source: R. Hadsell, S. Chopra, Y. LeCun, "Dimensionality reduction by
/// learning an invariant mapping", 2006.
Loss buildContrastive(const ObjectiveOperands &operands,
                      const std::optional<RandomKeys> &keys);

/// The operands of checkContrastive(). Cosines are those of PyTorch's
/// CosineEmbeddingLoss, which adds 1e-12 to squared lengths.
Loss buildCosineEmbedding(const ObjectiveOperands &operands,
                          const std::optional<RandomKeys> &keys);

ObjectiveError checkInfoNce(const ObjectiveArguments &arguments,
                            ObjectiveTypes types);
/// Builds a loss that mixes the samples of a batch, as each one's negatives are
/// all others. Source: A. Radford et al., "Learning transferable visual models
/// from natural language supervision", 2021.
Loss buildInfoNce(const ObjectiveOperands &operands,
                  const std::optional<RandomKeys> &keys);

/// Builds a loss like buildInfoNce() in which the vectors of both operands are
/// each other's negatives. Source: T. Chen et al., "A simple framework for
/// contrastive learning of visual representations", 2020.
Loss buildNtXent(const ObjectiveOperands &operands,
                 const std::optional<RandomKeys> &keys);

ObjectiveError checkOrthogonality(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types);
/// Builds the Frobenius norm of A Aᵀ - 1 for each sample's matrix A. Source: C.
/// R. Qi et al., "PointNet: deep learning on point sets for 3D classification
/// and segmentation", 2017, which squares it.
Loss buildOrthogonality(const ObjectiveOperands &operands,
                        const std::optional<RandomKeys> &keys);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_MARGINLOSSES_H
