//===- JitProgram.h - A compiled program in this process --------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H
#define HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H

#include "BlockThreads.h"
#include "hfta/launch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <vector>

namespace mlir::hfta {

/// Whether HFTA_TEST_KERNELS is `threads`.
bool computesByThreads();

/// Lowers a module of tasks, of phase `train`, to phase `llvm`. Where
/// HFTA_TEST_KERNELS is `threads`, kernels compute element by element, as the
/// threads of a GPU do.
LogicalResult lowerTasks(ModuleOp module);

/// A module of phase `llvm`, compiled to memory, with its segments filled from
/// their images.
class JitProgram {
public:
  /// Creates a program of `module`, which may be destroyed afterwards. Null,
  /// with a message on stderr, if LLVM refuses the module.
  static std::unique_ptr<JitProgram> create(ModuleOp module, int threads);
  /// Compiles the text of a module of tasks, of phase `train`, that lacks its
  /// job; the job is inference of `copies` copies. Null, with diagnostics, if
  /// it doesn't compile.
  static std::unique_ptr<JitProgram> compile(llvm::StringRef text,
                                             int64_t copies, int threads);
  ~JitProgram();

  /// Runs the first task of a part for all copies.
  void run(llvm::StringRef part);
  /// Returns the tensor of this name, or null if the program has none. If
  /// `copy` isn't -1, a tensor that belongs to one copy alone has to be that
  /// copy's.
  const hfta_tensor *find(llvm::StringRef name, int64_t copy = -1) const;
  /// Returns one copy's elements.
  void *at(const hfta_tensor &tensor, int64_t copy);

private:
  JitProgram() = default;
  bool allocate(int threads);
  void run(const hfta_task &task);

  std::unique_ptr<ExecutionEngine> engine;
  std::optional<BlockThreads> blocks; ///< set where the threads of blocks
                                      ///< compute
  const hfta_program *program = nullptr;
  hfta_pool *pool = nullptr;
  std::vector<void *> segments;
  std::vector<int32_t> copies;
  std::unique_ptr<bool[]> keeps; ///< for each copy, whether it is kept; all are
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_JITPROGRAM_H
