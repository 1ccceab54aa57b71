//===- TracedValue.h - Symbolic values of a traced kernel -------*- C++ -*-===//
//
// A kernel's loops are interpreted with numbers as indices. Each element of a
// value is represented by the places in memory that it was computed from and
// the terms that have been combined in it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir::hfta {

struct TracedMemory;
struct Running;

/// An element that was read from memory, and the running value that was stored
/// there.
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

  int64_t sum = 0;    ///< index among the function's sums
  int64_t result = 0; ///< the op's result whose running value it is
  int64_t terms = 0;  ///< terms that have been added one after the other
  /// The reads of the first term; and for each of these one bit for each read
  /// of the order, which is set while all terms have followed it.
  std::shared_ptr<const SmallVector<TracedRead, 2>> first;
  SmallVector<uint64_t, 2> kept;
  /// If the order has lanes: the reads of the last term, and the sum before it.
  SmallVector<TracedRead, 2> last;
  std::shared_ptr<Running> before;
  /// Whether two sums were combined. A null sum is the initial value.
  bool isCombined = false;
  std::shared_ptr<Running> left, right;
};

/// One element of a value.
struct TracedElement {
  SmallVector<TracedRead, 2> reads;
  SmallVector<std::shared_ptr<Running>, 1> running;

  void add(const TracedElement &other);
};

/// A value whose elements are computed on demand.
class TracedValue {
public:
  virtual ~TracedValue() = default;
  virtual TracedElement get(int64_t lane) const = 0;
};
using TracedRef = std::shared_ptr<const TracedValue>;

/// An allocation or argument.
struct TracedMemory {
  /// Whether this memory holds copies, whose reads count as reads of the
  /// originals.
  bool isPanel = false;
  /// The elements that hold running values; all stored elements if it is a
  /// panel.
  llvm::DenseMap<int64_t, TracedElement> stored;

  TracedElement read(int64_t address) const;
};

/// These functions create values of neighbours in memory, of one value in all
/// lanes, of lanes of two other values or of as many scalars, and of known
/// elements.
TracedRef traceLoad(const TracedMemory &memory, int64_t address);
TracedRef traceBroadcast(TracedRef scalar);
TracedRef traceShuffle(TracedRef first, TracedRef second, int64_t firstLanes,
                       ArrayRef<int64_t> mask);
TracedRef traceElements(ArrayRef<TracedRef> scalars);
TracedRef traceLanes(SmallVector<TracedElement> lanes);
/// Returns a sum's initial value: only its own terms that were stored in memory
/// count.
TracedRef traceStart(TracedRef value, int64_t sum);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_TRACEDVALUE_H
