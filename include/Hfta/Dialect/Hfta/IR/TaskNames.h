//===- TaskNames.h - Names of tasks' parts and of schedules -----*- C++ -*-===//
//
// Tasks and schedules are found by name, and a new one needs no entry in a
// list. These are the names that more than one place of the compiler uses.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TASKNAMES_H
#define HFTA_DIALECT_HFTA_IR_TASKNAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

/// Parts of tasks.
namespace mlir::hfta::parts {
/// The undivided function of a micro-batch's training and evaluation, or of an
/// inference, whose ops hfta-split-tasks distributes to tasks of the parts
/// below.
constexpr StringLiteral kTraining = "training";
constexpr StringLiteral kEvaluation = "evaluation";
constexpr StringLiteral kInference = "inference";
constexpr StringLiteral kInit = "init";
constexpr StringLiteral kForward = "forward";
/// Runs again those ops of a forward that the backward needs.
constexpr StringLiteral kRecompute = "recompute";
constexpr StringLiteral kBackward = "backward";
/// The second part of a backward that is split in two: gradients that no other
/// block waits for.
constexpr StringLiteral kBackwardWeight = "backward_weight";
/// The update of running statistics from those of one micro-batch.
constexpr StringLiteral kStatistics = "statistics";
/// Second versions of forward, backward and backward_weight, which also add up
/// the moments that a preconditioner takes; and the version for moments that
/// all copies share, which runs once for all.
constexpr StringLiteral kForwardMoments = "forward_moments";
constexpr StringLiteral kBackwardMoments = "backward_moments";
constexpr StringLiteral kBackwardWeightMoments = "backward_weight_moments";
constexpr StringLiteral kSharedMoments = "shared_moments";
/// Where targets are drawn at random, this replaces the second versions of
/// backward: a backward from the loss for these targets, for the moments alone.
constexpr StringLiteral kSampledMoments = "sampled_moments";
/// Updates the running means of a preconditioner's moments, and their inverses.
constexpr StringLiteral kCurvature = "curvature";
constexpr StringLiteral kInvert = "invert";
/// Multiplies gradients by inverses, and computes the factors that the products
/// are scaled with.
constexpr StringLiteral kPrecondition = "precondition";
constexpr StringLiteral kScale = "scale";
/// Other versions of backward, backward_weight, their second versions and
/// precondition, for steps with rows of a single micro-batch: for some layers
/// the gradient is never formed, but the preconditioned gradient is made from
/// the rows.
constexpr StringLiteral kBackwardRows = "backward_rows";
constexpr StringLiteral kBackwardRowsMoments = "backward_rows_moments";
constexpr StringLiteral kBackwardWeightRows = "backward_weight_rows";
constexpr StringLiteral kBackwardWeightRowsMoments =
    "backward_weight_rows_moments";
constexpr StringLiteral kPreconditionRows = "precondition_rows";
/// Adds the sums of another group or rank.
constexpr StringLiteral kCombine = "combine";
/// Computes the loss as users read it, where tasks add up sums.
constexpr StringLiteral kReport = "report";
constexpr StringLiteral kNorm = "norm";
/// Computes the factor that gradients are multiplied with, from their norms.
constexpr StringLiteral kClip = "clip";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";

/// Returns the part that the second versions of a part's tasks have; empty: it
/// has none.
inline StringRef getMomentsPart(StringRef part) {
  if (part == kForward)
    return kForwardMoments;
  if (part == kBackward)
    return kBackwardMoments;
  return part == kBackwardWeight ? StringRef(kBackwardWeightMoments)
                                 : StringRef();
}

/// Returns the part that a part's versions for rows have; empty: it has none.
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

/// Whether the part has one task, of no block, which runs with the last block:
/// it uses losses, or results of all blocks.
inline bool isOfLastBlock(StringRef part) {
  return part == kReport || part == kScale;
}
} // namespace mlir::hfta::parts

/// Names of the schedules that the runtime asks for.
namespace mlir::hfta::schedules {
constexpr StringLiteral kInitialize = "initialize";
constexpr StringLiteral kStep = "step";
constexpr StringLiteral kAccumulate = "accumulate";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";
// Turns of several steps: what some copies need for a step is fetched, they run
// several steps, and it is dropped again. With two sets of buffers, a turn's
// data may be fetched while the last turn still runs.
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
