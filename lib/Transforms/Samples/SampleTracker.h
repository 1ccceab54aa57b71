//===- SampleTracker.h - Tracks the samples of elements ---------*- C++ -*-===//
//
// SampleStrides finds samples in values that hold all of them in order. This
// tracker follows them through any order. So it can distinguish a graph that
// reverses, shifts, selects or adds up samples from one that only has them
// along another axis for a while.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLETRACKER_H
#define HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLETRACKER_H

#include "Hfta/Transforms/Samples/SampleMixing.h"

namespace mlir::hfta {

/// The numbers of samples; `kNoSample` stands for elements that don't depend on
/// data.
using SampleList = SmallVector<int64_t, 0>;
inline constexpr int64_t kNoSample = -1;

/// The samples of a value, whatever its shape is: in row-major order, element e
/// is of sample table[⌊e / inner⌋ mod size of the table].
struct SamplePlace {
  int64_t inner = 1;
  SampleList table;

  int64_t getPeriod() const { return static_cast<int64_t>(table.size()); }
  int64_t at(int64_t element) const {
    return table[element / inner % getPeriod()];
  }
  /// Returns whether all elements are of one sample.
  bool isSingle() const { return table.size() == 1; }
};

/// The samples along an axis of a value, one for each index.
struct AxisSamples {
  int64_t axis;
  SampleList samples;
};

/// The reason why a value doesn't consist of single samples at their own
/// positions. Of several reasons, the one of the first operation counts.
struct MixingCause {
  Mixing mixing;
  int64_t order; ///< the number of the operation

  static std::optional<MixingCause>
  first(const std::optional<MixingCause> &left,
        const std::optional<MixingCause> &right);
};

/// Everything that is known about the samples of a value.
struct SampleState {
  enum Kind {
    none,    ///< no element depends on a sample
    placed,  ///< each element is of one sample
    unknown, ///< it is unknown which elements are of which samples
    mixed    ///< an element depends on several samples
  };
  Kind kind = none;
  SamplePlace place; ///< for `placed`
  /// The cause of state `mixed`, or of samples that aren't in their order.
  std::optional<MixingCause> cause;
  /// The operation that made the value depend on a sample's position, or on the
  /// number of samples. In an index, this isn't mixing, because the index is
  /// that of the sample's own elements.
  std::optional<MixingCause> positional;
  /// For `placed`, if the elements of a sample aren't adjacent: the operation
  /// after which they no longer were. A result must have the samples along axis
  /// 0; other values may have them along any axis.
  std::optional<MixingCause> scattered;

  static SampleState makeUnknown() {
    SampleState state;
    state.kind = unknown;
    return state;
  }
  bool isPlaced() const { return kind == placed; }
  /// Returns whether the value has elements of several samples, each of one
  /// sample.
  bool isSpread() const { return isPlaced() && !place.isSingle(); }
};

/// Follows the samples of a batch through a function.
class SampleTracker {
public:
  explicit SampleTracker(int64_t samples) : samples(samples) {}

  /// Follows the samples through the function's body. `arguments` are the
  /// states of its arguments. Returns the states of its results.
  SmallVector<SampleState> follow(Block &block,
                                  ArrayRef<SampleState> arguments);

  /// Returns the state of a value whose samples lie along axis 0, or the state
  /// of a value without samples if that axis has another size.
  SampleState getWhole(Value value) const;
  /// Returns how a result of a function that was followed mixes samples, if it
  /// is known to mix them.
  std::optional<Mixing> findMixing(Value result) const;

private:
  const SampleState &find(Value value) const;
  bool isWhole(const SamplePlace &place) const;
  bool isInRuns(Value value, const SamplePlace &place) const;
  std::optional<AxisSamples> findAxis(Value value) const;
  std::optional<MixingCause> makeCause(MixingKind kind, Operation &op) const;

  SampleState mix(Operation &op,
                  const std::optional<MixingCause> &before = {}) const;
  SampleState putAlong(Operation &op, Value from, Value to, int64_t axis,
                       const SampleList &samples) const;
  SampleState merge(Operation &op, ArrayRef<SampleState> states,
                    int64_t count) const;
  bool variesAlong(Value value, int64_t axis) const;
  SampleState lost(Operation &op, Value from, ArrayRef<int64_t> summed) const;

  void visit(Operation &op);
  std::optional<MixingCause> findScattering(Operation &op,
                                            const SampleState &state) const;
  SampleState throughOp(Operation &op);
  SampleState throughElementwise(Operation &op);
  SampleState throughRearrangement(Operation &op, Value input);
  SampleState throughTranspose(TransposeOp op, const AxisSamples &from);
  SampleState throughSlice(SliceOp op, const AxisSamples &from);
  SampleState throughPad(PadOp op, const AxisSamples &from);
  SampleState throughReduce(ReduceOp op);
  SampleState throughConcat(ConcatOp op);
  SampleState throughContract(ContractOp op);
  SampleState throughGather(GatherOp op);
  SampleState throughChosen(GatherOp op, const AxisSamples &from);
  SampleState throughScatter(Operation &op, Value updates, Value indices,
                             int64_t along);
  SampleState throughActivation(ActivationOpInterface op);
  SampleState throughSequences(Operation &op);
  SampleState throughChannels(Operation &op, Value input,
                              const AxisSamples &from);

  void notePosition(Operation &op, SampleState &state, Value constant,
                    const SamplePlace &place) const;

  int64_t samples;
  int64_t order = 0; ///< the number of the current operation
  DenseMap<Value, SampleState> states;
};

/// Returns the place of samples in a value of this shape, given the samples
/// along an axis.
SamplePlace makePlace(ArrayRef<int64_t> shape, int64_t axis,
                      const SampleList &samples);

/// Returns whether a value that depends on no sample is known to have different
/// elements for two samples.
bool differsBetweenSamples(Value value, const SamplePlace &place);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SAMPLES_SAMPLETRACKER_H
