//===- GradientTask.h - A function compiled with its gradients --*- C++ -*-===//
//
// Compiles loss = sum(weights * f(operands)) and its gradients through all of
// the compiler's phases and runs it in this process, so that derivative rules
// and lowerings are checked together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_SUPPORT_GRADIENTTASK_H
#define HFTA_UNITTESTS_SUPPORT_GRADIENTTASK_H

#include "JitProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace mlir::hfta {

/// A comparison of one element of an operand of one copy.
struct GradientElement {
  unsigned operand = 0;
  int64_t copy = 0, index = 0;
  double computed = 0; ///< its entry of the computed gradient
  double above = 0;    ///< the loss' slopes towards larger and smaller values
  double below = 0;

  double getMeasured() const { return (above + below) / 2; }
};

class GradientTask {
public:
  /// Compiles `function`, in `module`, which maps plain f64 (or integer)
  /// tensors to such tensors; its results that are floats enter the loss.
  /// Operand i is arrayed over `copies` where arrayed[i] is true, and has a
  /// gradient if it holds floats. Null, with diagnostics, if it does not
  /// compile; the module is used up.
  static std::unique_ptr<GradientTask> compile(ModuleOp module,
                                               func::FuncOp function,
                                               llvm::ArrayRef<bool> arrayed,
                                               int64_t copies);

  unsigned getNumOperands() const { return operands; }
  /// Returns the operand's entry in the program's table.
  const hfta_tensor &getOperand(unsigned index) const;
  /// Returns one copy's elements.
  void *at(const hfta_tensor &tensor, int64_t copy) {
    return program->at(tensor, copy);
  }

  /// Computes finite differences in steps of `step`, for up to `most` elements
  /// of each float operand of each copy, spread evenly over the operand.
  void measure(double step, int64_t most,
               llvm::function_ref<void(const GradientElement &)> callback);

private:
  GradientTask() = default;
  double computeLoss(int64_t copy);
  void
  measureOperand(unsigned operand, int64_t copy, double step, int64_t most,
                 llvm::function_ref<void(const GradientElement &)> callback);

  std::unique_ptr<JitProgram> program;
  int64_t copies = 1;
  unsigned operands = 0;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_GRADIENTTASK_H
