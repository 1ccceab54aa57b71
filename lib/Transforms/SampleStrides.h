//===- SampleStrides.h - The position of samples in a value -----*- C++ -*-===//
//
// A step's values hold a micro-batch's samples along some axis, or along a part
// of one: [batch, …] as they come from the data, [position, batch, …] after a
// transpose, [batch · position, …] after a reshape. However a value is
// reshaped, element e is of sample ⌊e / stride⌋ mod samples, with elements
// counted in row-major order: that stride is followed through the ops.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLESTRIDES_H
#define HFTA_LIB_TRANSFORMS_SAMPLESTRIDES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::hfta {

/// The axis of a shape that holds the samples: it is split into [outer,
/// samples, inner], whose product is the axis' size.
struct SampleAxis {
  int64_t axis, outer, inner;
};

/// Finds the samples with this stride in a shape; nothing if they don't lie
/// along a single axis. A single sample is found along axis 0 of any shape.
std::optional<SampleAxis> findSampleAxis(ArrayRef<int64_t> shape,
                                         int64_t stride, int64_t samples);

/// The strides of the values in a block. Ops that are appended while it is in
/// use are visited when one asks for their values.
class SampleStrides {
public:
  /// `samples`: the number of a micro-batch's samples.
  SampleStrides(Block &block, int64_t samples)
      : block(block), samples(samples) {}

  /// Returns the number of elements from a sample to the next one. Nothing if
  /// the value isn't of single samples, as a sum over all of them, or if it
  /// isn't known where they are.
  std::optional<int64_t> lookup(Value value);
  /// Whether the value depends on inputs or on the step's scalars, as random
  /// numbers do, and not on parameters and constants alone.
  bool isFromData(Value value);

private:
  /// A place of samples; `known` false: the value has samples, but not known
  /// where.
  struct Place {
    bool known;
    int64_t stride;
    bool operator==(const Place &other) const {
      return known == other.known && stride == other.stride;
    }
  };
  using Found = std::optional<Place>; ///< nothing: not of single samples

  void visitUpTo(Value value);
  void visit(Operation &op);
  Found find(Value value) const;
  Found findOf(Operation &op) const;
  Found merge(ValueRange operands) const;
  Found move(Value from, Value to, std::optional<SampleAxis> axis) const;
  std::optional<SampleAxis> findAxis(Value value) const;
  Found throughRead(ReadOp read) const;
  Found throughTranspose(TransposeOp transpose) const;
  Found throughBroadcast(BroadcastOp broadcast) const;
  Found throughContract(ContractOp contract) const;
  Found throughReduce(ReduceOp reduce) const;
  Found throughConcat(ConcatOp concat) const;
  Found throughGather(GatherOp gather) const;
  Found throughWindows(Operation &op) const;
  Found alongSameAxis(Value from, Value to,
                      std::optional<int64_t> mixed = std::nullopt) const;

  Block &block;
  int64_t samples;
  Operation *last = nullptr; ///< the last op that was visited
  DenseMap<Value, Place> places;
  DenseSet<Value> fromData;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SAMPLESTRIDES_H
