//===- HftaGradientOps.cpp - Where gradients end or begin -----------------===//

#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Backward.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "LayerInference.h"

using namespace mlir;
using namespace mlir::hfta;

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.cpp.inc"

bool hfta::usesBatchStatistics(BatchNormOp norm) {
  return !norm.getRunningMean() ||
         (norm.getTraining() && !norm->hasAttr(kFrozenAttrName));
}

//===----------------------------------------------------------------------===//
// Connectionist temporal classification
//===----------------------------------------------------------------------===//

/// Checks that an operand has one element for each sequence.
static LogicalResult checkLengths(std::optional<Location> location,
                                  StringRef name, Value lengths,
                                  int64_t sequences) {
  RankedTensorType type = getLogicalType(lengths.getType());
  if (type.getShape() == ArrayRef(sequences))
    return success();
  return emitOptionalError(location, "expected ", name, " of ", sequences,
                           " sequences, got ", type);
}

LogicalResult CtcLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<CtcLossOp>(location, adaptor)))
    return failure();
  RankedTensorType input =
      getLogicalType(adaptor.getLogProbabilities().getType());
  RankedTensorType labels = getLogicalType(adaptor.getLabels().getType());
  if (input.getRank() != 3 || llvm::is_contained(input.getShape(), 0))
    return emitOptionalError(
        location, "expected [sequences, steps, classes], got ", input);
  int64_t sequences = input.getDimSize(0), classes = input.getDimSize(2);
  if (labels.getRank() != 2 || labels.getDimSize(0) != sequences ||
      labels.getDimSize(1) == 0)
    return emitOptionalError(location, "expected labels of ", sequences,
                             " sequences, got ", labels);
  if (failed(checkLengths(location, "label lengths", adaptor.getLabelLengths(),
                          sequences)))
    return failure();
  if (Value lengths = adaptor.getInputLengths())
    if (failed(checkLengths(location, "input lengths", lengths, sequences)))
      return failure();
  auto blank = static_cast<int64_t>(adaptor.getBlank());
  if (blank < 0 || blank >= classes)
    return emitOptionalError(location, "'blank' is none of ", classes,
                             " classes, got ", blank);
  Type element = input.getElementType();
  if (failed(giveType(adaptor.getOperands(), {sequences}, element, types)))
    return failure();
  return giveType(adaptor.getOperands(), input.getShape(), element, types);
}

/// Counts, for each state that an alignment may have in a step, two logarithms
/// of sums of three terms, and the exponential of a sum.
int64_t CtcLossOp::getFlops() {
  static constexpr int64_t kFlopsAState = 26;
  ArrayRef<int64_t> shape = getLogProbabilities().getType().getShape();
  int64_t states = 2 * getLabels().getType().getDimSize(1) + 1;
  return multiplySizes({shape[0], shape[1], states, kFlopsAState});
}

HFTA_DEFINE_BACKWARD(CtcLossOp) {
  if (!backward.wants(0))
    return;
  Expression stored = backward.result(1);
  backward.set(0,
               backward.gradient().repeat(stored.getShape(), {1, 2}) * stored);
}
