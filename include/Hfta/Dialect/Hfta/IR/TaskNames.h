//===- TaskNames.h - Names of tasks' parts and of schedules -----*- C++ -*-===//
//
// Names of tasks' parts and of schedules that several files of the compiler
// use. Tasks and schedules are found by name, so that a new one needs no entry
// in a list.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TASKNAMES_H
#define HFTA_DIALECT_HFTA_IR_TASKNAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

/// Parts of tasks.
namespace mlir::hfta::parts {
/// Functions from which hfta-split-tasks makes the tasks of the parts below:
/// the training or evaluation of one micro-batch, and an inference.
constexpr StringLiteral kTraining = "training";
constexpr StringLiteral kEvaluation = "evaluation";
constexpr StringLiteral kInference = "inference";
constexpr StringLiteral kInit = "init";
constexpr StringLiteral kForward = "forward";
/// Repeats those ops of a forward whose results the backward needs and the
/// forward hasn't saved.
constexpr StringLiteral kRecompute = "recompute";
constexpr StringLiteral kBackward = "backward";
/// The second half of a backward that is split in two: the gradients of
/// weights, for which no other block waits.
constexpr StringLiteral kBackwardWeight = "backward_weight";
/// Updates running statistics with those of one micro-batch.
constexpr StringLiteral kStatistics = "statistics";
/// Versions of forward, backward and backward_weight that also add up the
/// second moments that a preconditioner needs.
constexpr StringLiteral kForwardMoments = "forward_moments";
constexpr StringLiteral kBackwardMoments = "backward_moments";
constexpr StringLiteral kBackwardWeightMoments = "backward_weight_moments";
/// Adds up the moments of inputs that all copies share. It runs once for all
/// copies.
constexpr StringLiteral kSharedMoments = "shared_moments";
/// A backward from the loss for randomly drawn targets, which only adds up
/// moments. It replaces the versions of backward with moments if targets are
/// drawn at random.
constexpr StringLiteral kSampledMoments = "sampled_moments";
/// Updates the running means of a preconditioner's moments (the factors).
constexpr StringLiteral kCurvature = "curvature";
/// Inverts factors, or computes their eigenvectors.
constexpr StringLiteral kInvert = "invert";
/// Multiplies gradients by the inverses of factors.
constexpr StringLiteral kPrecondition = "precondition";
/// Computes the number by which preconditioned gradients are multiplied to
/// limit the step.
constexpr StringLiteral kScale = "scale";
/// Versions of backward, backward_weight and precondition, with and without
/// moments, for steps of one micro-batch. For some layers they compute the
/// preconditioned gradient directly from the rows of input and output gradient,
/// without forming the gradient.
constexpr StringLiteral kBackwardRows = "backward_rows";
constexpr StringLiteral kBackwardRowsMoments = "backward_rows_moments";
constexpr StringLiteral kBackwardWeightRows = "backward_weight_rows";
constexpr StringLiteral kBackwardWeightRowsMoments =
    "backward_weight_rows_moments";
constexpr StringLiteral kPreconditionRows = "precondition_rows";
/// Adds up the partial sums of another group or rank.
constexpr StringLiteral kCombine = "combine";
/// Computes the mean loss that users see from the sum that tasks have added up.
constexpr StringLiteral kReport = "report";
constexpr StringLiteral kNorm = "norm";
/// Computes the number by which gradients are multiplied, from their norms.
constexpr StringLiteral kClip = "clip";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";

/// Returns the part that is the version of `part` with moments; empty if there
/// is none.
inline StringRef getMomentsPart(StringRef part) {
  if (part == kForward)
    return kForwardMoments;
  if (part == kBackward)
    return kBackwardMoments;
  return part == kBackwardWeight ? StringRef(kBackwardWeightMoments)
                                 : StringRef();
}

/// Returns the part that is the version of `part` for rows; empty if there is
/// none.
inline StringRef getRowsPart(StringRef part) {
  if (part == kBackward)
    return kBackwardRows;
  if (part == kBackwardMoments)
    return kBackwardRowsMoments;
  if (part == kBackwardWeight)
    return kBackwardWeightRows;
  if (part == kBackwardWeightMoments)
    return kBackwardWeightRowsMoments;
  return part == kPrecondition ? StringRef(kPreconditionRows) : StringRef();
}

/// Returns whether the part has a single task, which has no block and runs in
/// the stage of the last block, because it uses the losses or the results of
/// all blocks.
inline bool isOfLastBlock(StringRef part) {
  return part == kReport || part == kScale;
}
} // namespace mlir::hfta::parts

/// Names of the schedules that the runtime runs.
namespace mlir::hfta::schedules {
constexpr StringLiteral kInitialize = "initialize";
constexpr StringLiteral kStep = "step";
constexpr StringLiteral kAccumulate = "accumulate";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";
// Schedules for windows of several steps: `begin_turn` fetches the state of
// some copies, `turn_step` runs one of their steps, and `end_turn` writes the
// state back. If two turns' state fits into memory, `begin_turn_beside` fetches
// the next turn's state while the present turn still runs.
constexpr StringLiteral kBeginTurn = "begin_turn";
constexpr StringLiteral kBeginTurnBeside = "begin_turn_beside";
constexpr StringLiteral kTurnStep = "turn_step";
constexpr StringLiteral kEndTurn = "end_turn";
constexpr StringLiteral kOfTurn[] = {kBeginTurn, kTurnStep, kEndTurn,
                                     kBeginTurnBeside};
constexpr StringLiteral kAll[] = {
    kInitialize, kStep,      kAccumulate, kUpdate,  kEvaluate,
    kInfer,      kBeginTurn, kTurnStep,   kEndTurn, kBeginTurnBeside};
} // namespace mlir::hfta::schedules

#endif // HFTA_DIALECT_HFTA_IR_TASKNAMES_H
