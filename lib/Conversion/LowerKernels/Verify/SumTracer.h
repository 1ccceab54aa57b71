//===- SumTracer.h - Tracing the order in which loops add terms -*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMTRACER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMTRACER_H

#include "Verify/SumChecker.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hfta {

/// Interprets a kernel's loops for its first work item. Loops over terms run
/// completely; other loops run only their first iteration, or their first and
/// last.
class SumTracer {
public:
  SumTracer(func::FuncOp kernel, SumChecker &checker, bool runsLast)
      : kernel(kernel), checker(checker), runsLast(runsLast) {}

  /// Runs the kernel. Emits an error at the op that departs from an order, and
  /// fails.
  LogicalResult trace();
  /// Returns the number of ops that have been run.
  int64_t getSteps() const { return steps; }

private:
  /// A view of memory that begins at element `offset`.
  struct View {
    TracedMemory *memory;
    int64_t offset;
  };

  LogicalResult runBlock(Block &block);
  LogicalResult run(Operation &op);
  LogicalResult runLoop(scf::ForOp loop);
  LogicalResult runOnce(scf::ForOp loop, int64_t index);
  LogicalResult runScalars(Operation &op);
  LogicalResult runOnLane(Operation &op, int64_t lane, TracedElement &result);
  /// Runs an op on indices, on memory or on whole vectors. Returns false, and
  /// does nothing, for other ops.
  bool runIndex(Operation &op);
  bool runView(Operation &op);
  bool runVector(Operation &op);
  bool runLoad(Operation &op);

  std::optional<int64_t> getIndex(Value value) const;
  TracedRef getValue(Value value) const;
  std::optional<int64_t> getAddress(Value memory, ValueRange indices) const;
  LogicalResult store(Value value, Value memory, ValueRange indices);
  /// Returns the lanes of a vector that are traced: all of them, or the first
  /// and the last one if no vector holds terms of one sum.
  SmallVector<int64_t> getLanes(Type type, bool all = false) const;

  func::FuncOp kernel;
  SumChecker &checker;
  bool runsLast;
  llvm::DenseMap<Value, int64_t> indices;
  llvm::DenseMap<Value, View> views;
  llvm::DenseMap<Value, TracedRef> values;
  std::vector<std::unique_ptr<TracedMemory>> memories;
  int64_t steps = 0;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_VERIFY_SUMTRACER_H
