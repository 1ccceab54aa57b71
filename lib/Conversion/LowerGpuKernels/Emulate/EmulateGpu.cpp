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

/// Returns the index, in the array of emulated registers, of the special
/// register that an op reads; nothing if the op reads none.
static std::optional<int32_t> findRegister(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<int32_t>>(op)
      .Case([](NVVM::ThreadIdXOp) { return emulated::kThreadX; })
      .Case([](NVVM::BlockDimXOp) { return emulated::kBlockDimX; })
      .Case([](NVVM::BlockIdXOp) { return emulated::kBlockX; })
      .Case([](NVVM::BlockIdZOp) { return emulated::kBlockZ; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The prefix of LLVM's intrinsics for NVIDIA GPUs.
static constexpr llvm::StringLiteral kIntrinsicPrefix = "llvm.nvvm.";

static bool isNumberedBarrier(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin() == kNumberedBarrierIntrinsic;
}

/// Removes the attributes of a parameter that is a block of bytes passed by
/// value, so that the parameter becomes the block's address. Returns whether
/// the parameter is one.
static bool takeBlock(LLVM::LLVMFuncOp kernel, unsigned number) {
  bool isBlock = kernel.removeArgAttr(
                     number, LLVM::LLVMDialect::getByValAttrName()) != nullptr;
  if (isBlock)
    for (StringRef name : {NVVM::NVVMDialect::getGridConstantAttrName(),
                           LLVM::LLVMDialect::getAlignAttrName()})
      kernel.removeArgAttr(number, name);
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
        return isNumberedBarrier(op) ||
                       isa<NVVM::Barrier0Op, NVVM::CpAsyncOp, NVVM::LdMatrixOp,
                           NVVM::MBarrierInitOp, NVVM::MmaOp,
                           NVVM::WgmmaMmaAsyncOp>(op) ||
                       (callee && waits(callee, symbols))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct EmulateGpuPass : hfta::impl::HftaEmulateGpuBase<EmulateGpuPass> {
  using HftaEmulateGpuBase::HftaEmulateGpuBase;

  void runOnOperation() override {
    ModuleOp code = getOperation();
    SymbolTable symbols(code);
    createGlobals();
    shareMemory();
    SmallVector<LLVM::LLVMFuncOp> functions =
        llvm::to_vector(code.getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      if (!function->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        continue;
      function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
      function->removeAttr(NVVM::NVVMDialect::getMinctasmAttrName());
      if (auto maps = function->removeAttr(kMapCountAttrName))
        createGlobal((function.getName() + emulated::kMapsSuffix).str(),
                     IntegerType::get(&getContext(), 32), maps, 0,
                     /*isConstant=*/true);
      createCaller(function, waits(function, symbols) ? emulated::kBlockSuffix
                                                      : emulated::kCallSuffix);
      function.setLinkage(LLVM::Linkage::Internal);
    }
    for (LLVM::LLVMFuncOp function : functions)
      if (failed(replaceOps(function)))
        return signalPassFailure();
  }

private:
  LLVM::GlobalOp createGlobal(StringRef name, Type type, Attribute value,
                              unsigned space = 0, bool isConstant = false);
  void createGlobals();
  void shareMemory();
  LogicalResult replaceOps(LLVM::LLVMFuncOp function);
  LogicalResult replaceOp(Operation *op);

  LogicalResult replaceMultiply(NVVM::MmaOp op);
  LogicalResult replaceRead(NVVM::LdMatrixOp op);
  LogicalResult replaceCopy(NVVM::CpAsyncOp op);
  LogicalResult replaceBulkCopy(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp);
  LogicalResult replaceArrival(NVVM::MBarrierArriveOp op);
  LogicalResult replaceArrival(NVVM::MBarrierArriveExpectTxOp op);
  LogicalResult replaceMbarrierOp(Operation *op);
  LogicalResult replaceIntrinsic(LLVM::CallIntrinsicOp op);
  LogicalResult replaceProduct(NVVM::WgmmaMmaAsyncOp op);
  LogicalResult replaceProductOp(Operation *op);
  void replaceByCall(Operation *op, LLVM::GlobalOp pointer,
                     ValueRange arguments);
  Value callThrough(OpBuilder &builder, Location loc, LLVM::GlobalOp pointer,
                    Type result, ValueRange arguments);

  LLVM::GlobalOp registers, barrier, numberedBarrier, multiply, readMatrices;
  LLVM::GlobalOp beginCopy, commitCopies, waitForCopies;
  LLVM::GlobalOp initialiseBarrier, arrive, arriveExpecting, waitForPhase;
  LLVM::GlobalOp beginBulkCopy;
  LLVM::GlobalOp fence, multiplyShared, commitProducts, waitForGroups;
  LLVM::GlobalOp waitForProducts;
  StringAttr sharedName;
};
} // namespace

LLVM::GlobalOp EmulateGpuPass::createGlobal(StringRef name, Type type,
                                            Attribute value, unsigned space,
                                            bool isConstant) {
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  auto global = LLVM::GlobalOp::create(builder, getOperation().getLoc(), type,
                                       isConstant, LLVM::Linkage::External,
                                       name, value, /*alignment=*/64, space);
  if (value)
    return global;
  builder.createBlock(&global.getInitializerRegion());
  Value zero = LLVM::ZeroOp::create(builder, global.getLoc(), type);
  LLVM::ReturnOp::create(builder, global.getLoc(), zero);
  return global;
}

void EmulateGpuPass::createGlobals() {
  Builder builder(&getContext());
  registers = createGlobal(
      emulated::kRegisters,
      LLVM::LLVMArrayType::get(builder.getI32Type(), emulated::kRegisterCount),
      Attribute());
  auto createPointer = [&](StringRef name) {
    return createGlobal(name, LLVM::LLVMPointerType::get(&getContext()),
                        Attribute());
  };
  barrier = createPointer(emulated::kBarrier);
  numberedBarrier = createPointer(emulated::kNumberedBarrier);
  multiply = createPointer(emulated::kMultiply);
  readMatrices = createPointer(emulated::kReadMatrices);
  beginCopy = createPointer(emulated::kBeginCopy);
  commitCopies = createPointer(emulated::kCommitCopies);
  waitForCopies = createPointer(emulated::kWaitForCopies);
  initialiseBarrier = createPointer(emulated::kInitialiseBarrier);
  arrive = createPointer(emulated::kArrive);
  arriveExpecting = createPointer(emulated::kArriveExpecting);
  waitForPhase = createPointer(emulated::kWaitForPhase);
  beginBulkCopy = createPointer(emulated::kBeginBulkCopy);
  fence = createPointer(emulated::kFence);
  multiplyShared = createPointer(emulated::kMultiplyShared);
  commitProducts = createPointer(emulated::kCommitProducts);
  waitForGroups = createPointer(emulated::kWaitForGroups);
  waitForProducts = createPointer(emulated::kWaitForProducts);
}

/// Places the shared memory of all kernels in the same bytes, as one block runs
/// at a time.
void EmulateGpuPass::shareMemory() {
  Builder builder(&getContext());
  DataLayout layout(getOperation());
  uint64_t bytes = 0;
  SmallVector<LLVM::GlobalOp> globals;
  for (auto global : getOperation().getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != kSharedAddressSpace)
      continue;
    globals.push_back(global);
    bytes =
        std::max<uint64_t>(bytes, layout.getTypeSize(global.getGlobalType()));
  }
  // Dynamic shared memory has the size that the kernel's attribute asks for.
  for (Operation &op : getOperation().getOps())
    if (auto asked = op.getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
      bytes = std::max<uint64_t>(bytes, asked.getInt());
  createGlobal(emulated::kSharedBytes, builder.getI64Type(),
               builder.getI64IntegerAttr(static_cast<int64_t>(bytes)), 0,
               /*isConstant=*/true);
  LLVM::GlobalOp shared =
      createGlobal(emulated::kShared,
                   LLVM::LLVMArrayType::get(builder.getI8Type(),
                                            std::max<uint64_t>(bytes, 1)),
                   Attribute(), kSharedAddressSpace);
  shared.setAlignment(emulated::kSharedAlignment);
  sharedName = shared.getSymNameAttr();
  llvm::SmallDenseSet<StringRef> names;
  for (LLVM::GlobalOp global : globals)
    names.insert(global.getSymName());
  getOperation().walk([&](LLVM::AddressOfOp op) {
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

LogicalResult EmulateGpuPass::replaceOps(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::SelectOp> choices;
  function.walk([&](LLVM::SelectOp op) {
    if (op.getType().isBF16())
      choices.push_back(op);
  });
  llvm::for_each(choices, chooseBits);
  SmallVector<Operation *> halves, ops;
  function.walk([&](Operation *op) {
    if (isa<LLVM::LoadOp, LLVM::BitcastOp>(op) &&
        op->getResult(0).getType().isBF16())
      halves.push_back(op);
  });
  llvm::for_each(halves, replaceByBits);
  function.walk([&](Operation *op) {
    auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
    auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
    if (isa<NVVM::NVVMDialect>(op->getDialect()) ||
        (intrinsic && intrinsic.getIntrin().starts_with(kIntrinsicPrefix)) ||
        (assembly && assembly.getAsmString() == kWaitAssembly))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(replaceOp(op)))
      return failure();
  return success();
}

/// Calls the function that a global points to, and returns its result; null if
/// `result` is void.
Value EmulateGpuPass::callThrough(OpBuilder &builder, Location loc,
                                  LLVM::GlobalOp pointer, Type result,
                                  ValueRange arguments) {
  Value place = LLVM::AddressOfOp::create(builder, loc, pointer);
  SmallVector<Value> operands = {LLVM::LoadOp::create(
      builder, loc, LLVM::LLVMPointerType::get(&getContext()), place)};
  llvm::append_range(operands, arguments);
  auto type = LLVM::LLVMFunctionType::get(
      result, SmallVector<Type>(arguments.getTypes()));
  auto call = LLVM::CallOp::create(builder, loc, type, operands);
  return call.getNumResults() > 0 ? call.getResult() : Value();
}

/// Creates a constant of 32 bits before an op.
static Value number(Operation *op, int64_t value) {
  OpBuilder builder(op);
  return LLVM::ConstantOp::create(builder, op->getLoc(), builder.getI32Type(),
                                  value);
}

/// Casts a pointer to the generic address space.
static Value castToGeneric(Operation *op, Value pointer) {
  Type generic = LLVM::LLVMPointerType::get(op->getContext());
  if (pointer.getType() == generic)
    return pointer;
  OpBuilder builder(op);
  return LLVM::AddrSpaceCastOp::create(builder, op->getLoc(), generic, pointer);
}

/// Replaces an op by a call of the function that `pointer` holds. If the op's
/// result is used, the function returns the result's address.
void EmulateGpuPass::replaceByCall(Operation *op, LLVM::GlobalOp pointer,
                                   ValueRange arguments) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  bool isVoid = op->use_empty();
  Type result = isVoid ? Type(LLVM::LLVMVoidType::get(&getContext()))
                       : LLVM::LLVMPointerType::get(&getContext());
  Value place = callThrough(builder, loc, pointer, result, arguments);
  if (!isVoid)
    op->replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(), place));
  op->erase();
}

/// Replaces an asynchronous copy (`cp.async`) of 16 bytes.
LogicalResult EmulateGpuPass::replaceCopy(NVVM::CpAsyncOp op) {
  if (op.getSize() != 16)
    return op.emitOpError("isn't emulated");
  SmallVector<Value> arguments = {castToGeneric(op, op.getDst()),
                                  castToGeneric(op, op.getSrc())};
  Value count = op.getCpSize();
  arguments.push_back(count ? count : number(op, op.getSize()));
  replaceByCall(op, beginCopy, arguments);
  return success();
}

/// Replaces the copy of a box by the tensor memory accelerator. The emulating
/// function always takes five coordinates, the most that a tensor may have.
LogicalResult EmulateGpuPass::replaceBulkCopy(
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  constexpr size_t kMostCoordinates = 5;
  if (op.getMode() != NVVM::TMALoadMode::TILE || op.getMulticastMask() ||
      op.getPredicate() || op.getGroup())
    return op.emitOpError("isn't emulated");
  SmallVector<Value> arguments = {
      castToGeneric(op, op.getDstMem()),
      castToGeneric(op, op.getTmaDescriptor()), castToGeneric(op, op.getMbar()),
      number(op, static_cast<int64_t>(op.getCoordinates().size()))};
  llvm::append_range(arguments, op.getCoordinates());
  for (size_t i = op.getCoordinates().size(); i < kMostCoordinates; ++i)
    arguments.push_back(number(op, 0));
  replaceByCall(op, beginBulkCopy, arguments);
  return success();
}

LogicalResult EmulateGpuPass::replaceArrival(NVVM::MBarrierArriveOp op) {
  if (!op->use_empty())
    return op.emitOpError("isn't emulated");
  Value count = op.getCount() ? op.getCount() : number(op, 1);
  replaceByCall(op, arrive, {castToGeneric(op, op.getAddr()), count});
  return success();
}

LogicalResult
EmulateGpuPass::replaceArrival(NVVM::MBarrierArriveExpectTxOp op) {
  if (!op->use_empty() || op.getPredicate())
    return op.emitOpError("isn't emulated");
  replaceByCall(op, arriveExpecting,
                {castToGeneric(op, op.getAddr()), op.getTxcount()});
  return success();
}

/// Replaces ops on mbarriers, at which threads wait for bulk copies and for
/// each other. Emits an error on forms that aren't emulated.
LogicalResult EmulateGpuPass::replaceMbarrierOp(Operation *op) {
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op);
      init && !init.getPredicate())
    return replaceByCall(op, initialiseBarrier,
                         {castToGeneric(op, init.getAddr()), init.getCount()}),
           success();
  if (auto arrival = dyn_cast<NVVM::MBarrierArriveOp>(op))
    return replaceArrival(arrival);
  if (auto arrival = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op))
    return replaceArrival(arrival);
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op))
    return replaceByCall(op, waitForPhase,
                         {castToGeneric(op, wait.getAddr()), wait.getPhase()}),
           success();
  return op->emitOpError("isn't emulated");
}

LogicalResult EmulateGpuPass::replaceIntrinsic(LLVM::CallIntrinsicOp op) {
  if (!isNumberedBarrier(op) || op.getArgs().size() != 2)
    return op.emitOpError("isn't emulated");
  replaceByCall(op, numberedBarrier, op.getArgs());
  return success();
}

/// Converts the enumeration of factors' types of `mma.sync` or `wgmma` to the
/// emulation's; nothing if a type isn't emulated.
template <typename Types>
static std::optional<emulated::Factors> getFactors(std::optional<Types> type) {
  if (type == Types::bf16)
    return emulated::Factors::kBf16;
  if (type == Types::f16)
    return emulated::Factors::kF16;
  if (type == Types::tf32)
    return emulated::Factors::kTf32;
  return std::nullopt;
}

/// Replaces the product of a warp (`mma.sync`). The emulating function takes
/// operands as 32-bit words.
LogicalResult EmulateGpuPass::replaceMultiply(NVVM::MmaOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  std::optional<emulated::Factors> factors =
      getFactors(op.getMultiplicandAPtxType());
  if (!factors)
    return op.emitOpError("isn't emulated");
  Type word = builder.getI32Type();
  SmallVector<Value> arguments = {number(op, static_cast<int64_t>(*factors))};
  for (Value operand : op.getOperands())
    arguments.push_back(
        isa<VectorType>(operand.getType())
            ? LLVM::BitcastOp::create(builder, loc, word, operand).getResult()
            : operand);
  replaceByCall(op, multiply, arguments);
  return success();
}

LogicalResult EmulateGpuPass::replaceRead(NVVM::LdMatrixOp op) {
  NVVM::LdStMatrixShapeAttr shape = op.getShape();
  if (shape.getM() != 8 || shape.getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitOpError("isn't emulated");
  Value count = number(op, op.getNum());
  Value transposes = number(op, op.getLayout() == NVVM::MMALayout::col);
  replaceByCall(op, readMatrices,
                {count, transposes, castToGeneric(op, op.getPtr())});
  return success();
}

/// Replaces the product of a warp group (`wgmma`). The emulating function takes
/// the address of the sums, which it updates.
LogicalResult EmulateGpuPass::replaceProduct(NVVM::WgmmaMmaAsyncOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  bool isPlain = op.getTypeD() == NVVM::WGMMATypes::f32 &&
                 op.getTypeA() == op.getTypeB() &&
                 op.getScaleD() == NVVM::WGMMAScaleOut::one &&
                 op.getScaleA() == NVVM::WGMMAScaleIn::one &&
                 op.getScaleB() == NVVM::WGMMAScaleIn::one;
  std::optional<emulated::Factors> factors =
      getFactors(std::optional(op.getTypeA()));
  if (!isPlain || !factors)
    return op.emitOpError("isn't emulated");
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  Block &entry = op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front();
  OpBuilder atBegin = OpBuilder::atBlockBegin(&entry);
  Value one = LLVM::ConstantOp::create(atBegin, loc, atBegin.getI32Type(),
                                       static_cast<int64_t>(1));
  Value place = LLVM::AllocaOp::create(atBegin, loc, pointer,
                                       op.getInouts().getType(), one);
  LLVM::StoreOp::create(builder, loc, op.getInouts(), place);
  Value shared = LLVM::AddressOfOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(&getContext(), kSharedAddressSpace),
      sharedName);
  bool lhsTurned = op.getLayoutA() == NVVM::MMALayout::col;
  bool rhsTurned = op.getLayoutB() == NVVM::MMALayout::row;
  replaceByCall(op, multiplyShared,
                {number(op, static_cast<int64_t>(*factors)),
                 number(op, op.getShape().getN()),
                 number(op, lhsTurned + 2 * rhsTurned),
                 LLVM::AddrSpaceCastOp::create(builder, loc, pointer, shared),
                 op.getDescriptorA(), op.getDescriptorB(), place});
  return success();
}

/// Replaces a product of a warp group, or an op that commits such products or
/// waits for them.
LogicalResult EmulateGpuPass::replaceProductOp(Operation *op) {
  if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op))
    return replaceProduct(product);
  if (isa<LLVM::InlineAsmOp>(op))
    return replaceByCall(op, waitForProducts, {}), success();
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op))
    return replaceByCall(op, commitProducts, {}), success();
  if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op))
    return replaceByCall(op, waitForGroups,
                         number(op, static_cast<int64_t>(wait.getGroup()))),
           success();
  // wgmma.fence orders accesses to a thread's registers, which the emulation
  // does anyway.
  op->erase();
  return success();
}

LogicalResult EmulateGpuPass::replaceOp(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  if (auto product = dyn_cast<NVVM::MmaOp>(op))
    return replaceMultiply(product);
  if (auto read = dyn_cast<NVVM::LdMatrixOp>(op))
    return replaceRead(read);
  if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op))
    return replaceCopy(copy);
  if (auto copy = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op))
    return replaceBulkCopy(copy);
  if (isa<NVVM::MBarrierInitOp, NVVM::MBarrierArriveOp,
          NVVM::MBarrierArriveExpectTxOp, NVVM::MBarrierTryWaitParityOp>(op))
    return replaceMbarrierOp(op);
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return replaceIntrinsic(intrinsic);
  if (isa<LLVM::InlineAsmOp, NVVM::WgmmaFenceAlignedOp,
          NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaMmaAsyncOp,
          NVVM::WgmmaWaitGroupSyncOp>(op))
    return replaceProductOp(op);
  if (auto fenced = dyn_cast<NVVM::FenceProxyOp>(op);
      fenced && fenced.getKind() == NVVM::ProxyKind::async_shared)
    return replaceByCall(op, fence, {}), success();
  // The emulated initialisation of an mbarrier takes effect at once.
  if (isa<NVVM::FenceMbarrierInitOp>(op))
    return op->erase(), success();
  if (isa<NVVM::CpAsyncCommitGroupOp>(op))
    return replaceByCall(op, commitCopies, {}), success();
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op))
    return replaceByCall(op, waitForCopies, number(op, wait.getN())), success();
  if (isa<NVVM::Barrier0Op>(op))
    return replaceByCall(op, barrier, {}), success();
  std::optional<int32_t> place = findRegister(op);
  if (!place)
    return op->emitOpError("isn't emulated");
  Value base = LLVM::AddressOfOp::create(builder, loc, registers);
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI32Type(), base,
                          ArrayRef<LLVM::GEPArg>{*place});
  op->replaceAllUsesWith(
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address));
  op->erase();
  return success();
}
