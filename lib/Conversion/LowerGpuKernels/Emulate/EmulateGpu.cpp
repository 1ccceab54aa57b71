//===- EmulateGpu.cpp - Kernels of a GPU for the host's processor ---------===//

#include "Emulate/HostOps.h"
#include "Hfta/Conversion/EmulatedImage.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAEMULATEGPU
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using hfta_gpu::HftaGpuDialect;

/// Removes the attributes of a parameter that is a block of bytes passed by
/// value, so that the parameter becomes the block's address. Returns whether
/// the parameter is one.
static bool takeBlock(LLVM::LLVMFuncOp kernel, unsigned number) {
  bool isBlock = kernel.removeArgAttr(
                     number, LLVM::LLVMDialect::getByValAttrName()) != nullptr;
  if (isBlock)
    kernel.removeArgAttr(number, LLVM::LLVMDialect::getAlignAttrName());
  return isBlock;
}

/// Creates the function that the emulated driver calls to run a kernel. Its
/// argument is an array of pointers to the kernel's parameters.
static void createCaller(LLVM::LLVMFuncOp kernel, StringRef suffix) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto caller = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.getName() + suffix).str(),
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
    arguments.push_back(
        takeBlock(kernel, index)
            ? address
            : LLVM::LoadOp::create(builder, loc, type, address).getResult());
  }
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Returns whether the threads of a block have to run concurrently, as the
/// kernel or a function that it calls synchronizes them or exchanges their
/// data.
static bool waits(LLVM::LLVMFuncOp function, SymbolTable &symbols) {
  return function
      .walk([&](Operation *op) {
        auto call = dyn_cast<LLVM::CallOp>(op);
        auto callee = call && call.getCallee()
                          ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                          : LLVM::LLVMFuncOp();
        return needsOtherThreads(op) || (callee && waits(callee, symbols))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Places the shared memory of all kernels in the same bytes, as one block runs
/// at a time.
static void shareMemory(ModuleOp code) {
  Builder builder(code.getContext());
  DataLayout layout(code);
  uint64_t bytes = 0;
  SmallVector<LLVM::GlobalOp> globals;
  for (auto global : code.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != HftaGpuDialect::kSharedSpace)
      continue;
    globals.push_back(global);
    bytes =
        std::max<uint64_t>(bytes, layout.getTypeSize(global.getGlobalType()));
  }
  // Dynamic shared memory has the size that the kernel's attribute asks for.
  for (Operation &op : code.getOps())
    if (auto asked = op.getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
      bytes = std::max<uint64_t>(bytes, asked.getInt());
  createGlobal(code, emulated::kSharedBytes, builder.getI64Type(),
               builder.getI64IntegerAttr(static_cast<int64_t>(bytes)), 0,
               /*isConstant=*/true);
  LLVM::GlobalOp shared =
      createGlobal(code, emulated::kShared,
                   LLVM::LLVMArrayType::get(builder.getI8Type(),
                                            std::max<uint64_t>(bytes, 1)),
                   Attribute(), HftaGpuDialect::kSharedSpace);
  shared.setAlignment(emulated::kSharedAlignment);
  llvm::SmallDenseSet<StringRef> names;
  for (LLVM::GlobalOp global : globals)
    names.insert(global.getSymName());
  code.walk([&](LLVM::AddressOfOp op) {
    if (names.contains(op.getGlobalName()))
      op.setGlobalName(shared.getSymName());
  });
  for (LLVM::GlobalOp global : globals)
    global.erase();
}

/// Widens the bits of a bf16 to an f32, whose upper half they are.
static void widenBits(LLVM::FPExtOp op, Value bits) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type word = builder.getI32Type();
  Value half =
      LLVM::ConstantOp::create(builder, loc, word, static_cast<int64_t>(16));
  Value upper = LLVM::ShlOp::create(
      builder, loc, LLVM::ZExtOp::create(builder, loc, word, bits), half);
  op.replaceAllUsesWith(
      LLVM::BitcastOp::create(builder, loc, op.getType(), upper).getResult());
  op.erase();
}

/// Replaces a bf16 value by its bits as an integer, as nothing is computed in
/// bf16. LLVM may make vectors of such floats; on a host without instructions
/// for bf16 these would become calls of library functions that aren't available
/// everywhere.
static void replaceByBits(Operation *op) {
  OpBuilder builder(op);
  Type half = builder.getI16Type();
  Value bits = op->getOperand(0);
  if (isa<LLVM::LoadOp>(op)) {
    bits = builder.clone(*op)->getResult(0);
    bits.setType(half);
  }
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    if (auto wide = dyn_cast<LLVM::FPExtOp>(user);
        wide && wide.getType().isF32()) {
      widenBits(wide, bits);
    } else if (auto store = dyn_cast<LLVM::StoreOp>(user)) {
      store.getValueMutable().assign(bits);
    } else if (auto back = dyn_cast<LLVM::BitcastOp>(user);
               back && back.getType() == half) {
      back.replaceAllUsesWith(bits);
      back.erase();
    }
  }
  if (op->use_empty())
    op->erase();
}

/// Replaces a selection between bf16 values by one between their bits.
static void chooseBits(LLVM::SelectOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type half = builder.getI16Type();
  auto toBits = [&](Value value) -> Value {
    return LLVM::BitcastOp::create(builder, loc, half, value);
  };
  Value chosen = LLVM::SelectOp::create(builder, loc, op.getCondition(),
                                        toBits(op.getTrueValue()),
                                        toBits(op.getFalseValue()));
  op.replaceAllUsesWith(
      LLVM::BitcastOp::create(builder, loc, op.getType(), chosen).getResult());
  op.erase();
}

/// Replaces all bf16 values of a function by their bits.
static void replaceNarrowFloats(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::SelectOp> choices;
  function.walk([&](LLVM::SelectOp op) {
    if (op.getType().isBF16())
      choices.push_back(op);
  });
  llvm::for_each(choices, chooseBits);
  SmallVector<Operation *> halves;
  function.walk([&](Operation *op) {
    if (isa<LLVM::LoadOp, LLVM::BitcastOp>(op) &&
        op->getResult(0).getType().isBF16())
      halves.push_back(op);
  });
  llvm::for_each(halves, replaceByBits);
}

/// Replaces all ops of a function that are a GPU's.
static LogicalResult replaceOps(LLVM::LLVMFuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<HftaGpuDialect>(op->getDialect()))
      ops.push_back(op);
  });
  return success(llvm::all_of(
      ops, [](Operation *op) { return succeeded(replaceForHost(op)); }));
}

namespace {
struct EmulateGpuPass : hfta::impl::HftaEmulateGpuBase<EmulateGpuPass> {
  using HftaEmulateGpuBase::HftaEmulateGpuBase;

  void runOnOperation() override {
    ModuleOp code = getOperation();
    SymbolTable symbols(code);
    createHostGlobals(code);
    shareMemory(code);
    SmallVector<LLVM::LLVMFuncOp> functions =
        llvm::to_vector(code.getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      if (!function->removeAttr(HftaGpuDialect::kEntryAttrName))
        continue;
      function->removeAttr(HftaGpuDialect::kThreadsAttrName);
      function->removeAttr(HftaGpuDialect::kBlocksAtOnceAttrName);
      if (auto maps = function->removeAttr(kMapCountAttrName))
        createGlobal(code, (function.getName() + emulated::kMapsSuffix).str(),
                     IntegerType::get(&getContext(), 32), maps, 0,
                     /*isConstant=*/true);
      createCaller(function, waits(function, symbols) ? emulated::kBlockSuffix
                                                      : emulated::kCallSuffix);
      function.setLinkage(LLVM::Linkage::Internal);
    }
    for (LLVM::LLVMFuncOp function : functions) {
      replaceNarrowFloats(function);
      if (failed(replaceOps(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
