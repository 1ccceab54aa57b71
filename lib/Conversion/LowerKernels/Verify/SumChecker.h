//===- SumChecker.h - Terms against the order of their sum ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H

#include "Verify/TracedValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Checks each term, as it is added, against the order of its sum.
class SumChecker {
public:
  SumChecker(func::FuncOp kernel, ArrayRef<SumOrderAttr> orders);

  /// Returns whether the lanes of vectors may hold terms of one sum.
  bool hasLanes() const { return anyLanes; }
  /// Returns whether a sum has more terms than are followed.
  bool isTooLong() const { return tooLong; }
  /// Checks that the numbers of lanes and vectors are the ones that the row's
  /// length determines.
  LogicalResult checkLanes();

  /// Adds a term and sets `element` to the result; `operands` are the running
  /// value and the others.
  LogicalResult addTerm(Operation &op, int64_t sum, int64_t result,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  LogicalResult combine(Operation &op, int64_t sum,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  /// Notes that some elements' addresses depend on other elements, so that not
  /// all reads of terms are seen.
  void loseReads() { losesReads = true; }
  /// Writes an element. A sum that it replaces must be complete, or continue in
  /// it.
  LogicalResult store(TracedMemory &memory, int64_t address,
                      TracedElement element);
  /// Checks that the sums in memory are complete.
  LogicalResult checkStored(const TracedMemory &memory);
  /// Checks that each sum has been stored.
  LogicalResult checkAll();

private:
  using Reads = SmallVector<TracedRead, 2>;
  /// A node of the tree of combined lanes: a lane's terms, or two subtrees.
  struct Tree {
    SmallVector<int64_t> terms;
    std::shared_ptr<Tree> left, right;
  };
  using TreeRef = std::shared_ptr<Tree>;

  /// A sum: for each read in its order, the distance of each term from the
  /// first one.
  struct Sum {
    SumOrderAttr order;
    std::vector<std::vector<int64_t>> distances;
    TreeRef tree;
    bool isStored = false;
  };

  /// Clears the bits of the reads from which a term departs.
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
