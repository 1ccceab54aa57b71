//===- SumChecker.h - Terms against the order of their sum ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMCHECKER_H

#include "Verify/TracedValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Holds each term to the order of its sum as it is added.
class SumChecker {
public:
  SumChecker(func::FuncOp kernel, ArrayRef<SumOrderAttr> orders);

  /// Whether the lanes of vectors may hold terms of one sum.
  bool hasLanes() const { return anyLanes; }
  /// Whether a sum has more terms than are followed.
  bool isTooLong() const { return tooLong; }
  /// Whether lanes are those that the row's length asks for.
  LogicalResult checkLanes();

  /// What adding a term gives; `operands` are the running value and others.
  LogicalResult addTerm(Operation &op, int64_t sum, int64_t result,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  LogicalResult combine(Operation &op, int64_t sum,
                        ArrayRef<TracedElement> operands,
                        TracedElement &element);
  /// Some elements are read where other elements say: not all reads of terms
  /// are seen.
  void loseReads() { losesReads = true; }
  /// Writes an element. Sums that it replaces must be complete, or go on in it.
  LogicalResult store(TracedMemory &memory, int64_t address,
                      TracedElement element);
  /// Whether the sums in memory are complete.
  LogicalResult checkStored(const TracedMemory &memory);
  /// Whether each sum has been stored.
  LogicalResult checkAll();

private:
  using Reads = SmallVector<TracedRead, 2>;
  /// Of a tree of combined lanes: the terms of a lane, or two parts.
  struct Tree {
    SmallVector<int64_t> terms;
    std::shared_ptr<Tree> left, right;
  };
  using TreeRef = std::shared_ptr<Tree>;

  /// For each of the order's reads, how far each term is from the first.
  struct Sum {
    SumOrderAttr order;
    std::vector<std::vector<int64_t>> distances;
    TreeRef tree;
    bool isStored = false;
  };

  /// Takes away the reads that a term keeps to no more.
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
