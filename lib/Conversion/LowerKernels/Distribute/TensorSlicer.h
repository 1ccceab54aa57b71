//===- TensorSlicer.h - Compute a part of a tensor --------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_TENSORSLICER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_TENSORSLICER_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <optional>
#include <tuple>

namespace mlir::hfta {

/// The part of an operand that an op reads for a range of one of its results'
/// axes: elements [begin, begin + size) need (size - 1) * scale + window
/// elements of the operand's `axis`, from begin * scale + shift on.
struct PartRange {
  unsigned operand;
  int64_t axis;
  int64_t scale, shift, window;
};

/// Returns the operands of which only a part is needed if only a range of the
/// result's `axis` is computed; nothing if the op can't compute a part of its
/// result.
std::optional<SmallVector<PartRange>> getPartRanges(OpResult result,
                                                    int64_t axis);

/// Rewrites computations of whole tensors to computations of a range of one
/// axis that begins at `begin`, an index, and has `size` elements.
class TensorSlicer {
public:
  TensorSlicer(RewriterBase &rewriter, Value begin)
      : rewriter(rewriter), begin(begin) {}

  Value getBegin() const { return begin; }

  /// Returns elements [begin, begin + size) of `axis`.
  Value slice(Value tensor, int64_t axis, int64_t size) {
    return slice(tensor, Range{axis, 1, 0, size});
  }

private:
  /// The elements from begin * scale + shift on.
  struct Range {
    int64_t axis, scale, shift, size;
  };

  Value slice(Value tensor, Range range);
  /// Clones the op of a result so that it computes a part of it.
  void cloneSliced(OpResult result, Range range,
                   ArrayRef<PartRange> operandRanges);
  Value extract(Value tensor, Range range);
  Value getOffset(Location loc, Range range);
  void shiftIndices(Operation *clone, OpResult result, Range range);

  RewriterBase &rewriter;
  Value begin;
  std::map<std::tuple<void *, int64_t, int64_t, int64_t, int64_t>, Value> known;
};

/// The ops that are computed only in part when ranges are asked for.
struct SlicedOps {
  /// The ops; for structured ones with the iteration axis that is cut.
  llvm::DenseMap<Operation *, std::optional<unsigned>> ops;
  llvm::DenseSet<OpOperand *> operands;

  /// Asks for a range of `axis`.
  void add(Value tensor, int64_t axis);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_TENSORSLICER_H
