//===- TracedValue.h - What a value of a kernel is made of ------*- C++ -*-===//
//
// A kernel's loops are run with numbers for indices, and for each element of a
// value with the places in memory that it was computed from and the terms that
// have been combined in it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir::hfta {

struct TracedMemory;
struct Running;

/// An element of memory, and the running value that has been stored there.
struct TracedRead {
  const TracedMemory *memory;
  int64_t address;
  std::shared_ptr<Running> held;
};

/// A sum so far: terms one after the other, or two sums combined.
struct Running {
  Running() = default;
  Running(const Running &) = default;
  ~Running();

  int64_t sum = 0;    ///< number among the function's sums
  int64_t result = 0; ///< of the op whose running value it is
  int64_t terms = 0;  ///< that have been added one after the other
  /// What the first term was read from, and for each of these a bit for each of
  /// the order's reads that has been kept to.
  std::shared_ptr<const SmallVector<TracedRead, 2>> first;
  SmallVector<uint64_t, 2> kept;
  /// Where the order has lanes: what the last term was read from, and all
  /// before it.
  SmallVector<TracedRead, 2> last;
  std::shared_ptr<Running> before;
  /// Of two combined sums; null is what the sum starts from.
  bool isCombined = false;
  std::shared_ptr<Running> left, right;
};

/// One element of a value.
struct TracedElement {
  SmallVector<TracedRead, 2> reads;
  SmallVector<std::shared_ptr<Running>, 1> running;

  void add(const TracedElement &other);
};

/// A value: its elements, made when they are asked for.
class TracedValue {
public:
  virtual ~TracedValue() = default;
  virtual TracedElement get(int64_t lane) const = 0;
};
using TracedRef = std::shared_ptr<const TracedValue>;

/// An allocation or argument.
struct TracedMemory {
  /// Whether reading an element means reading what it is a copy of.
  bool isPanel = false;
  /// Elements that hold running values; of panels, all that have been stored.
  llvm::DenseMap<int64_t, TracedElement> stored;

  TracedElement read(int64_t address) const;
};

/// Neighbours in memory, a value for all lanes, lanes of two other values or of
/// as many scalars, and elements that are known.
TracedRef traceLoad(const TracedMemory &memory, int64_t address);
TracedRef traceBroadcast(TracedRef scalar);
TracedRef traceShuffle(TracedRef first, TracedRef second, int64_t firstLanes,
                       ArrayRef<int64_t> mask);
TracedRef traceElements(ArrayRef<TracedRef> scalars);
TracedRef traceLanes(SmallVector<TracedElement> lanes);
/// What a sum starts from: nothing but its own terms that waited in memory.
TracedRef traceStart(TracedRef value, int64_t sum);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
