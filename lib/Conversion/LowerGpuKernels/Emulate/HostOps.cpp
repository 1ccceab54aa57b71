//===- HostOps.cpp - What threads do together, on the host ----------------===//

#include "Emulate/HostOps.h"
#include "Hfta/Conversion/EmulatedImage.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "hfta/program.h"

#include "llvm/ADT/TypeSwitch.h"

#include <type_traits>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta_gpu;

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

LLVM::GlobalOp hfta::createGlobal(ModuleOp code, StringRef name, Type type,
                                  Attribute value, unsigned space,
                                  bool isConstant) {
  OpBuilder builder = OpBuilder::atBlockBegin(code.getBody());
  auto global = LLVM::GlobalOp::create(builder, code.getLoc(), type, isConstant,
                                       LLVM::Linkage::External, name, value,
                                       /*alignment=*/64, space);
  if (value)
    return global;
  builder.createBlock(&global.getInitializerRegion());
  Value zero = LLVM::ZeroOp::create(builder, global.getLoc(), type);
  LLVM::ReturnOp::create(builder, global.getLoc(), zero);
  return global;
}

void hfta::createHostGlobals(ModuleOp code) {
  Builder builder(code.getContext());
  createGlobal(
      code, emulated::kRegisters,
      LLVM::LLVMArrayType::get(builder.getI32Type(), emulated::kRegisterCount),
      Attribute());
  Type pointer = LLVM::LLVMPointerType::get(code.getContext());
  for (StringRef name :
       {emulated::kBarrier, emulated::kNumberedBarrier, emulated::kMultiply,
        emulated::kReadMatrices, emulated::kBeginCopy, emulated::kCommitCopies,
        emulated::kWaitForCopies, emulated::kInitialiseBarrier,
        emulated::kArrive, emulated::kArriveExpecting, emulated::kWaitForPhase,
        emulated::kBeginBulkCopy, emulated::kFence, emulated::kMultiplyShared,
        emulated::kCommitProducts, emulated::kWaitForGroups,
        emulated::kWaitForProducts})
    createGlobal(code, name, pointer, Attribute());
}

bool hfta::needsOtherThreads(Operation *op) {
  return isa<HftaGpuDialect>(op->getDialect()) && !isa<PositionOp>(op);
}

//===----------------------------------------------------------------------===//
// Ops, by their families in GpuOps.td
//===----------------------------------------------------------------------===//

namespace {
/// Builds, before an op, what replaces it. Each `lower` returns the values that
/// replace the op's results.
class Lowering {
public:
  explicit Lowering(Operation *op)
      : op(op), builder(op), loc(op->getLoc()),
        generic(LLVM::LLVMPointerType::get(op->getContext())) {}

  SmallVector<Value> lower(PositionOp op);
  SmallVector<Value> lower(BarrierOp op);

  SmallVector<Value> lower(BeginCopyOp op);
  SmallVector<Value> lower(CommitCopiesOp op);
  SmallVector<Value> lower(WaitForCopiesOp op);

  SmallVector<Value> lower(LoadMatricesOp op);
  SmallVector<Value> lower(MultiplyOp op);

  SmallVector<Value> lower(PublishStoresOp op);
  SmallVector<Value> lower(BeginProductsOp op);
  SmallVector<Value> lower(MultiplySharedOp op);
  SmallVector<Value> lower(CommitProductsOp op);
  SmallVector<Value> lower(WaitForProductGroupsOp op);
  SmallVector<Value> lower(WaitForProductsOp op);

  SmallVector<Value> lower(InitMbarrierOp op);
  SmallVector<Value> lower(PublishMbarriersOp op);
  SmallVector<Value> lower(ArriveOp op);
  SmallVector<Value> lower(ArriveExpectingOp op);
  SmallVector<Value> lower(WaitForPhaseOp op);
  SmallVector<Value> lower(BeginBoxCopyOp op);

private:
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  }
  Value toGeneric(Value pointer);
  SmallVector<Value> call(StringRef pointer, ValueRange arguments);

  Operation *op;
  OpBuilder builder;
  Location loc;
  Type generic; ///< pointers in the only address space of the host
};
} // namespace

/// Casts a pointer to the generic address space.
Value Lowering::toGeneric(Value pointer) {
  if (pointer.getType() == generic)
    return pointer;
  return LLVM::AddrSpaceCastOp::create(builder, loc, generic, pointer);
}

/// Calls the function that a global points to. If one of the op's results is
/// used, the function returns the address of all results.
SmallVector<Value> Lowering::call(StringRef pointer, ValueRange arguments) {
  Value place = LLVM::AddressOfOp::create(builder, loc, generic, pointer);
  SmallVector<Value> operands = {
      LLVM::LoadOp::create(builder, loc, generic, place)};
  llvm::append_range(operands, arguments);
  bool isVoid = op->use_empty();
  Type result =
      isVoid ? LLVM::LLVMVoidType::get(builder.getContext()) : generic;
  auto called =
      LLVM::CallOp::create(builder, loc,
                           LLVM::LLVMFunctionType::get(
                               result, SmallVector<Type>(arguments.getTypes())),
                           operands);
  if (isVoid)
    return SmallVector<Value>(op->getNumResults());
  if (op->getNumResults() == 1)
    return {LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(),
                                 called.getResult())};
  Value all = LLVM::LoadOp::create(
      builder, loc,
      LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                       SmallVector<Type>(op->getResultTypes())),
      called.getResult());
  SmallVector<Value> results;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, all,
                                                   static_cast<int64_t>(i)));
  return results;
}

/// Returns the index of a place in the array of registers.
static int32_t getRegister(Place place) {
  switch (place) {
  case Place::thread:
    return emulated::kThreadX;
  case Place::block:
    return emulated::kBlockX;
  case Place::block_threads:
    return emulated::kBlockDimX;
  case Place::copy:
    return emulated::kBlockZ;
  }
  llvm_unreachable("no such place");
}

SmallVector<Value> Lowering::lower(PositionOp op) {
  Type word = builder.getI32Type();
  Value registers =
      LLVM::AddressOfOp::create(builder, loc, generic, emulated::kRegisters);
  Value place =
      LLVM::GEPOp::create(builder, loc, generic, word, registers,
                          ArrayRef<LLVM::GEPArg>{getRegister(op.getPlace())});
  return {LLVM::LoadOp::create(builder, loc, word, place)};
}

SmallVector<Value> Lowering::lower(BarrierOp op) {
  if (!op.getNumber())
    return call(emulated::kBarrier, {});
  return call(emulated::kNumberedBarrier,
              {number(*op.getNumber()), number(*op.getThreads())});
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(BeginCopyOp op) {
  Value to = toGeneric(op.getTo()), from = toGeneric(op.getFrom());
  Value count = op.getCount() ? op.getCount() : number(BeginCopyOp::kBytes);
  return call(emulated::kBeginCopy, {to, from, count});
}

SmallVector<Value> Lowering::lower(CommitCopiesOp /*op*/) {
  return call(emulated::kCommitCopies, {});
}

SmallVector<Value> Lowering::lower(WaitForCopiesOp op) {
  return call(emulated::kWaitForCopies, number(op.getBut()));
}

//===----------------------------------------------------------------------===//
// Products of a warp
//===----------------------------------------------------------------------===//

static emulated::Factors getFactors(Factors factors) {
  switch (factors) {
  case Factors::bf16:
    return emulated::Factors::kBf16;
  case Factors::f16:
    return emulated::Factors::kF16;
  case Factors::tf32:
    return emulated::Factors::kTf32;
  }
  llvm_unreachable("no such factors");
}

SmallVector<Value> Lowering::lower(LoadMatricesOp op) {
  Value count = number(static_cast<int64_t>(op.getWords().size()));
  Value transposes = number(op.getTransposed());
  return call(emulated::kReadMatrices,
              {count, transposes, toGeneric(op.getRow())});
}

SmallVector<Value> Lowering::lower(MultiplyOp op) {
  SmallVector<Value> arguments = {
      number(static_cast<int64_t>(getFactors(op.getFactors())))};
  llvm::append_range(arguments, op.getOperands());
  return call(emulated::kMultiply, arguments);
}

//===----------------------------------------------------------------------===//
// Products of a warp group
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(PublishStoresOp /*op*/) {
  return call(emulated::kFence, {});
}

/// The op orders accesses to a thread's registers, which the emulation does
/// anyway.
SmallVector<Value> Lowering::lower(BeginProductsOp /*op*/) { return {}; }

/// Passes the address of the sums, which the emulating function updates.
SmallVector<Value> Lowering::lower(MultiplySharedOp op) {
  Block &entry = op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front();
  OpBuilder atBegin = OpBuilder::atBlockBegin(&entry);
  Value one = LLVM::ConstantOp::create(atBegin, loc, atBegin.getI32Type(),
                                       static_cast<int64_t>(1));
  Value place = LLVM::AllocaOp::create(atBegin, loc, generic,
                                       op.getSums().getType(), one);
  LLVM::StoreOp::create(builder, loc, op.getSums(), place);
  Value shared = LLVM::AddressOfOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(),
                                 HftaGpuDialect::kSharedSpace),
      emulated::kShared);
  Value factors = number(static_cast<int64_t>(getFactors(op.getFactors())));
  Value columns = number(op.countColumns());
  Value transposed = number(op.getLhsTransposed() +
                            2 * static_cast<int>(op.getRhsTransposed()));
  return call(emulated::kMultiplyShared,
              {factors, columns, transposed, toGeneric(shared), op.getLhs(),
               op.getRhs(), place});
}

SmallVector<Value> Lowering::lower(CommitProductsOp /*op*/) {
  return call(emulated::kCommitProducts, {});
}

SmallVector<Value> Lowering::lower(WaitForProductGroupsOp op) {
  return call(emulated::kWaitForGroups, number(op.getBut()));
}

SmallVector<Value> Lowering::lower(WaitForProductsOp /*op*/) {
  return call(emulated::kWaitForProducts, {});
}

//===----------------------------------------------------------------------===//
// Barriers in memory, and copies of boxes
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(InitMbarrierOp op) {
  return call(emulated::kInitialiseBarrier,
              {toGeneric(op.getBarrier()), number(op.getArrivals())});
}

/// An emulated mbarrier is initialised at once.
SmallVector<Value> Lowering::lower(PublishMbarriersOp /*op*/) { return {}; }

SmallVector<Value> Lowering::lower(ArriveOp op) {
  return call(emulated::kArrive, {toGeneric(op.getBarrier()), number(1)});
}

SmallVector<Value> Lowering::lower(ArriveExpectingOp op) {
  return call(emulated::kArriveExpecting,
              {toGeneric(op.getBarrier()), number(op.getBytes())});
}

SmallVector<Value> Lowering::lower(WaitForPhaseOp op) {
  return call(emulated::kWaitForPhase,
              {toGeneric(op.getBarrier()), op.getParity()});
}

/// The emulating function always takes the most coordinates that a box may
/// have.
SmallVector<Value> Lowering::lower(BeginBoxCopyOp op) {
  auto distance = static_cast<int32_t>(op.getMap() * HFTA_MAP_BYTES);
  Value map =
      LLVM::GEPOp::create(builder, loc, generic, builder.getI8Type(),
                          op.getMaps(), ArrayRef<LLVM::GEPArg>{distance});
  auto count = static_cast<int64_t>(op.getCoordinates().size());
  SmallVector<Value> arguments = {toGeneric(op.getTo()), map,
                                  toGeneric(op.getBarrier()), number(count)};
  llvm::append_range(arguments, op.getCoordinates());
  for (size_t i = op.getCoordinates().size();
       i < BeginBoxCopyOp::kMostCoordinates; ++i)
    arguments.push_back(number(0));
  return call(emulated::kBeginBulkCopy, arguments);
}

//===----------------------------------------------------------------------===//
// Any op
//===----------------------------------------------------------------------===//

/// An op of the dialect without a function `lower` doesn't compile.
LogicalResult hfta::replaceForHost(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<
#define GET_OP_LIST
#include "Hfta/Dialect/Gpu/GpuOps.cpp.inc"
          >([](auto own) -> LogicalResult {
        if constexpr (std::is_same_v<decltype(own), AddressOp>) {
          return own.emitOpError("isn't emulated");
        } else {
          own->replaceAllUsesWith(Lowering(own).lower(own));
          own->erase();
          return success();
        }
      });
}
