//===- TracedValue.h - Symbolic values of a traced kernel -------*- C++ -*-===//
//
// The interpreter of a kernel's loops computes indices as numbers, but values
// symbolically: each element of a value is represented by the memory addresses
// that it was computed from and the running values of the sums that it
// contains.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir::hfta {

struct TracedMemory;
struct Running;

/// A read of an element from memory, with the running value that was stored
/// there, if there was one.
struct TracedRead {
  const TracedMemory *memory;
  int64_t address;
  std::shared_ptr<Running> held;
};

/// A running value of a sum: terms that were added one after the other, or two
/// combined running values.
struct Running {
  Running() = default;
  Running(const Running &) = default;
  ~Running();

  int64_t sum = 0; ///< the sum's index in the function's list
  int64_t result =
      0; ///< the number of the op's result to which the running value belongs
  int64_t terms =
      0; ///< the number of terms that have been added one after the other
  /// `first` holds the reads of the first term. `kept` has, for each of these
  /// reads, a bit for each read of the order, which is set as long as all terms
  /// have matched it.
  std::shared_ptr<const SmallVector<TracedRead, 2>> first;
  SmallVector<uint64_t, 2> kept;
  /// If the order has lanes: the reads of the last term, and the running value
  /// before it was added.
  SmallVector<TracedRead, 2> last;
  std::shared_ptr<Running> before;
  /// Whether two running values, `left` and `right`, were combined. A null one
  /// is the initial value.
  bool isCombined = false;
  std::shared_ptr<Running> left, right;
};

/// One element of a value.
struct TracedElement {
  SmallVector<TracedRead, 2> reads;
  SmallVector<std::shared_ptr<Running>, 1> running;

  /// Adds the reads and running values of an element from which this one is
  /// computed.
  void add(const TracedElement &other);
};

/// A traced value, whose elements are computed on demand.
class TracedValue {
public:
  virtual ~TracedValue() = default;
  virtual TracedElement get(int64_t lane) const = 0;
};
using TracedRef = std::shared_ptr<const TracedValue>;

/// Memory of an allocation or argument.
struct TracedMemory {
  /// Whether this memory is a panel, which holds copies: reads of it count as
  /// reads of the originals.
  bool isPanel = false;
  /// The elements that hold running values or, in a panel, all stored elements,
  /// by address.
  llvm::DenseMap<int64_t, TracedElement> stored;

  TracedElement read(int64_t address) const;
};

/// Creates the value of neighbours in memory, lane 0 being at `address`.
TracedRef traceLoad(const TracedMemory &memory, int64_t address);
/// Creates a value that equals the scalar in all lanes.
TracedRef traceBroadcast(TracedRef scalar);
/// Creates a value whose lane i is lane mask[i] of the lanes of `first`
/// followed by those of `second`.
TracedRef traceShuffle(TracedRef first, TracedRef second, int64_t firstLanes,
                       ArrayRef<int64_t> mask);
/// Creates a value whose lanes are scalars.
TracedRef traceElements(ArrayRef<TracedRef> scalars);
/// Creates a value from known elements.
TracedRef traceLanes(SmallVector<TracedElement> lanes);
/// Creates the initial value of a sum: drops all reads except those of the
/// sum's own running values.
TracedRef traceStart(TracedRef value, int64_t sum);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
