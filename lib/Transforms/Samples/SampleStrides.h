//===- SampleStrides.h - Positions of samples in a value --------*- C++ -*-===//
//
// A step's values hold a micro-batch's samples along an axis, or along a part
// of one: [batch, …] as data have them, [position, batch, …] after a transpose,
// [batch · position, …] after a reshape. However a value is reshaped, element e
// belongs to sample ⌊e / stride⌋ mod samples, with elements counted in
// row-major order. This analysis follows the stride through the ops.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLESTRIDES_H
#define HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLESTRIDES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::hfta {

/// The axis of a shape along which the samples lie. It is split into [outer,
/// samples, inner], and the product of these is the axis' size.
struct SampleAxis {
  int64_t axis, outer, inner;
};

/// Finds the axis of a shape along which samples with this stride lie. Returns
/// nothing if it isn't a single axis. A single sample is found along axis 0 of
/// any shape.
std::optional<SampleAxis> findSampleAxis(ArrayRef<int64_t> shape,
                                         int64_t stride, int64_t samples);

/// The strides of the values in a block. Ops may be appended to the block; they
/// are visited when their values are looked up.
class SampleStrides {
public:
  /// `samples` is the number of samples in a micro-batch.
  SampleStrides(Block &block, int64_t samples)
      : block(block), samples(samples) {}

  /// Returns the number of elements from one sample to the next. Returns
  /// nothing if the value doesn't consist of single samples, such as a sum over
  /// all of them, or if the place of the samples is unknown.
  std::optional<int64_t> lookup(Value value);
  /// Returns whether the value depends on inputs or on the step's scalars, as
  /// random numbers do, and not just on parameters and constants.
  bool isFromData(Value value);

private:
  /// The place of samples. If `known` is false, the value has samples, but it
  /// is unknown where.
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

#endif // HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLESTRIDES_H
