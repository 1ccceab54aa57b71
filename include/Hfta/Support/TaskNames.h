//===- TaskNames.h - Names of tasks' parts and of schedules -----*- C++ -*-===//
//
// Names of tasks' parts and of schedules that several files of the compiler
// use. Tasks and schedules are found by name, so that a new one needs no entry
// in a list.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SUPPORT_TASKNAMES_H
#define HFTA_SUPPORT_TASKNAMES_H

#include "llvm/ADT/StringRef.h"

/// Parts of tasks.
namespace mlir::hfta::parts {
/// Functions from which hfta-split-tasks makes the tasks of the parts below:
/// the training or evaluation of one micro-batch, and an inference.
constexpr llvm::StringLiteral kTraining = "training";
constexpr llvm::StringLiteral kEvaluation = "evaluation";
constexpr llvm::StringLiteral kInference = "inference";
constexpr llvm::StringLiteral kInit = "init";
/// Augments the samples of a micro-batch, once for all copies.
constexpr llvm::StringLiteral kAugment = "augment";
constexpr llvm::StringLiteral kForward = "forward";
/// Repeats those ops of a forward whose results the backward needs and the
/// forward hasn't saved.
constexpr llvm::StringLiteral kRecompute = "recompute";
constexpr llvm::StringLiteral kBackward = "backward";
/// The second half of a backward that is split in two: the gradients of
/// weights, for which no other block waits.
constexpr llvm::StringLiteral kBackwardWeight = "backward_weight";
/// Updates running statistics with those of one micro-batch.
constexpr llvm::StringLiteral kStatistics = "statistics";
/// Versions of forward, backward and backward_weight that also add up the
/// second moments that a preconditioner needs.
constexpr llvm::StringLiteral kForwardMoments = "forward_moments";
constexpr llvm::StringLiteral kBackwardMoments = "backward_moments";
constexpr llvm::StringLiteral kBackwardWeightMoments =
    "backward_weight_moments";
/// Adds up the moments of inputs that all copies share. It runs once for all
/// copies.
constexpr llvm::StringLiteral kSharedMoments = "shared_moments";
/// A backward from the loss for randomly drawn targets, which only adds up
/// moments. It replaces the versions of backward with moments if targets are
/// drawn at random.
constexpr llvm::StringLiteral kSampledMoments = "sampled_moments";
/// Updates the running means of a preconditioner's moments (the factors).
constexpr llvm::StringLiteral kCurvature = "curvature";
/// Inverts factors, or computes their eigenvectors.
constexpr llvm::StringLiteral kInvert = "invert";
/// Multiplies gradients by the inverses of factors.
constexpr llvm::StringLiteral kPrecondition = "precondition";
/// Computes the number by which preconditioned gradients are multiplied to
/// limit the step.
constexpr llvm::StringLiteral kScale = "scale";
/// Versions of backward, backward_weight and precondition, with and without
/// moments, for steps of one micro-batch. For some layers they compute the
/// preconditioned gradient directly from the rows of input and output gradient,
/// without forming the gradient.
constexpr llvm::StringLiteral kBackwardRows = "backward_rows";
constexpr llvm::StringLiteral kBackwardRowsMoments = "backward_rows_moments";
constexpr llvm::StringLiteral kBackwardWeightRows = "backward_weight_rows";
constexpr llvm::StringLiteral kBackwardWeightRowsMoments =
    "backward_weight_rows_moments";
constexpr llvm::StringLiteral kPreconditionRows = "precondition_rows";
/// Adds up the partial sums of another group or rank.
constexpr llvm::StringLiteral kCombine = "combine";
/// Computes the mean loss that users see from the sum that tasks have added up.
constexpr llvm::StringLiteral kReport = "report";
constexpr llvm::StringLiteral kNorm = "norm";
/// Computes the number by which gradients are multiplied, from their norms.
constexpr llvm::StringLiteral kClip = "clip";
constexpr llvm::StringLiteral kUpdate = "update";
constexpr llvm::StringLiteral kEvaluate = "evaluate";
constexpr llvm::StringLiteral kInfer = "infer";

/// Returns the part that is the version of `part` with moments; empty if there
/// is none.
inline llvm::StringRef getMomentsPart(llvm::StringRef part) {
  if (part == kForward)
    return kForwardMoments;
  if (part == kBackward)
    return kBackwardMoments;
  return part == kBackwardWeight ? llvm::StringRef(kBackwardWeightMoments)
                                 : llvm::StringRef();
}

/// Returns the part that is the version of `part` for rows; empty if there is
/// none.
inline llvm::StringRef getRowsPart(llvm::StringRef part) {
  if (part == kBackward)
    return kBackwardRows;
  if (part == kBackwardMoments)
    return kBackwardRowsMoments;
  if (part == kBackwardWeight)
    return kBackwardWeightRows;
  if (part == kBackwardWeightMoments)
    return kBackwardWeightRowsMoments;
  return part == kPrecondition ? llvm::StringRef(kPreconditionRows)
                               : llvm::StringRef();
}

/// Returns whether the part has a single task, which has no block and runs in
/// the stage of the last block, because it uses the losses or the results of
/// all blocks.
inline bool isOfLastBlock(llvm::StringRef part) {
  return part == kReport || part == kScale;
}
} // namespace mlir::hfta::parts

/// Names of the schedules that the runtime runs.
namespace mlir::hfta::schedules {
constexpr llvm::StringLiteral kInitialize = "initialize";
constexpr llvm::StringLiteral kStep = "step";
constexpr llvm::StringLiteral kAccumulate = "accumulate";
constexpr llvm::StringLiteral kUpdate = "update";
constexpr llvm::StringLiteral kEvaluate = "evaluate";
constexpr llvm::StringLiteral kInfer = "infer";
// Schedules for windows of several steps: `begin_turn` fetches the state of
// some copies, `turn_step` runs one of their steps, and `end_turn` writes the
// state back. If two turns' state fits into memory, `begin_turn_beside` fetches
// the next turn's state while the present turn still runs.
constexpr llvm::StringLiteral kBeginTurn = "begin_turn";
constexpr llvm::StringLiteral kBeginTurnBeside = "begin_turn_beside";
constexpr llvm::StringLiteral kTurnStep = "turn_step";
constexpr llvm::StringLiteral kEndTurn = "end_turn";
constexpr llvm::StringLiteral kOfTurn[] = {kBeginTurn, kTurnStep, kEndTurn,
                                           kBeginTurnBeside};
constexpr llvm::StringLiteral kAll[] = {
    kInitialize, kStep,      kAccumulate, kUpdate,  kEvaluate,
    kInfer,      kBeginTurn, kTurnStep,   kEndTurn, kBeginTurnBeside};
} // namespace mlir::hfta::schedules

#endif // HFTA_SUPPORT_TASKNAMES_H
