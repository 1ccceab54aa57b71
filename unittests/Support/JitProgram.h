//===- JitProgram.h - A program compiled into this process ------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H
#define HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H

#include "BlockThreads.h"
#include "TestTarget.h"
#include "hfta/launch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <vector>

namespace mlir::hfta {

/// Lowers a module of tasks from phase `train` to phase `llvm`. If
/// HFTA_TEST_KERNELS is `threads`, kernels compute element by element, as the
/// threads of a GPU do.
LogicalResult lowerTasks(ModuleOp module);

/// A program of phase `llvm`, compiled into memory. Its segments are filled
/// from their images.
class JitProgram {
public:
  /// Creates a program from a module of phase `llvm`, which may be destroyed
  /// afterwards. If LLVM refuses the module, prints a message to stderr and
  /// returns null.
  static std::unique_ptr<JitProgram> create(ModuleOp module, int threads);
  /// Compiles the text of a module of tasks of phase `train` without a job; the
  /// job becomes inference of `copies` copies. Emits diagnostics and returns
  /// null if it doesn't compile.
  static std::unique_ptr<JitProgram> compile(llvm::StringRef text,
                                             int64_t copies, int threads);
  ~JitProgram();

  /// Runs the first task of this part, such as "infer", for all copies.
  void run(llvm::StringRef part);
  /// Returns the tensor of this name, or null if the program has none. If
  /// `copy` isn't -1, ignores tensors that belong to another copy alone.
  const hfta_tensor *find(llvm::StringRef name, int64_t copy = -1) const;
  /// Returns the address of one copy's elements.
  void *at(const hfta_tensor &tensor, int64_t copy);

private:
  JitProgram() = default;
  bool allocate(int threads);
  void run(const hfta_task &task);

  std::unique_ptr<ExecutionEngine> engine;
  std::optional<BlockThreads> blocks; ///< set if kernels compute by threads
  const hfta_program *program = nullptr;
  hfta_pool *pool = nullptr;
  std::vector<void *> segments;
  std::vector<int32_t> copies;
  std::unique_ptr<bool[]> keeps; ///< for each segment, whether it has a slab
                                 ///< for each copy: all true
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H
