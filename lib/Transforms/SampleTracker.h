//===- SampleTracker.h - Which sample each element is of --------*- C++ -*-===//
//
// SampleStrides follows samples for one purpose: to find them in values that
// hold all of them in order. This follows them through any order, so that a
// graph that reverses, shifts, picks or adds up samples can be told from one
// that has them along another axis for a while.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLETRACKER_H
#define HFTA_LIB_TRANSFORMS_SAMPLETRACKER_H

#include "Hfta/Transforms/SampleMixing.h"

namespace mlir::hfta {

/// Numbers of samples; `kNoSample` stands for elements that are the same
/// whatever the data are.
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
  /// Whether all elements are of one sample.
  bool isSingle() const { return table.size() == 1; }
};

/// The samples along an axis of a value: one for each index.
struct AxisSamples {
  int64_t axis;
  SampleList samples;
};

/// The reason why a value isn't of single samples at their own positions. Of
/// several, the one of the first operation counts.
struct MixingCause {
  Mixing mixing;
  int64_t order; ///< number of the operation

  static std::optional<MixingCause>
  first(const std::optional<MixingCause> &left,
        const std::optional<MixingCause> &right);
};

/// Everything known of a value's samples.
struct SampleState {
  enum Kind {
    none,    ///< it depends on no sample
    placed,  ///< each element is of one sample
    unknown, ///< it isn't known which elements are of which samples
    mixed    ///< an element depends on several samples
  };
  Kind kind = none;
  SamplePlace place; ///< for `placed`
  /// For `mixed`, and where samples aren't in their order: what did this.
  std::optional<MixingCause> cause;
  /// The operation that made it depend on a sample's position, or on the number
  /// of samples. In an index that is no mixing: the position is that of the
  /// sample's own elements.
  std::optional<MixingCause> positional;
  /// For `placed`, where the elements of a sample don't follow each other: the
  /// operation after which they no longer did. A result must have the samples
  /// along axis 0; other values may have them along any axis.
  std::optional<MixingCause> scattered;

  static SampleState makeUnknown() {
    SampleState state;
    state.kind = unknown;
    return state;
  }
  bool isPlaced() const { return kind == placed; }
  /// Whether it has elements of several samples, each of one.
  bool isSpread() const { return isPlaced() && !place.isSingle(); }
};

/// Follows the samples of a batch through a function.
class SampleTracker {
public:
  explicit SampleTracker(int64_t samples) : samples(samples) {}

  /// Follows them from the arguments, for which `arguments` has an entry each,
  /// to the results, whose states are returned.
  SmallVector<SampleState> follow(Block &block,
                                  ArrayRef<SampleState> arguments);

  /// Returns the state of a value that holds the samples along axis 0; of none,
  /// if that axis has another size.
  SampleState getWhole(Value value) const;
  /// Returns how a result of a function that was followed is mixed, if it is
  /// known to be.
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
  SampleState throughChannels(Operation &op, Value input,
                              const AxisSamples &from);

  void notePosition(Operation &op, SampleState &state, Value constant,
                    const SamplePlace &place) const;

  int64_t samples;
  int64_t order = 0; ///< the current operation's position
  DenseMap<Value, SampleState> states;
};

/// Returns the samples of a value with these samples along an axis.
SamplePlace makePlace(ArrayRef<int64_t> shape, int64_t axis,
                      const SampleList &samples);

/// Whether a value that depends on no sample is known to differ between the
/// places of two samples.
bool differsBetweenSamples(Value value, const SamplePlace &place);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SAMPLETRACKER_H
