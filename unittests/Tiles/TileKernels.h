//===- TileKernels.h - Products' tiles in this process ----------*- C++ -*-===//
//
// Kernels `product` as warps compute them and as warp groups do, on an emulated
// Hopper.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_TILEKERNELS_H
#define HFTA_UNITTESTS_TILES_TILEKERNELS_H

#include "BlockThreads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

#include <random>
#include <string>
#include <vector>

namespace mlir::hfta {

/// MLIR that makes an operand %NAME_wide of f32 from %NAME, where it is stored
/// otherwise.
std::string printWidened(const std::string &name, const std::string &shape,
                         const std::string &stored);

/// A number of few bits, which each format holds; of so different sizes that
/// the order in which such numbers are added changes bits.
float drawNumber(std::mt19937 &random);

/// Stores such a number as bf16, f16 or f32.
void storeNumber(const std::string &type, float number, int64_t at, char *to);

class TileKernels {
public:
  static constexpr const char *kOfWarps = "product";
  static constexpr const char *kOfWarpGroups = "product/warp_groups";

  TileKernels();

  bool compile(const std::string &text);
  /// Whether a warp copies operands for warp groups.
  bool hasMaps() const;
  /// Runs all blocks for each copy. Of a kernel's operands the copies lie so
  /// many bytes from each other. False if threads wait for each other for ever.
  bool run(const std::string &name, ArrayRef<void *> operands,
           ArrayRef<size_t> bytes, unsigned copies = 1);

private:
  struct alignas(64) MapBytes {
    char bytes[64];
  };

  LogicalResult lower();
  void *find(const std::string &symbol);
  LLVM::LLVMFuncOp findFunction(const std::string &name) const;
  /// As a launch's last parameter; empty where there are no maps.
  std::vector<MapBytes> makeMaps(LLVM::LLVMFuncOp function,
                                 ArrayRef<void *> operands,
                                 ArrayRef<size_t> bytes, unsigned copies) const;

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
  BlockThreads blocks;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_TILEKERNELS_H
