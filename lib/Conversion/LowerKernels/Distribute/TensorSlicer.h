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

/// The part of an operand that an op reads for a range of an axis of a result.
/// Elements [begin, begin + size) need (size - 1) * scale + window elements
/// along the operand's `axis`, from begin * scale + shift on.
struct PartRange {
  unsigned operand;
  int64_t axis;
  int64_t scale, shift, window;
};

/// Returns the operands of which only a part is needed if only a range of the
/// result's `axis` is computed. Returns nothing if the op can't compute a part
/// of its result.
std::optional<SmallVector<PartRange>> getPartRanges(OpResult result,
                                                    int64_t axis);

/// Adds `offset` to the indices along `axis` in the body of a structured op
/// that computes a range of that axis, which begins at `offset`.
void shiftIndices(RewriterBase &rewriter, Operation *op, unsigned axis,
                  Value offset);

/// Rewrites computations of whole tensors to computations of a range along one
/// axis. The range begins at the index `begin`.
class TensorSlicer {
public:
  TensorSlicer(RewriterBase &rewriter, Value begin)
      : rewriter(rewriter), begin(begin) {}

  Value getBegin() const { return begin; }

  /// Returns the elements [begin, begin + size) along `axis` of a tensor,
  /// computed without the rest of the tensor as far as possible.
  Value slice(Value tensor, int64_t axis, int64_t size) {
    return slice(tensor, Range{axis, 1, 0, size});
  }

private:
  /// `size` elements along an axis, from begin * scale + shift on.
  struct Range {
    int64_t axis, scale, shift, size;
  };

  Value slice(Value tensor, Range range);
  /// Clones the op of a result so that it computes a range of the result.
  void cloneSliced(OpResult result, Range range,
                   ArrayRef<PartRange> operandRanges);
  Value extract(Value tensor, Range range);
  Value getOffset(Location loc, Range range);

  RewriterBase &rewriter;
  Value begin;
  std::map<std::tuple<void *, int64_t, int64_t, int64_t, int64_t>, Value> known;
};

/// The ops of which only a part is computed when ranges of tensors are
/// requested.
struct SlicedOps {
  /// The ops; for structured ops with the iteration axis that is cut.
  llvm::DenseMap<Operation *, std::optional<unsigned>> ops;
  llvm::DenseSet<OpOperand *> operands;

  /// Requests a range of `axis` of a tensor.
  void add(Value tensor, int64_t axis);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_TENSORSLICER_H
