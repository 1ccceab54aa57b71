//===- SharedSums.cpp - Sums of several threads ---------------------------===//

#include "Pull/SharedSums.h"

#include "Hfta/Dialect/Gpu/GpuOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Attribute getSharedSpace(MLIRContext *context) {
  return IntegerAttr::get(IntegerType::get(context, 64),
                          hfta_gpu::HftaGpuDialect::kSharedSpace);
}

static MemRefType getBytesType(int64_t bytes, MLIRContext *context) {
  return MemRefType::get({bytes}, IntegerType::get(context, 8),
                         MemRefLayoutAttrInterface(), getSharedSpace(context));
}

static MemRefType getSharedType(ArrayRef<int64_t> shape, Type elementType) {
  return MemRefType::get(shape, elementType, MemRefLayoutAttrInterface(),
                         getSharedSpace(elementType.getContext()));
}

static int64_t countBytesOf(MemRefType type) {
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  return llvm::alignTo(type.getNumElements() * llvm::divideCeil(bits, 8),
                       SharedMemory::kAlignment);
}

/// Refers to the memory by a placeholder; `declare` fills in the symbol's name.
Value SharedMemory::view(Location loc, MemRefType type, int64_t offset) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().back());
  bytes = std::max(bytes, offset + countBytesOf(type));
  Value begin = arith::ConstantIndexOp::create(builder, loc, offset);
  auto base = memref::GetGlobalOp::create(
      builder, loc, getBytesType(bytes, kernel.getContext()), "undeclared");
  views.push_back(base);
  return memref::ViewOp::create(builder, loc, type, base, begin, ValueRange());
}

Value SharedMemory::allocate(Location loc, ArrayRef<int64_t> shape,
                             Type elementType) {
  return view(loc, getSharedType(shape, elementType), bytes);
}

Value SharedMemory::share(Location loc, ArrayRef<int64_t> shape,
                          Type elementType, int64_t offset) {
  return view(loc, getSharedType(shape, elementType), kept + offset);
}

void SharedMemory::keep(int64_t alignment) {
  align(alignment);
  kept = bytes = llvm::alignTo(bytes, alignment);
}

int64_t SharedMemory::countBytes(ArrayRef<int64_t> shape, Type elementType) {
  return countBytesOf(getSharedType(shape, elementType));
}

Value SharedMemory::viewAs(Value part, Type elementType) {
  auto type = cast<MemRefType>(part.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  auto view = part.getDefiningOp<memref::ViewOp>();
  return this->view(
      view.getLoc(),
      getSharedType({bits / elementType.getIntOrFloatBitWidth()}, elementType),
      *getConstantIntValue(view.getByteShift()));
}

Value SharedMemory::findAddress(OpBuilder &builder, Location loc, Value part,
                                Value index) {
  Type pointer = LLVM::LLVMPointerType::get(
      builder.getContext(), hfta_gpu::HftaGpuDialect::kSharedSpace);
  return hfta_gpu::AddressOp::create(builder, loc, pointer, part, index);
}

void SharedMemory::declare(SymbolTable &symbols) {
  if (bytes == 0)
    return;
  OpBuilder builder(kernel);
  MemRefType type = getBytesType(bytes, kernel.getContext());
  auto global = memref::GlobalOp::create(
      builder, kernel.getLoc(), "shared", builder.getStringAttr("private"),
      type, /*initial_value=*/builder.getUnitAttr(), /*constant=*/false,
      builder.getI64IntegerAttr(alignment));
  symbols.insert(global);
  for (Operation *op : views) {
    auto base = cast<memref::GetGlobalOp>(op);
    base.setName(global.getSymName());
    base.getResult().setType(type);
  }
}

void SharedMemory::synchronize(OpBuilder &builder, Location loc) const {
  if (threads == 0) {
    hfta_gpu::BarrierOp::create(builder, loc);
    return;
  }
  // Barriers of all threads have the number 0.
  constexpr int32_t kNumber = 1;
  hfta_gpu::BarrierOp::create(
      builder, loc, builder.getI32IntegerAttr(kNumber),
      builder.getI32IntegerAttr(static_cast<int32_t>(threads)));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

int64_t hfta::countTerms(linalg::GenericOp op) {
  int64_t terms = 1;
  for (auto [size, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      terms *= size;
  return terms;
}

Value SumCombiner::begin(OpBuilder &builder, Location loc, Value lane,
                         Value start) const {
  if (!neutral)
    return start;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, zero);
  Value other = arith::ConstantOp::create(builder, loc, neutral);
  return arith::SelectOp::create(builder, loc, isFirst, start, other);
}

Value SumCombiner::combine(OpBuilder &builder, Location loc, Value one,
                           Value other) const {
  if (isa<math::FmaOp>(op))
    return arith::AddFOp::create(builder, loc, one, other);
  Operation *made = builder.clone(*op);
  made->setLoc(loc);
  made->setOperands({one, other});
  return made->getResult(0);
}

/// Returns -0, the zero that leaves every sum unchanged, even one that is -0.
static TypedAttr getNegativeZero(Type type) {
  auto real = cast<FloatType>(type);
  return FloatAttr::get(type, llvm::APFloat::getZero(real.getFloatSemantics(),
                                                     /*Negative=*/true));
}

std::optional<SumCombiner> hfta::findCombiner(linalg::GenericOp op,
                                              unsigned result) {
  Block *body = op.getBody();
  BlockArgument running = body->getArgument(op.getNumDpsInputs() + result);
  Operation *made = body->getTerminator()->getOperand(result).getDefiningOp();
  if (!made || made->getBlock() != body || !running.hasOneUse() ||
      *running.user_begin() != made)
    return std::nullopt;
  Type type = running.getType();
  Builder builder(op.getContext());
  using Found = std::optional<SumCombiner>;
  return llvm::TypeSwitch<Operation *, Found>(made)
      .Case([&](math::FmaOp fma) -> Found {
        if (fma.getC() != running)
          return std::nullopt;
        return SumCombiner{made, getNegativeZero(type)};
      })
      .Case([&](arith::AddFOp) -> Found {
        return SumCombiner{made, getNegativeZero(type)};
      })
      .Case([&](arith::AddIOp) -> Found {
        return SumCombiner{made, builder.getZeroAttr(type)};
      })
      .Case([&](arith::MulFOp) -> Found {
        return SumCombiner{made, builder.getFloatAttr(type, 1)};
      })
      .Case([&](arith::MulIOp) -> Found {
        return SumCombiner{made, builder.getIntegerAttr(type, 1)};
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
            arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::OrIOp,
            arith::AndIOp>(
          [&](auto) -> Found { return SumCombiner{made, TypedAttr()}; })
      .Default([](Operation *) { return std::nullopt; });
}

SmallVector<Value> SumLanes::combine(OpBuilder &builder, Location loc,
                                     ArrayRef<Value> sums, int64_t count,
                                     const SumCombiner &combiner) const {
  // Sums that are combined one after the other use the same memory. For sums
  // that are combined together, the slots of one sum follow those of another.
  auto size = static_cast<int64_t>(sums.size()) * threads;
  Value values = memory->share(loc, {size}, sums.front().getType());
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  SmallVector<Value> firsts;
  for (size_t sum = 0; sum < sums.size(); ++sum)
    firsts.push_back(constant(static_cast<int64_t>(sum) * threads));
  auto place = [&](OpBuilder &b, Value at, size_t sum) -> Value {
    return sum == 0 ? at : arith::AddIOp::create(b, loc, at, firsts[sum]);
  };
  // Waits until all threads have read the values of earlier sums.
  memory->synchronize(builder, loc);
  Value own = arith::AddIOp::create(
      builder, loc, slot,
      arith::MulIOp::create(builder, loc, lane, constant(pitch)));
  for (auto [sum, value] : llvm::enumerate(sums))
    memref::StoreOp::create(builder, loc, value, values,
                            place(builder, own, sum));
  memory->synchronize(builder, loc);
  for (int64_t half = count / 2; half > 0; half /= 2) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, lane, constant(half));
    Value other =
        arith::AddIOp::create(builder, loc, own, constant(half * pitch));
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &b, Location loc) {
      for (size_t sum = 0; sum < sums.size(); ++sum) {
        Value to = place(b, own, sum);
        Value one = memref::LoadOp::create(b, loc, values, to);
        Value two =
            memref::LoadOp::create(b, loc, values, place(b, other, sum));
        memref::StoreOp::create(b, loc, combiner.combine(b, loc, one, two),
                                values, to);
      }
      scf::YieldOp::create(b, loc);
    });
    memory->synchronize(builder, loc);
  }
  SmallVector<Value> combined;
  for (size_t sum = 0; sum < sums.size(); ++sum)
    combined.push_back(memref::LoadOp::create(builder, loc, values,
                                              place(builder, slot, sum)));
  return combined;
}
