//===- ScratchMemory.cpp - Memory of kernels' intermediate values ---------===//
//
// A buffer's live range is from the first to the last op of the kernel's
// outermost block that uses it. Each buffer gets the lowest offset that is free
// during this range; larger buffers are placed first.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLANSCRATCH
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kAlignment = 64;

namespace {
struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes;
  unsigned first, last; ///< indices of ops of the kernel's outermost block
  int64_t offset = 0;
};
} // namespace

static int64_t getBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return llvm::alignTo(type.getNumElements() * bytes, kAlignment);
}

/// Extends the buffer's live range to all ops that use `memory` or views of it.
static void addUses(Value memory, Block &body,
                    const DenseMap<Operation *, unsigned> &positions,
                    Buffer &buffer) {
  for (Operation *user : memory.getUsers()) {
    unsigned position = positions.lookup(body.findAncestorOpInBlock(*user));
    buffer.first = std::min(buffer.first, position);
    buffer.last = std::max(buffer.last, position);
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()))
        addUses(result, body, positions, buffer);
  }
}

static FailureOr<SmallVector<Buffer>> collectBuffers(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  DenseMap<Operation *, unsigned> positions;
  for (auto [position, op] : llvm::enumerate(body))
    positions[&op] = position;
  SmallVector<Buffer> buffers;
  WalkResult result = kernel.walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape() ||
        !alloc.getType().getLayout().isIdentity()) {
      alloc.emitError("expected static size");
      return WalkResult::interrupt();
    }
    unsigned position = positions.lookup(body.findAncestorOpInBlock(*alloc));
    Buffer buffer{alloc, getBytes(alloc.getType()), position, position};
    addUses(alloc, body, positions, buffer);
    buffers.push_back(buffer);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return buffers;
}

/// Assigns an offset to each buffer. Returns the number of bytes that are
/// needed.
static int64_t placeBuffers(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> ordered, placed;
  for (Buffer &buffer : buffers)
    ordered.push_back(&buffer);
  llvm::sort(ordered, [](const Buffer *a, const Buffer *b) {
    return std::tie(b->bytes, a->first, a) < std::tie(a->bytes, b->first, b);
  });
  int64_t total = 0;
  for (Buffer *buffer : ordered) {
    // `placed` is sorted by offset, so this finds the first gap.
    for (const Buffer *other : placed)
      if (other->first <= buffer->last && buffer->first <= other->last &&
          other->offset < buffer->offset + buffer->bytes)
        buffer->offset = std::max(buffer->offset, other->offset + other->bytes);
    total = std::max(total, buffer->offset + buffer->bytes);
    auto *after = llvm::find_if(placed, [&](const Buffer *other) {
      return other->offset > buffer->offset;
    });
    placed.insert(after, buffer);
  }
  return total;
}

static void replaceBuffers(func::FuncOp kernel, ArrayRef<Buffer> buffers,
                           int64_t bytes) {
  IRRewriter rewriter(kernel.getContext());
  Block &body = kernel.getBody().front();
  BlockArgument scratch = body.getArguments().back();
  scratch.setType(MemRefType::get({bytes}, rewriter.getI8Type()));
  kernel.setType(rewriter.getFunctionType(body.getArgumentTypes(), {}));
  rewriter.setInsertionPointToStart(&body);
  for (const Buffer &buffer : buffers) {
    Location loc = buffer.alloc->getLoc();
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, buffer.offset);
    rewriter.replaceOp(
        buffer.alloc,
        memref::ViewOp::create(
            rewriter, loc,
            cast<MemRefType>(buffer.alloc->getResult(0).getType()), scratch,
            offset, ValueRange()));
  }
  kernel->setAttr(HftaDialect::kScratchBytesAttrName,
                  rewriter.getI64IntegerAttr(bytes));
}

namespace {
struct PlanScratchPass : hfta::impl::HftaPlanScratchBase<PlanScratchPass> {
  using HftaPlanScratchBase::HftaPlanScratchBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kItemsAttrName) || kernel.isDeclaration())
      return;
    FailureOr<SmallVector<Buffer>> buffers = collectBuffers(kernel);
    if (failed(buffers))
      return signalPassFailure();
    // A kernel for GPUs may have tensor maps in place of scratch memory.
    if (!isa<MemRefType>(kernel.getArgumentTypes().back())) {
      kernel->setAttr(HftaDialect::kScratchBytesAttrName,
                      IntegerAttr::get(IntegerType::get(&getContext(), 64), 0));
      if (buffers->empty())
        return;
      kernel.emitOpError("needs scratch memory, and has no argument for it");
      return signalPassFailure();
    }
    int64_t bytes = placeBuffers(*buffers);
    replaceBuffers(kernel, *buffers, bytes);
  }
};
} // namespace
