//===- CompiledTask.h - One op compiled with its gradient -------*- C++ -*-===//
//
// Compiles loss = sum(weights * op(operands)) and its gradients through all of
// the compiler's phases and runs it in this process, so that derivative rules
// and lowerings are checked together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_GRADIENTS_COMPILEDTASK_H
#define HFTA_UNITTESTS_GRADIENTS_COMPILEDTASK_H

#include "JitProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace mlir::hfta {

/// `function` is the text of a func.func @f on plain f64 (or integer) tensors
/// with one result. Operand i is arrayed over `copies` where arrayed[i], and
/// has a gradient where it holds floats.
struct OpCase {
  std::string name;
  std::string function;
  /// Range of the operands' values; integers are drawn from [0, integers).
  double low = -1.5, high = 1.5;
  int64_t integers = 4;
  double step = 1e-5; ///< of the finite differences
};

/// What a test prints of its case.
inline std::ostream &operator<<(std::ostream &os, const OpCase &opCase) {
  return os << opCase.name;
}

class CompiledTask {
public:
  /// Null, with diagnostics on stderr, if the case does not compile.
  static std::unique_ptr<CompiledTask> compile(MLIRContext &context,
                                               const OpCase &opCase,
                                               llvm::ArrayRef<bool> arrayed,
                                               int64_t copies);

  /// Computes losses and gradients from the operands as they are.
  void run() { program->run(HFTA_TASK_INFER); }
  /// The tensor of this name in the program's table.
  const hfta_tensor &find(llvm::StringRef name) const {
    return *program->find(name);
  }
  /// One copy's elements.
  void *at(const hfta_tensor &tensor, int64_t copy) {
    return program->at(tensor, copy);
  }
  unsigned getNumOperands() const { return operands; }

private:
  CompiledTask() = default;

  std::unique_ptr<JitProgram> program;
  unsigned operands = 0;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_GRADIENTS_COMPILEDTASK_H
