//===- Panels.cpp - Operands packed to contiguous memory ------------------===//

#include "Emit/Panels.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::createPanel(OpBuilder &builder, OpOperand &operand,
                        ArrayRef<int64_t> shape) {
  Operation *op = operand.getOwner();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      &op->getParentOfType<func::FuncOp>().getBody().front());
  auto made = memref::AllocOp::create(
      builder, op->getLoc(),
      MemRefType::get(shape, getElementTypeOrSelf(operand.get().getType())));
  made->setAttr(kPanelAttrName, builder.getUnitAttr());
  return made;
}

void hfta::prefetchTerm(AxisLoops &loops, OpOperand &operand,
                        SmallVector<int64_t> offsets, unsigned terms,
                        int64_t ahead) {
  offsets[terms] += ahead;
  memref::PrefetchOp::create(
      loops.builder, loops.op.getLoc(), operand.get(),
      loops.getIndices(operand, offsets), /*isWrite=*/false,
      TargetModel::Prefetches::kFarCaches, /*isDataCache=*/true);
}

void hfta::emitPackedTerms(AxisLoops &loops, OpOperand &operand, unsigned terms,
                           int64_t elements,
                           llvm::function_ref<void(int64_t)> body) {
  int64_t bytes = elements * getStoredElementBytes(operand.get().getType());
  int64_t ahead =
      llvm::divideCeil(TargetModel::Prefetches::kPackedBytes, bytes);
  int64_t end = loops.sizes[terms], begin = std::max<int64_t>(end - ahead, 0);
  auto emit = [&](int64_t from, int64_t to, int64_t prefetched) {
    loops.emitCarrying(terms, from, to, 1, {}, [&](ValueRange) {
      body(prefetched);
      return SmallVector<Value>();
    });
  };
  emit(0, begin, ahead);
  emit(begin, end, 0);
}

/// Returns the terms for which a tile has space: an odd number, as tiles whose
/// distance is a power of two would fall into few sets of the first-level
/// cache.
static int64_t padTerms(int64_t terms) { return terms | 1; }

int64_t RowPanel::countElements() {
  unsigned axis = plan.rowAxes.front(), terms = plan.reductions.front();
  SmallVector<int64_t> ranges = loops.op.getStaticLoopRanges();
  int64_t rows = plan.rowBlock ? plan.rowBlock : ranges[axis];
  return llvm::alignTo(rows, plan.rows.front()) *
         padTerms(plan.getBlock(terms, ranges[terms]));
}

Value RowPanel::getIndex(int64_t row) {
  unsigned axis = plan.rowAxes.front(), terms = plan.reductions.front();
  return loops.getWeightedSum({axis, padTerms(loops.sizes[terms])},
                              {terms, plan.rows.front()}, row);
}

Value RowPanel::load(int64_t row) {
  return memref::LoadOp::create(loops.builder, loops.op.getLoc(), memory,
                                getIndex(row));
}

void RowPanel::packTerm(OpOperand &operand, int64_t ahead) {
  unsigned axis = plan.rowAxes.front(), terms = plan.reductions.front();
  Location loc = loops.op.getLoc();
  int64_t lineElements =
      target.getLineBytes() / getStoredElementBytes(operand.get().getType());
  loops.emitBlocks(axis, plan.rows.front(), [&](int64_t count) {
    SmallVector<int64_t> offsets(loops.sizes.size(), 0);
    int64_t nextLine = 0;
    for (int64_t lanes : splitIntoVectors(count, plan.lanes)) {
      if (ahead && offsets[axis] >= nextLine) {
        prefetchTerm(loops, operand, offsets, terms, ahead);
        nextLine += lineElements;
      }
      Value values = createLoad(loops.builder, loc, operand.get(),
                                loops.getIndices(operand, offsets), lanes);
      createStore(loops.builder, loc, values, memory, getIndex(offsets[axis]));
      offsets[axis] += lanes;
    }
  });
}

/// Packs one term after the other: all of a term's elements are on few pages,
/// while each term may be on a page of its own, which hardware doesn't
/// prefetch.
void RowPanel::pack() {
  OpOperand &operand = loops.op->getOpOperand(*plan.packedRows);
  unsigned terms = plan.reductions.front();
  if (!memory)
    memory = createPanel(loops.builder, operand, countElements());
  emitPackedTerms(loops, operand, terms, loops.sizes[plan.rowAxes.front()],
                  [&](int64_t ahead) { packTerm(operand, ahead); });
}
