//===- LossChoice.h - The loss that fits an output and a label --*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_NEWJOB_LOSSCHOICE_H
#define HFTA_LIB_DRIVER_NEWJOB_LOSSCHOICE_H

#include "NewJob/DataFiles.h"

#include "llvm/ADT/SmallVector.h"

namespace mlir::hfta {

/// The known facts of a field that may be the label.
struct LabelFacts {
  std::string name;
  llvm::SmallVector<int64_t> shape; ///< a sample's
  NumberFacts range;
};

/// An output of a model.
struct OutputFacts {
  std::string name;
  std::string op;                   ///< see OnnxPort::op
  llvm::SmallVector<int64_t> shape; ///< a sample's
};

struct LossChoice {
  std::string loss, metrics; ///< the clauses' text, without arguments
  std::string arguments;     ///< behind output and label, ", axis = 1"
  /// Arithmetic on the label, " - 1".
  std::string labelSteps;
  std::string reason; ///< why, as a sentence
};

/// Chooses by shapes and numbers:
///
///  - whole numbers, one where the output has an axis of several elements: they
///    are class numbers, from 0 or from 1, and the loss is `cross_entropy`, or
///    `nll` for an output that is a LogSoftmax;
///  - zeros and ones in the output's shape: `cross_entropy` if each sample has
///    one 1 among several elements, else `binary_cross_entropy`;
///  - other numbers in the output's shape: `mse`.
///
/// The error says why no loss fits.
llvm::Expected<LossChoice> chooseLoss(const OutputFacts &output,
                                      const LabelFacts &label);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_NEWJOB_LOSSCHOICE_H
