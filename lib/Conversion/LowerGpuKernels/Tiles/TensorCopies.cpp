//===- TensorCopies.cpp - Asynchronous copies of operands -----------------===//
//
// Most operands of tensor cores lie in memory just as shared memory needs them,
// as the kernel that computed them has rounded and narrowed them. Threads copy
// them asynchronously and without registers (`cp.async`), some steps ahead of
// the step whose terms they add: one buffer is being read, and all others are
// full or are being filled. For padding a copy reads no bytes and writes zeros.
// Each step commits one group of copies, possibly an empty one, so that the
// number of groups that may be in flight is constant.
//===----------------------------------------------------------------------===//

#include "Tiles/TensorTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most buffers of a side that is copied asynchronously.
static constexpr int64_t kMostBuffers = 4;

/// Returns the place in memory of a unit that can be copied as it is; nothing
/// if the unit has to be computed. Beyond the last term the copy writes
/// positive zeros. Negative ones, which leave every sum unchanged, aren't
/// needed, as tensor cores lose the sign of zero sums anyway.
FailureOr<std::optional<RunSource>>
TensorTiles::findUnit(const Side &side, size_t number, Value step) {
  if (!hasRuns(side))
    return std::optional<RunSource>();
  Value term = findTerm(side, number, step);
  FailureOr<std::optional<RunSource>> found =
      puller.findSource(op, op->getOpOperand(side.of->operand),
                        findLoops(side, number, term), getRunLoop(side), unit);
  if (failed(found) || !*found)
    return found;
  RunSource &source = **found;
  auto type = cast<MemRefType>(source.memory.getType());
  if (type.getElementTypeBitWidth() * factors.ofWord() != 32)
    return std::optional<RunSource>();
  if (Value isOne = isTerm(term)) {
    toEnd();
    source.isInside =
        source.isInside
            ? arith::AndIOp::create(builder, loc, source.isInside, isOne)
            : isOne;
  }
  return found;
}

FailureOr<SmallVector<RunSource>> TensorTiles::findUnits(const Side &side,
                                                         Value step) {
  SmallVector<RunSource> units;
  for (size_t number = 0; number < side.terms.size(); ++number) {
    FailureOr<std::optional<RunSource>> unit =
        findUnit(side, number, findStep(step));
    if (failed(unit))
      return failure();
    units.push_back(**unit);
  }
  return units;
}

/// Chooses the number of buffers: as many as fit into shared memory, but no
/// more than there are steps.
void TensorTiles::chooseBuffers() {
  auto countBytes = [&](int64_t buffers) {
    int64_t bytes = 0;
    for (const Side &side : sides)
      bytes += (side.isCopied ? buffers : side.buffers) * tile.groups *
               countBufferElements(side) * 4 / factors.ofWord();
    return bytes;
  };
  int64_t most = std::min(kMostBuffers, countSteps());
  while (copyBuffers < most &&
         countBytes(copyBuffers + 1) <= SharedMemory::kMostBytes)
    ++copyBuffers;
  for (Side &side : sides)
    if (side.isCopied)
      side.buffers = copyBuffers;
}

void TensorTiles::copyUnits(OpBuilder &b, const Side &side,
                            ArrayRef<RunSource> from, Value buffer) {
  Type element =
      cast<MemRefType>(from.front().memory.getType()).getElementType();
  Value part = memory.viewAs(side.memory, element);
  for (size_t number = 0; number < from.size(); ++number)
    buildUnit(b, side, number, [&](OpBuilder &inner) {
      const RunSource &source = from[number];
      Value to = SharedMemory::findAddress(
          inner, loc, part,
          locate(inner, side, units[side.of->operand][number], buffer));
      copyUnit(inner, source, to);
    });
}

/// Begins the copy of a unit. Of a unit that isn't inside of its tensor no
/// bytes are read.
void TensorTiles::copyUnit(OpBuilder &b, const RunSource &source, Value to) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type global = LLVM::LLVMPointerType::get(
      b.getContext(), hfta_gpu::HftaGpuDialect::kGlobalSpace);
  Value from = hfta_gpu::AddressOp::create(b, loc, pointer, source.memory,
                                           source.indices);
  from = LLVM::AddrSpaceCastOp::create(b, loc, global, from);
  auto number = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value count;
  if (source.isInside)
    count = arith::SelectOp::create(b, loc, source.isInside,
                                    number(hfta_gpu::BeginCopyOp::kBytes),
                                    number(0));
  hfta_gpu::BeginCopyOp::create(b, loc, to, from, count);
}

/// Begins the copies of the first steps, one step for each buffer except the
/// last.
LogicalResult TensorTiles::beginCopies() {
  for (int64_t step = 0; hasCopies() && step < copyBuffers - 1; ++step) {
    Value number = puller.index(step);
    for (const Side &side : sides) {
      if (!side.isCopied)
        continue;
      FailureOr<SmallVector<RunSource>> from = findUnits(side, number);
      if (failed(from))
        return failure();
      toEnd();
      copyUnits(builder, side, *from, number);
    }
    toEnd();
    hfta_gpu::CommitCopiesOp::create(builder, loc);
  }
  return success();
}

/// Begins copies into the buffer that all threads have finished reading.
LogicalResult TensorTiles::continueCopies(Value step) {
  if (!hasCopies())
    return success();
  int64_t ahead = copyBuffers - 1;
  Value next = apply(d0 + ahead, step), end = puller.index(countSteps());
  Value buffer = apply((d0 + ahead) % copyBuffers, step);
  std::array<SmallVector<RunSource>, 2> from;
  for (auto [side, units] : llvm::zip(sides, from)) {
    if (!side.isCopied)
      continue;
    FailureOr<SmallVector<RunSource>> found = findUnits(side, next);
    if (failed(found))
      return failure();
    units = *found;
  }
  toEnd();
  Value isStep =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, next, end);
  scf::IfOp::create(builder, loc, isStep, [&](OpBuilder &b, Location loc) {
    for (auto [side, units] : llvm::zip(sides, from))
      if (side.isCopied)
        copyUnits(b, side, units, buffer);
    scf::YieldOp::create(b, loc);
  });
  hfta_gpu::CommitCopiesOp::create(builder, loc);
  return success();
}

/// Waits for the copies of the next step and all earlier ones.
void TensorTiles::waitForCopies() {
  if (hasCopies())
    hfta_gpu::WaitForCopiesOp::create(builder, loc,
                                      static_cast<uint32_t>(copyBuffers - 2));
}
