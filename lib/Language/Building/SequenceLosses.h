//===- SequenceLosses.h - Losses of sequences -------------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_SEQUENCELOSSES_H
#define HFTA_LIB_LANGUAGE_BUILDING_SEQUENCELOSSES_H

#include "Hfta/Language/Objectives.h"

namespace mlir::hfta::language {

/// The names of arguments, for records and checks.
inline constexpr llvm::StringLiteral kInputLengthArgument = "input_length";
inline constexpr llvm::StringLiteral kLabelLengthArgument = "label_length";
inline constexpr llvm::StringLiteral kBlankArgument = "blank";
inline constexpr llvm::StringLiteral kZeroInfinityArgument = "zero_infinity";

ObjectiveError checkCtc(const ObjectiveArguments &arguments,
                        ObjectiveTypes types);
/// Limits lengths to those that output and label have, and labels to the
/// classes without the blank.
std::optional<FieldRange> limitCtc(const ObjectiveArguments &arguments,
                                   ObjectiveTypes types, llvm::StringRef name);
/// Builds a loss for each sample (A. Graves et al., "Connectionist temporal
/// classification: labelling unsegmented sequence data with recurrent neural
/// networks", 2006), divided by the number of the label's elements or by 1 if
/// it has none, as PyTorch's mean does.
Loss buildCtc(const ObjectiveOperands &operands,
              const std::optional<RandomKeys> &keys);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_SEQUENCELOSSES_H
