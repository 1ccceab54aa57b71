//===- SumChecker.h - Checking terms against an order -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H

#include "Verify/TracedValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Checks each term of a kernel's sums, as it is added, against the order that
/// the sum states.
class SumChecker {
public:
  SumChecker(func::FuncOp kernel, ArrayRef<SumOrderAttr> orders);

  /// Returns whether the lanes of vectors may hold terms of one sum.
  bool hasLanes() const { return anyLanes; }
  /// Returns whether a sum has too many terms, or reads, to be checked.
  bool isTooLong() const { return tooLong; }
  /// Checks that each sum has the numbers of lanes and vectors that follow from
  /// its row's length.
  LogicalResult checkLanes();

  /// Adds a term to a sum, and sets `element` to the new running value.
  /// `operands` are the running value and the operands of the term. Emits an
  /// error if the term isn't the next one of the order.
  LogicalResult addTerm(Operation &op, int64_t sum, int64_t result,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  /// Combines two running values of a sum, and sets `element` to the result.
  LogicalResult combine(Operation &op, int64_t sum,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  /// Notes that the address of a load depends on data, so that not all reads of
  /// terms are seen.
  void loseReads() { losesReads = true; }
  /// Stores an element to memory. A sum whose running value it overwrites must
  /// be complete, unless the element continues that sum.
  LogicalResult store(TracedMemory &memory, int64_t address,
                      TracedElement element);
  /// Checks that the sums in memory are complete.
  LogicalResult checkStored(const TracedMemory &memory);
  /// Checks that each sum has been stored.
  LogicalResult checkAll();

private:
  using Reads = SmallVector<TracedRead, 2>;
  /// A node of the tree in which lanes are combined: the terms of a lane, or
  /// two subtrees.
  struct Tree {
    SmallVector<int64_t> terms;
    std::shared_ptr<Tree> left, right;
  };
  using TreeRef = std::shared_ptr<Tree>;

  /// A sum and its order. `distances` has, for each read of the order, the
  /// address of each term relative to the first term's.
  struct Sum {
    SumOrderAttr order;
    std::vector<std::vector<int64_t>> distances;
    TreeRef tree;
    bool isStored = false;
  };

  /// Clears in `kept` the bits of the order's reads that don't match a term's
  /// reads. Returns false if the term can't belong to the order.
  static bool keepReads(const Sum &sum, const Reads &first, const Reads &reads,
                        int64_t term, SmallVectorImpl<uint64_t> &kept);
  bool hasAllReads(const Sum &sum, ArrayRef<uint64_t> kept) const;
  bool matches(const Sum &sum, const Running *running, const Tree &tree,
               const Reads &first, SmallVectorImpl<uint64_t> &kept) const;
  LogicalResult checkComplete(const Running &running);
  bool isComplete(const Sum &sum, const Running &running) const;
  static TreeRef buildTree(SumOrderAttr order);

  func::FuncOp kernel;
  std::vector<Sum> sums;
  bool anyLanes = false, tooLong = false, losesReads = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H
