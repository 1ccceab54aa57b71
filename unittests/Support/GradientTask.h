//===- GradientTask.h - Gradients of a function, as a task ------*- C++ -*-===//
//
// Compiles loss = sum(weights * f(operands)) and its gradients through all
// phases of the compiler and runs them in this process, so that derivative
// rules and lowerings are tested together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_SUPPORT_GRADIENTTASK_H
#define HFTA_UNITTESTS_SUPPORT_GRADIENTTASK_H

#include "JitProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace mlir::hfta {

/// The computed and the measured derivative of the loss by one element of an
/// operand.
struct GradientElement {
  unsigned operand = 0;
  int64_t copy = 0, index = 0;
  double computed = 0; ///< the element's entry in the computed gradient
  double above = 0;    ///< the slope of the loss towards larger values, by a
                       ///< one-sided difference
  double below = 0;

  double getMeasured() const { return (above + below) / 2; }
};

class GradientTask {
public:
  /// Compiles `function`, which is in `module` and maps f64 or integer tensors
  /// of one copy to such tensors. The loss is formed of the results that are
  /// floats. Operand i is arrayed over `copies` if arrayed[i] is true, and has
  /// a gradient if it holds floats. Emits diagnostics and returns null if it
  /// doesn't compile. Modifies and consumes the module.
  static std::unique_ptr<GradientTask> compile(ModuleOp module,
                                               func::FuncOp function,
                                               llvm::ArrayRef<bool> arrayed,
                                               int64_t copies);

  unsigned getNumOperands() const { return operands; }
  /// Returns the operand's entry in the program's table of tensors.
  const hfta_tensor &getOperand(unsigned index) const;
  /// Returns the address of one copy's elements.
  void *at(const hfta_tensor &tensor, int64_t copy) {
    return program->at(tensor, copy);
  }

  /// Calls `callback` with the finite differences in steps of `step`. Measures
  /// up to about `most` elements of each float operand of each copy, spread
  /// evenly over the operand.
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
