//===- TaskNames.h - Names of tasks' parts and of schedules -----*- C++ -*-===//
//
// Tasks and schedules are found by name; new ones need no list. These are the
// names that more than one place of the compiler knows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TASKNAMES_H
#define HFTA_DIALECT_HFTA_IR_TASKNAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

/// Parts of tasks.
namespace mlir::hfta::parts {
/// Undivided: all of a micro-batch's training and evaluation, and of an
/// inference, whose ops hfta-split-tasks deals out to tasks of the parts below.
constexpr StringLiteral kTraining = "training";
constexpr StringLiteral kEvaluation = "evaluation";
constexpr StringLiteral kInference = "inference";
constexpr StringLiteral kInit = "init";
constexpr StringLiteral kForward = "forward";
/// Of a forward again, what the backward needs of it.
constexpr StringLiteral kRecompute = "recompute";
constexpr StringLiteral kBackward = "backward";
/// Of a backward in two parts, what no other block waits for.
constexpr StringLiteral kBackwardWeight = "backward_weight";
/// Running statistics, from those of one micro-batch.
constexpr StringLiteral kStatistics = "statistics";
/// Second versions of forward, backward and backward_weight, which add up the
/// moments that a preconditioner takes; and those of what all copies share,
/// once for all.
constexpr StringLiteral kForwardMoments = "forward_moments";
constexpr StringLiteral kBackwardMoments = "backward_moments";
constexpr StringLiteral kBackwardWeightMoments = "backward_weight_moments";
constexpr StringLiteral kSharedMoments = "shared_moments";
/// Where targets are drawn, in the place of the second versions of backward: a
/// backward from the loss beside these, for the moments alone.
constexpr StringLiteral kSampledMoments = "sampled_moments";
/// Running means of a preconditioner's moments, and the inverses of these.
constexpr StringLiteral kCurvature = "curvature";
constexpr StringLiteral kInvert = "invert";
/// Gradients times inverses, and what such products are multiplied with.
constexpr StringLiteral kPrecondition = "precondition";
constexpr StringLiteral kScale = "scale";
/// Other versions of backward, backward_weight, their second versions and
/// precondition, for steps whose rows are all of one micro-batch: gradients of
/// some layers are never formed, but preconditioned ones made of the rows.
constexpr StringLiteral kBackwardRows = "backward_rows";
constexpr StringLiteral kBackwardRowsMoments = "backward_rows_moments";
constexpr StringLiteral kBackwardWeightRows = "backward_weight_rows";
constexpr StringLiteral kBackwardWeightRowsMoments =
    "backward_weight_rows_moments";
constexpr StringLiteral kPreconditionRows = "precondition_rows";
/// Adds what another group or rank has added up.
constexpr StringLiteral kCombine = "combine";
/// The loss as users read it, where tasks add up sums.
constexpr StringLiteral kReport = "report";
constexpr StringLiteral kNorm = "norm";
/// What gradients are multiplied with, from their norms.
constexpr StringLiteral kClip = "clip";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";

/// The part of the second versions of a part's tasks; empty: it has none.
inline StringRef getMomentsPart(StringRef part) {
  if (part == kForward)
    return kForwardMoments;
  if (part == kBackward)
    return kBackwardMoments;
  return part == kBackwardWeight ? StringRef(kBackwardWeightMoments)
                                 : StringRef();
}

/// The part of a part's versions that work with rows; empty: it has none.
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

/// Whether the part's one task, of no block, belongs to the last block: what
/// becomes of losses, and of what all blocks have given it.
inline bool isOfLastBlock(StringRef part) {
  return part == kReport || part == kScale;
}
} // namespace mlir::hfta::parts

/// Schedules that the runtime asks for.
namespace mlir::hfta::schedules {
constexpr StringLiteral kInitialize = "initialize";
constexpr StringLiteral kStep = "step";
constexpr StringLiteral kAccumulate = "accumulate";
constexpr StringLiteral kUpdate = "update";
constexpr StringLiteral kEvaluate = "evaluate";
constexpr StringLiteral kInfer = "infer";
// Turns of several steps: what some copies need of a step comes, they go
// through steps, and it goes. Every other turn's may lie beside the last one's.
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
