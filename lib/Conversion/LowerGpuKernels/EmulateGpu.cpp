//===- EmulateGpu.cpp - Kernels of a GPU for the host's processor ---------===//

#include "Hfta/Conversion/EmulatedImage.h"
#include "Hfta/Conversion/LowerGpuKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAEMULATEGPU
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Where a thread's register lies in the array.
static std::optional<int32_t> findRegister(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<int32_t>>(op)
      .Case([](NVVM::ThreadIdXOp) { return emulated::kThreadX; })
      .Case([](NVVM::BlockDimXOp) { return emulated::kBlockDimX; })
      .Case([](NVVM::BlockIdXOp) { return emulated::kBlockX; })
      .Case([](NVVM::BlockIdZOp) { return emulated::kBlockZ; })
      .Default([](Operation *) { return std::nullopt; });
}

/// A function that the emulated driver calls with pointers to the parameters.
static void createCaller(LLVM::LLVMFuncOp kernel) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto caller = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.getName() + emulated::kCallSuffix).str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer}));
  Block *body = caller.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value place = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, body->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value address = LLVM::LoadOp::create(builder, loc, pointer, place);
    arguments.push_back(LLVM::LoadOp::create(builder, loc, type, address));
  }
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

namespace {
struct EmulateGpuPass : hfta::impl::HftaEmulateGpuBase<EmulateGpuPass> {
  using HftaEmulateGpuBase::HftaEmulateGpuBase;

  void runOnOperation() override {
    ModuleOp code = getOperation();
    OpBuilder builder(code.getBody(), code.getBody()->begin());
    auto type = LLVM::LLVMArrayType::get(builder.getI32Type(),
                                         emulated::kRegisterCount);
    registers = LLVM::GlobalOp::create(
        builder, code.getLoc(), type, /*isConstant=*/false,
        LLVM::Linkage::External, emulated::kRegisters,
        builder.getZeroAttr(
            VectorType::get(emulated::kRegisterCount, builder.getI32Type())));
    for (auto function : llvm::to_vector(code.getOps<LLVM::LLVMFuncOp>())) {
      if (failed(replaceRegisters(function)))
        return signalPassFailure();
      if (!function->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        continue;
      function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
      createCaller(function);
      function.setLinkage(LLVM::Linkage::Internal);
    }
  }

private:
  LogicalResult replaceRegisters(LLVM::LLVMFuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<NVVM::NVVMDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      std::optional<int32_t> place = findRegister(op);
      if (!place)
        return op->emitError("isn't emulated");
      OpBuilder builder(op);
      Type pointer = LLVM::LLVMPointerType::get(op->getContext());
      Value base = LLVM::AddressOfOp::create(builder, op->getLoc(), registers);
      Value address = LLVM::GEPOp::create(builder, op->getLoc(), pointer,
                                          builder.getI32Type(), base,
                                          ArrayRef<LLVM::GEPArg>{*place});
      op->replaceAllUsesWith(LLVM::LoadOp::create(
          builder, op->getLoc(), builder.getI32Type(), address));
      op->erase();
    }
    return success();
  }

  LLVM::GlobalOp registers;
};
} // namespace
