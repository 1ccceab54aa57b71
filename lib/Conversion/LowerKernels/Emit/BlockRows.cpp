//===- BlockRows.cpp - Visit large tensors in blocks of rows --------------===//
//
// A row is what has one index along an axis of the kernel's tensors. A sum over
// rows (sums of columns) together with the ops before and after it that visit
// the same tensors row by row becomes one loop over blocks of rows. Each op
// computes the rows of a block, which are in the cache when the next one reads
// them. Sums wait in memory between blocks, and add their terms in the same
// order.
//===----------------------------------------------------------------------===//

#include "Distribute/TensorSlicer.h"
#include "Emit/SumMarks.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/RowPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTABLOCKROWS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

using Costs = TargetModel::RowBlocks;

/// Returns the outermost axis of terms; nothing if the op isn't a reduction
/// that adds one row after the other: lanes along a row's terms would be
/// combined once a block, which is another order of the sum.
static std::optional<unsigned> getAxisOfTerms(linalg::GenericOp op) {
  SmallVector<unsigned> axes;
  op.getReductionDims(axes);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  // A tensor without elements has no rows.
  llvm::erase_if(axes, [&](unsigned axis) { return sizes[axis] <= 1; });
  if (axes.empty() || planRows(op))
    return std::nullopt;
  return axes.front();
}

/// Returns the place of `axis` among an operand's indices; -1 if no index
/// depends on it. Fails if an index is anything else than the axis alone.
static FailureOr<int64_t> getPlace(AffineMap map, unsigned axis) {
  int64_t place = -1;
  for (auto [index, expression] : llvm::enumerate(map.getResults())) {
    if (!expression.isFunctionOfDim(axis))
      continue;
    if (!isa<AffineDimExpr>(expression) || place >= 0)
      return failure();
    place = static_cast<int64_t>(index);
  }
  return place;
}

namespace {

/// How the ops of a group use some memory.
struct Use {
  Value memory;
  int64_t place; ///< which of its axes runs along rows; -1 if none does
  bool isWritten;
};

/// Neighbouring ops that visit the same tensors row by row.
class RowGroup {
public:
  explicit RowGroup(const TargetModel &target) : target(target) {}

  /// Begins with a sum over rows. Fails if the op isn't one.
  LogicalResult begin(linalg::GenericOp op);
  /// Adds an op that reads or writes rows of the group's memory, behind or
  /// before all other ops of the group. Fails if it doesn't, or if it would
  /// need rows before they are computed.
  LogicalResult add(linalg::GenericOp op, bool isBehind);

  /// Chooses the rows of a block; 0 if blocks don't pay.
  int64_t chooseRows() const;
  /// Returns whether everything between the ops can be moved before them.
  bool isFree() const;
  void emit(RewriterBase &rewriter, int64_t block);

  Operation *getFirst() const { return members.front().op; }
  Operation *getLast() const { return members.back().op; }

private:
  struct Member {
    linalg::GenericOp op;
    unsigned axis;
  };

  bool contains(Operation *op) const {
    return llvm::any_of(members,
                        [&](const Member &member) { return member.op == op; });
  }
  std::optional<unsigned> findAxis(linalg::GenericOp op) const;
  bool canHave(linalg::GenericOp op, unsigned axis, SmallVector<Use> &added);
  LogicalResult addAlong(linalg::GenericOp op, unsigned axis, bool isBehind);
  int64_t countRowBytes() const;
  bool isWide() const;
  /// Replaces memory of which only the group's ops use rows by memory for one
  /// block.
  void shrinkMemory(RewriterBase &rewriter, int64_t block);
  void emitBlock(RewriterBase &rewriter, OpFoldResult begin, int64_t count);
  bool isOwn(Value memory) const;

  const TargetModel &target;
  int64_t rows = 0;
  SmallVector<Member> members;
  SmallVector<Use> uses;
  DenseMap<Value, Value> shrunk;
};

} // namespace

/// Finds an op's axis of rows by the memory that it shares with the group.
std::optional<unsigned> RowGroup::findAxis(linalg::GenericOp op) const {
  for (OpOperand &operand : op->getOpOperands())
    for (const Use &use : uses) {
      if (use.memory != operand.get() || use.place < 0)
        continue;
      AffineExpr index =
          op.getMatchingIndexingMap(&operand).getResult(use.place);
      if (auto axis = dyn_cast<AffineDimExpr>(index))
        return axis.getPosition();
    }
  return std::nullopt;
}

/// Returns whether an op can compute one row after the other, beside the ops of
/// the group. Collects its uses of memory.
bool RowGroup::canHave(linalg::GenericOp op, unsigned axis,
                       SmallVector<Use> &added) {
  if (multiplies(op) || (rows && op.getStaticLoopRanges()[axis] != rows) ||
      op.getBody()
          ->walk([](memref::LoadOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return false;
  bool adds =
      op.getIteratorTypesArray()[axis] == utils::IteratorType::reduction;
  if (adds && getAxisOfTerms(op) != axis)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    FailureOr<int64_t> place = getPlace(map, axis);
    if (failed(place))
      return false;
    Use use{operand.get(), *place, op.isDpsInit(&operand)};
    if (use.isWritten && (use.place < 0) != adds)
      return false;
    auto agrees = [&](const Use &other) {
      // A block takes one part of each memory, for all that read it.
      if (use.memory == other.memory && use.place != other.place)
        return false;
      if ((!use.isWritten && !other.isWritten) ||
          getRootMemory(use.memory) != getRootMemory(other.memory))
        return true;
      return use.memory == other.memory && use.place >= 0;
    };
    if (!llvm::all_of(uses, agrees) || !llvm::all_of(added, agrees))
      return false;
    added.push_back(use);
  }
  return true;
}

LogicalResult RowGroup::addAlong(linalg::GenericOp op, unsigned axis,
                                 bool isBehind) {
  SmallVector<Use> added;
  if (!canHave(op, axis, added))
    return failure();
  rows = op.getStaticLoopRanges()[axis];
  llvm::append_range(uses, added);
  members.insert(isBehind ? members.end() : members.begin(), {op, axis});
  return success();
}

LogicalResult RowGroup::begin(linalg::GenericOp op) {
  std::optional<unsigned> axis = getAxisOfTerms(op);
  if (!axis || op.getNumParallelLoops() == 0)
    return failure();
  return addAlong(op, *axis, /*isBehind=*/true);
}

LogicalResult RowGroup::add(linalg::GenericOp op, bool isBehind) {
  std::optional<unsigned> axis = findAxis(op);
  return axis ? addAlong(op, *axis, isBehind) : failure();
}

/// Returns the bytes of one row of everything that the ops read and write.
int64_t RowGroup::countRowBytes() const {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> counted;
  for (const Use &use : uses) {
    auto type = cast<MemRefType>(use.memory.getType());
    if (use.place >= 0 && counted.insert(use.memory).second)
      bytes += type.getNumElements() / rows * getStoredElementBytes(type);
  }
  return bytes;
}

/// Returns whether a row has more sums than registers hold: they would be
/// computed some columns at a time, each time with a part of every row.
bool RowGroup::isWide() const {
  linalg::GenericOp op = members.front().op;
  int64_t sums = 1;
  for (auto [size, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    sums *= kind == utils::IteratorType::parallel ? size : 1;
  int64_t bytes =
      sums * getStoredElementBytes(op.getDpsInits().front().getType());
  return bytes > target.getRegisters() * target.getVectorBytes();
}

int64_t RowGroup::chooseRows() const {
  int64_t cache = target.getCoreCache().getBytes(), bytes = countRowBytes();
  if (bytes == 0 || bytes * rows <= cache || bytes > cache / 2)
    return 0;
  int64_t block =
      std::clamp<int64_t>(cache / Costs::kCacheParts / bytes, 1, Costs::kMost);
  bool pays = members.size() > 1 || (isWide() && block >= Costs::kFewestAlone);
  return pays && block < rows ? block : 0;
}

bool RowGroup::isFree() const {
  for (Operation *op = getFirst(); op != getLast(); op = op->getNextNode()) {
    if (contains(op) || isa<memref::AllocOp, ViewLikeOpInterface>(op) ||
        isPure(op))
      continue;
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (!fill)
      return false;
    // An op before the fill must not use what is filled.
    Value root = getRootMemory(fill.getOutputs().front());
    for (const Member &member : members)
      if (member.op->isBeforeInBlock(fill) &&
          llvm::any_of(member.op->getOperands(), [&](Value operand) {
            return getRootMemory(operand) == root;
          }))
        return false;
  }
  return true;
}

bool RowGroup::isOwn(Value memory) const {
  return memory.getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(memory.getUsers(),
                      [&](Operation *user) { return contains(user); });
}

void RowGroup::shrinkMemory(RewriterBase &rewriter, int64_t block) {
  for (const Use &use : uses) {
    if (use.place < 0 || shrunk.contains(use.memory) || !isOwn(use.memory))
      continue;
    auto alloc = use.memory.getDefiningOp<memref::AllocOp>();
    MemRefType type = alloc.getType();
    SmallVector<int64_t> shape(type.getShape());
    shape[use.place] = block;
    shrunk[use.memory] = memref::AllocOp::create(
        rewriter, alloc.getLoc(), MemRefType::get(shape, type.getElementType()),
        alloc.getAlignmentAttr());
  }
}

/// Creates a view of `count` rows from `begin` on; axis `place` runs along
/// rows.
static Value createPart(RewriterBase &rewriter, Location loc, Value memory,
                        int64_t place, OpFoldResult begin, int64_t count) {
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), shape);
  SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
  offsets[place] = begin;
  sizes[place] = rewriter.getIndexAttr(count);
  return memref::SubViewOp::create(rewriter, loc, memory, offsets, sizes,
                                   strides);
}

/// Emits the group's ops for the rows from `begin` on.
void RowGroup::emitBlock(RewriterBase &rewriter, OpFoldResult begin,
                         int64_t count) {
  IRMapping parts;
  for (const Use &use : uses) {
    if (use.place < 0 || parts.contains(use.memory))
      continue;
    Value own = shrunk.lookup(use.memory);
    OpFoldResult first = own ? rewriter.getIndexAttr(0) : begin;
    parts.map(use.memory,
              createPart(rewriter, use.memory.getLoc(), own ? own : use.memory,
                         use.place, first, count));
  }
  Value firstRow =
      getValueOrCreateConstantIndexOp(rewriter, getFirst()->getLoc(), begin);
  for (const Member &member : members)
    shiftIndices(rewriter, rewriter.clone(*member.op, parts), member.axis,
                 firstRow);
}

void RowGroup::emit(RewriterBase &rewriter, int64_t block) {
  Operation *first = getFirst();
  Location loc = first->getLoc();
  SmallVector<Operation *> between;
  for (Operation *op = first; op != getLast(); op = op->getNextNode())
    if (!contains(op))
      between.push_back(op);
  for (Operation *op : between)
    rewriter.moveOpBefore(op, first);
  bool adds = false;
  for (const Member &member : members) {
    linalg::GenericOp op = member.op;
    if (op.getIteratorTypesArray()[member.axis] !=
        utils::IteratorType::reduction)
      continue;
    SmallVector<unsigned> axes;
    op.getReductionDims(axes);
    numberSum(op, getAddressOrder(op, axes, /*lanes=*/1, /*vectors=*/1));
    adds = true;
  }
  rewriter.setInsertionPoint(first);
  shrinkMemory(rewriter, block);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  int64_t rest = rows % block;
  auto loop = scf::ForOp::create(rewriter, loc, constant(0),
                                 constant(rows - rest), constant(block));
  if (adds)
    loop->setAttr(kTermLoopAttrName, rewriter.getUnitAttr());
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    emitBlock(rewriter, loop.getInductionVar(), block);
  }
  if (rest)
    emitBlock(rewriter, rewriter.getIndexAttr(rows - rest), rest);
  for (const Member &member : members)
    rewriter.eraseOp(member.op);
  for (auto [whole, part] : shrunk)
    rewriter.eraseOp(whole.getDefiningOp());
}

/// Returns the structured op before or behind `op`, other than fills.
static linalg::LinalgOp getNeighbour(Operation *op, bool isBehind) {
  auto step = [&] { return isBehind ? op->getNextNode() : op->getPrevNode(); };
  for (op = step(); op; op = step())
    if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op))
      return cast<linalg::LinalgOp>(op);
  return nullptr;
}

/// Forms a group around a sum over rows, and emits it if blocks pay. Returns
/// whether it did.
static bool blockRows(RewriterBase &rewriter, linalg::GenericOp op,
                      const TargetModel &target) {
  RowGroup group(target);
  if (failed(group.begin(op)))
    return false;
  for (bool isBehind : {false, true})
    for (Operation *end = op;;) {
      linalg::LinalgOp next = getNeighbour(end, isBehind);
      auto generic = dyn_cast_or_null<linalg::GenericOp>(
          next ? next.getOperation() : nullptr);
      if (!generic || failed(group.add(generic, isBehind)))
        break;
      end = generic;
    }
  int64_t block = group.chooseRows();
  if (!block || !group.isFree())
    return false;
  group.emit(rewriter, block);
  return true;
}

namespace {
struct BlockRowsPass : hfta::impl::HftaBlockRowsBase<BlockRowsPass> {
  using HftaBlockRowsBase::HftaBlockRowsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kItemsAttrName) || kernel.isDeclaration())
      return;
    IRRewriter rewriter(&getContext());
    TargetModel target = TargetModel::get(kernel);
    // Each group erases its ops, so that those that are left are found anew.
    auto blockNext = [&] {
      Block &body = kernel.getBody().front();
      return llvm::any_of(body.getOps<linalg::GenericOp>(),
                          [&](linalg::GenericOp op) {
                            return blockRows(rewriter, op, target);
                          });
    };
    while (blockNext())
      continue;
  }
};
} // namespace
