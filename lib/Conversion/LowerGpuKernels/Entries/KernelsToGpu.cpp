//===- KernelsToGpu.cpp - Threads' code as kernels of a GPU ---------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "hfta/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTKERNELSTOGPU
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using hfta_gpu::HftaGpuDialect, hfta_gpu::Place;

/// Emits an error if a kernel calls an external function, as a GPU has no C
/// library.
static LogicalResult refuseCalls(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kKernelAttrName))
      continue;
    WalkResult result = function.walk([&](func::CallOp call) {
      call.emitOpError("calls '")
          << call.getCallee()
          << "' of the C library, which doesn't exist on a GPU";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// The most threads of a block if they don't wait for each other, and the
/// number of threads of a warp.
static constexpr int64_t kBlockThreads = 256;
static constexpr int64_t kWarpThreads = 32;

/// The least number of blocks that a multiprocessor is to run at once. It is
/// set for kernels whose threads share sums and either divide in f64, which is
/// a call of ptxas' own routine, or compute several elements. By default ptxas
/// uses 32 to 48 registers for such kernels and spills to memory; with this
/// bound it uses 40 to 90.
static constexpr int64_t kBlocksAtOnce = 2;

/// Returns whether a function contains a division or square root in f64.
static bool dividesWide(LLVM::LLVMFuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<LLVM::FDivOp, LLVM::SqrtOp>(op) &&
                       op->getResult(0).getType().isF64()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the name of a kernel's entry point. PTX allows letters, digits and
/// few other characters in names.
static std::string getEntryName(StringRef kernel) {
  kernel.consume_front(names::kKernelPrefix);
  std::string name;
  for (char letter : kernel)
    name += llvm::isAlnum(letter) || letter == '_' ? letter : '$';
  return name;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

namespace {
/// Builds the entry point of a kernel: the code that a GPU's thread runs before
/// and after the kernel's function.
class EntryBuilder {
public:
  EntryBuilder(ModuleOp module, const LoweredKernel &kernel)
      : kernel(kernel),
        callee(module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name)),
        builder(module.getContext()), loc(kernel.loc),
        indexType(builder.getIntegerType(kernel.indexBits)),
        items(getNumber(kItemsAttrName)),
        maps(callee->getAttrOfType<ArrayAttr>(kTensorMapsAttrName)) {}

  LogicalResult build();

private:
  int64_t getNumber(StringRef name) {
    auto attribute = callee->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  }
  LLVM::LLVMFuncOp createFunction();
  void describeMaps(LLVM::LLVMFuncOp entry, unsigned argument);
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type, value);
  }
  Value widen(Value value, Type type) {
    return value.getType() == type
               ? value
               : LLVM::ZExtOp::create(builder, loc, type, value).getResult();
  }
  Value read(Place place, Type type) {
    return widen(hfta_gpu::PositionOp::create(builder, loc, place), type);
  }
  /// Multiplies two numbers that aren't negative and whose product doesn't
  /// overflow.
  Value multiply(Value a, Value b) {
    return LLVM::MulOp::create(builder, loc, a, b, kNeverWraps);
  }
  Value add(Value a, Value b) {
    return LLVM::AddOp::create(builder, loc, a, b, kNeverWraps);
  }
  Value advance(Value address, Value bytes) {
    return LLVM::GEPOp::create(builder, loc, address.getType(),
                               builder.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }
  void callKernel(LLVM::LLVMFuncOp entry, Value item);
  Block *skipPast(LLVM::LLVMFuncOp entry, Value item);
  int64_t getBlockThreads();
  /// Returns whether the threads of a block synchronize with each other.
  bool worksTogether() { return getNumber(kBlockThreadsAttrName) > 0; }
  Value findScratch(Value memory, Value copy, Value item);

  static constexpr auto kNeverWraps =
      LLVM::IntegerOverflowFlags::nsw | LLVM::IntegerOverflowFlags::nuw;

  const LoweredKernel &kernel;
  LLVM::LLVMFuncOp callee;
  OpBuilder builder;
  Location loc;
  Type indexType;
  int64_t items, blockThreads = 0;
  ArrayAttr
      maps; ///< NULL: the kernel's last parameter is scratch memory instead
};
} // namespace

/// Returns the number of threads of a block: a multiple of the warp size, and
/// no more than there is work for.
int64_t EntryBuilder::getBlockThreads() {
  if (worksTogether())
    return getNumber(kBlockThreadsAttrName);
  int64_t threads = llvm::alignTo(std::max<int64_t>(items, 1), kWarpThreads);
  return std::min(threads, kBlockThreads);
}

LLVM::LLVMFuncOp EntryBuilder::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types;
  for (unsigned i = 0; i < kernel.buffers; ++i)
    types.append({pointer, builder.getI64Type()});
  types.append(maps ? 2 : 1, pointer);
  builder.setInsertionPointAfter(callee);
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, getEntryName(kernel.name),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  types));
  int64_t threads = getBlockThreads();
  entry->setAttr(HftaGpuDialect::kEntryAttrName, builder.getUnitAttr());
  entry->setAttr(HftaGpuDialect::kThreadsAttrName,
                 builder.getI32IntegerAttr(static_cast<int32_t>(threads)));
  if (callee->hasAttr(kSharesSumsAttrName) &&
      (callee->hasAttr(kRunAttrName) || dividesWide(callee)))
    entry->setAttr(HftaGpuDialect::kBlocksAtOnceAttrName,
                   builder.getI32IntegerAttr(kBlocksAtOnce));
  if (maps)
    describeMaps(entry, types.size() - 1);
  blockThreads = threads;
  callee->setAttr(kGpuEntryAttrName, entry.getSymNameAttr());
  return entry;
}

/// Passes the tensor maps by value: the hardware reads them from the memory of
/// the parameter itself.
void EntryBuilder::describeMaps(LLVM::LLVMFuncOp entry, unsigned argument) {
  auto count = static_cast<int64_t>(maps.size());
  auto set = [&](StringRef name, Attribute value) {
    entry.setArgAttr(argument, name, value);
  };
  set(LLVM::LLVMDialect::getByValAttrName(),
      TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI8Type(),
                                             hfta_map_block_bytes(count))));
  set(LLVM::LLVMDialect::getAlignAttrName(),
      builder.getI64IntegerAttr(HFTA_MAP_ALIGNMENT));
  entry->setAttr(kMapCountAttrName,
                 builder.getI32IntegerAttr(static_cast<int32_t>(count)));
  entry->setAttr(kSharedBytesAttrName, callee->getAttr(kSharedBytesAttrName));
}

/// Returns the thread's own part of the launch's scratch memory.
Value EntryBuilder::findScratch(Value memory, Value copy, Value item) {
  int64_t bytes = getNumber(HftaDialect::kScratchBytesAttrName);
  if (bytes == 0)
    return memory;
  int64_t threads = llvm::alignTo(items, blockThreads);
  Type wide = builder.getI64Type();
  Value thread =
      add(multiply(copy, constant(wide, threads)), widen(item, wide));
  return advance(memory, multiply(thread, constant(wide, bytes)));
}

void EntryBuilder::callKernel(LLVM::LLVMFuncOp entry, Value item) {
  Value copy = read(Place::copy, builder.getI64Type());
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < kernel.buffers; ++i)
    arguments.push_back(advance(entry.getArgument(2 * i),
                                multiply(copy, entry.getArgument(2 * i + 1))));
  arguments.push_back(item);
  arguments.push_back(
      maps ? Value(entry.getArguments().back())
           : findScratch(entry.getArgument(2 * kernel.buffers), copy, item));
  auto call = LLVM::CallOp::create(builder, loc, callee, arguments);
  // Inlines the kernel whatever its length. In a function that is called, ptxas
  // waits for each product of warp groups before it starts the next one.
  call.setAlwaysInline(callee->hasAttr(kWarpGroupsOfAttrName));
}

LogicalResult EntryBuilder::build() {
  if (kernel.lanes > 1)
    return callee.emitOpError(
        "computes several items at once, but a thread of a "
        "GPU computes one");
  if (maps && (maps.empty() ||
               !callee->getAttrOfType<IntegerAttr>(kSharedBytesAttrName)))
    return callee.emitError("expected ")
           << kTensorMapsAttrName << " with at least one map, and "
           << kSharedBytesAttrName;
  LLVM::LLVMFuncOp entry = createFunction();
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  Value item = add(multiply(read(Place::block, indexType),
                            read(Place::block_threads, indexType)),
                   read(Place::thread, indexType));
  // If threads wait for each other, the grid consists of whole blocks and every
  // thread has an item.
  Block *end = worksTogether() ? nullptr : skipPast(entry, item);
  callKernel(entry, item);
  if (end) {
    LLVM::BrOp::create(builder, loc, end);
    builder.setInsertionPointToStart(end);
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  callee->setAttr(kBlockThreadsAttrName,
                  builder.getI64IntegerAttr(blockThreads));
  return success();
}

/// Branches past the work in threads without an item, and leaves the builder
/// where the work is to be built. Returns the block in which all threads
/// continue.
Block *EntryBuilder::skipPast(LLVM::LLVMFuncOp entry, Value item) {
  Block *work = &entry.getBody().emplaceBlock();
  Block *end = &entry.getBody().emplaceBlock();
  Value isOne = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult,
                                     item, constant(indexType, items));
  LLVM::CondBrOp::create(builder, loc, isOne, work, end);
  builder.setInsertionPointToStart(work);
  return end;
}

/// Returns whether 32 bits suffice for a kernel's indices. Indices of 64 bits
/// take two registers, and several instructions for a division. The address at
/// which a copy's operand begins always has 64 bits.
static bool hasNarrowIndices(func::FuncOp kernel) {
  auto threads = kernel->getAttrOfType<IntegerAttr>(kItemsAttrName);
  return !kernel->hasAttr(kWideIndicesAttrName) &&
         threads.getInt() <= kMostNarrowElements;
}

/// Returns whether two kernels can be launched alike: with the same number of
/// blocks, and the same threads of a block and scratch bytes. A kernel that
/// copies by tensor maps may have one more warp in each block, and no scratch
/// memory.
static bool isLaunchedLike(LLVM::LLVMFuncOp kernel, LLVM::LLVMFuncOp other) {
  auto get = [](LLVM::LLVMFuncOp function, StringRef name) {
    auto number = function->getAttrOfType<IntegerAttr>(name);
    return number ? number.getInt() : 0;
  };
  int64_t threads = get(kernel, kBlockThreadsAttrName);
  int64_t others = get(other, kBlockThreadsAttrName);
  bool isSame =
      threads == others && get(kernel, HftaDialect::kScratchBytesAttrName) ==
                               get(other, HftaDialect::kScratchBytesAttrName);
  return threads > 0 && others > 0 &&
         llvm::divideCeil(get(kernel, kItemsAttrName), threads) ==
             llvm::divideCeil(get(other, kItemsAttrName), others) &&
         (isSame || kernel->hasAttr(kTensorMapsAttrName));
}

/// Returns the attribute that describes the launch of a kernel which copies by
/// tensor maps.
static DictionaryAttr describeLaunch(LLVM::LLVMFuncOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<NamedAttribute> attributes;
  for (StringRef name :
       {kBlockThreadsAttrName, kSharedBytesAttrName, kTensorMapsAttrName})
    attributes.push_back(builder.getNamedAttr(name, kernel->getAttr(name)));
  return builder.getDictionaryAttr(attributes);
}

/// Makes a kernel's shared memory dynamic. Its size is then a parameter of the
/// launch and may exceed the limit for static shared memory.
static void askForSharedMemory(LLVM::LLVMFuncOp kernel,
                               const SymbolTable &symbols) {
  kernel.walk([&](LLVM::AddressOfOp op) {
    auto global = symbols.lookup<LLVM::GlobalOp>(op.getGlobalName());
    if (!global || global.getAddrSpace() != HftaGpuDialect::kSharedSpace)
      return;
    Type byte = IntegerType::get(kernel.getContext(), 8);
    global.setGlobalType(LLVM::LLVMArrayType::get(byte, 0));
    global.setLinkage(LLVM::Linkage::External);
    global.getInitializerRegion().getBlocks().clear();
  });
}

/// Sets, on the entry point of each kernel that replaces another one, the
/// symbol of the other's entry point. Fails unless both have the same grid.
static LogicalResult markEntries(ModuleOp module) {
  SymbolTable symbols(module);
  auto findEntry = [&](LLVM::LLVMFuncOp kernel) {
    auto name = kernel ? kernel->getAttrOfType<StringAttr>(kGpuEntryAttrName)
                       : StringAttr();
    return name ? symbols.lookup<LLVM::LLVMFuncOp>(name) : LLVM::LLVMFuncOp();
  };
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    auto of = kernel->getAttrOfType<FlatSymbolRefAttr>(kWarpGroupsOfAttrName);
    if (!of || !kernel->hasAttr(kGpuEntryAttrName))
      continue;
    auto other = symbols.lookup<LLVM::LLVMFuncOp>(of.getAttr());
    LLVM::LLVMFuncOp own = findEntry(kernel), others = findEntry(other);
    if (!own || !others || !isLaunchedLike(kernel, other))
      return kernel.emitError("expected a kernel that is launched like ") << of;
    if (kernel->hasAttr(kTensorMapsAttrName)) {
      other->setAttr(kWarpGroupLaunchAttrName, describeLaunch(kernel));
      askForSharedMemory(kernel, symbols);
    }
    own->setAttr(kWarpGroupsOfAttrName,
                 FlatSymbolRefAttr::get(others.getSymNameAttr()));
  }
  return success();
}

namespace {
struct ConvertKernelsToGpuPass
    : hfta::impl::ConvertKernelsToGpuBase<ConvertKernelsToGpuPass> {
  using ConvertKernelsToGpuBase::ConvertKernelsToGpuBase;

  void runOnOperation() override {
    if (failed(refuseCalls(getOperation())))
      return signalPassFailure();
    FailureOr<SmallVector<LoweredKernel>> kernels =
        convertKernelsToLLVM(getOperation(), hasNarrowIndices);
    if (failed(kernels))
      return signalPassFailure();
    for (const LoweredKernel &kernel : *kernels)
      if (failed(EntryBuilder(getOperation(), kernel).build()))
        return signalPassFailure();
    if (failed(markEntries(getOperation())))
      return signalPassFailure();
  }
};
} // namespace
