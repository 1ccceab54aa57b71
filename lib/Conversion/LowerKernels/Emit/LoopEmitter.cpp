//===- LoopEmitter.cpp - Loops over vectors for an op on memory -----------===//

#include "Emit/LoopEmitter.h"
#include "Emit/SumMarks.h"
#include "Emit/VectorBody.h"
#include "Emit/VectorTranspose.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

SmallVector<Value> LoopEmitter::getIndices(OpOperand &operand,
                                           const Piece &piece, int64_t lane) {
  SmallVector<int64_t> offsets(piece.offsets);
  if (plan.vectorAxis)
    offsets[*plan.vectorAxis] += lane;
  return loops.getIndices(operand, offsets);
}

/// Loads every `stride`-th element, beginning with the piece's first one. It
/// loads vectors of neighbours up to the last element that is needed, and
/// shuffles them together. Each vector begins with the last element of the one
/// before.
Value LoopEmitter::loadStrided(OpOperand &operand, const Piece &piece,
                               int64_t stride) {
  Location loc = op.getLoc();
  int64_t lanes = piece.lanes;
  Value memory = operand.get();
  auto type = VectorType::get(
      lanes, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<Value> first = getIndices(operand, piece);
  Value result;
  for (int64_t part = 0; part < stride; ++part) {
    int64_t begin = part * (lanes - 1);
    SmallVector<Value> indices(first);
    indices.back() = loops.addConstant(first.back(), begin);
    Value loaded = vector::LoadOp::create(builder, loc, type, memory, indices);
    if (part == 0) {
      result = loaded;
      continue;
    }
    // For each lane, the index of its element in the result so far followed by
    // this vector. Lanes whose elements are in later vectors don't matter yet.
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = lane * stride;
      int64_t owner = std::min(element / (lanes - 1), stride - 1);
      int64_t earlier = part == 1 ? element : lane;
      int64_t here = lanes + element - begin;
      mask.push_back(owner < part ? earlier : owner == part ? here : 0);
    }
    result = vector::ShuffleOp::create(builder, loc, result, loaded, mask);
  }
  return result;
}

/// Loads an element, or a vector if the operand's elements differ between
/// lanes.
Value LoopEmitter::load(OpOperand &operand, const Piece &piece) {
  Location loc = op.getLoc();
  Value memory = operand.get();
  if (!isa<MemRefType>(memory.getType()))
    return memory;
  Access access =
      piece.lanes == 1 ? Access() : getAccess(op, operand, plan.vectorAxis);
  if (rowPanel.holds(operand))
    return rowPanel.load(piece.offsets[plan.rowAxes.front()]);
  if (access.kind == Access::Uniform)
    return memref::LoadOp::create(builder, loc, memory,
                                  getIndices(operand, piece));
  if (isPacked(operand))
    return createLoad(builder, loc, panel, getPackedIndices(piece),
                      piece.lanes);
  if (access.isContiguous()) {
    SmallVector<Value> indices = getIndices(operand, piece);
    prefetcher.create(operand, indices, piece.offsets[*plan.vectorAxis]);
    return createLoad(builder, loc, memory, indices, piece.lanes);
  }
  if (access.isShuffled())
    return loadStrided(operand, piece, access.stride);
  SmallVector<Value> scalars;
  for (int64_t lane = 0; lane < piece.lanes; ++lane)
    scalars.push_back(memref::LoadOp::create(builder, loc, memory,
                                             getIndices(operand, piece, lane)));
  auto type = VectorType::get(
      piece.lanes, cast<MemRefType>(memory.getType()).getElementType());
  return vector::FromElementsOp::create(builder, loc, type, scalars);
}

/// Pieces that need the same elements have the same key, so that they share one
/// load.
std::pair<unsigned, SmallVector<int64_t>>
LoopEmitter::getKey(OpOperand &operand, const Piece &piece) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> place(piece.offsets);
  for (auto [axis, offset] : llvm::enumerate(place))
    if (!map.isFunctionOfDim(axis))
      offset = 0;
  bool byVector = plan.vectorAxis && map.isFunctionOfDim(*plan.vectorAxis);
  place.push_back(byVector ? piece.lanes : 1);
  return {operand.getOperandNumber(), place};
}

Value LoopEmitter::loadInput(OpOperand &operand, const Piece &piece,
                             Loads &loads) {
  Value &value = loads[getKey(operand, piece)];
  if (!value)
    value = load(operand, piece);
  return value;
}

/// Concatenates vectors of equal length; their number is a power of two.
static Value concatenate(OpBuilder &builder, Location loc,
                         SmallVector<Value> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    int64_t lanes = cast<VectorType>(parts.front().getType()).getNumElements();
    SmallVector<int64_t> mask =
        llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = vector::ShuffleOp::create(builder, loc, parts[2 * i],
                                           parts[2 * i + 1], mask);
  }
  return parts.front();
}

SmallVector<Value> LoopEmitter::loadSquare(OpOperand &operand,
                                           const Piece &piece,
                                           int64_t firstLane, int64_t side) {
  auto type = VectorType::get(
      side, cast<MemRefType>(operand.get().getType()).getElementType());
  SmallVector<Value> rows;
  for (int64_t lane = firstLane; lane < firstLane + side; ++lane)
    rows.push_back(vector::LoadOp::create(builder, op.getLoc(), type,
                                          operand.get(),
                                          getIndices(operand, piece, lane)));
  return transposeSquare(builder, op.getLoc(), rows);
}

void LoopEmitter::loadTransposed(OpOperand &operand, unsigned axis,
                                 int64_t size, const Piece &piece,
                                 Loads &loads) {
  // If fewer terms are left than a vector has lanes, a vector needs several
  // squares side by side.
  int64_t side = std::min(size, piece.lanes);
  if (side == 1)
    return;
  for (int64_t begin = 0; begin + side <= size; begin += side) {
    Piece part = piece;
    part.offsets[axis] = begin;
    if (loads.count(getKey(operand, part)))
      return;
    SmallVector<SmallVector<Value>> squares;
    for (int64_t lane = 0; lane < piece.lanes; lane += side)
      squares.push_back(loadSquare(operand, part, lane, side));
    for (int64_t column = 0; column < side; ++column) {
      SmallVector<Value> parts;
      for (ArrayRef<Value> square : squares)
        parts.push_back(square[column]);
      loads[getKey(operand, part)] =
          concatenate(builder, op.getLoc(), std::move(parts));
      ++part.offsets[axis];
    }
  }
}

void LoopEmitter::storeTo(OpOperand &operand, const Piece &piece, Value value) {
  Location loc = op.getLoc();
  Value memory = operand.get();
  if (streaming) {
    int64_t bytes =
        piece.lanes *
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8;
    vector::StoreOp::create(builder, loc, value, memory,
                            getIndices(operand, piece), /*nontemporal=*/true,
                            llvm::MaybeAlign(bytes));
    return;
  }
  if (mask) {
    vector::MaskedStoreOp::create(builder, loc, memory,
                                  getIndices(operand, piece), mask, value);
    return;
  }
  if (piece.lanes == 1 ||
      getAccess(op, operand, plan.vectorAxis).isContiguous())
    return createStore(builder, loc, value, memory, getIndices(operand, piece));
  for (int64_t lane = 0; lane < piece.lanes; ++lane)
    memref::StoreOp::create(
        builder, loc, vector::ExtractOp::create(builder, loc, value, lane),
        memory, getIndices(operand, piece, lane));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SmallVector<LoopEmitter::Piece>
LoopEmitter::getPieces(ArrayRef<VectorPart> parts) const {
  SmallVector<Piece> pieces;
  SmallVector<int64_t> origin(loops.sizes.size(), 0);
  for (VectorPart part : parts) {
    pieces.push_back({origin, part.lanes});
    if (plan.vectorAxis)
      pieces.back().offsets[*plan.vectorAxis] = part.offset;
  }
  for (unsigned place : llvm::reverse(plan.rowOrder)) {
    size_t one = pieces.size();
    for (int64_t row = 1; row < rows[place]; ++row) {
      for (size_t i = 0; i < one; ++i) {
        Piece piece = pieces[i];
        piece.offsets[plan.rowAxes[place]] = row;
        pieces.push_back(piece);
      }
    }
  }
  return pieces;
}

SmallVector<Value> LoopEmitter::loadInitial(ArrayRef<Piece> pieces) {
  SmallVector<Value> values;
  for (const Piece &piece : pieces) {
    VectorBody body(builder, op, plan.vectorAxis, piece.lanes);
    for (auto [index, output] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value value = initial[index];
      if (!value && op.payloadUsesValueFromOperand(&output)) {
        value = load(output, piece);
        markStart(op, value);
      }
      if (value)
        value = body.broadcast(op.getLoc(), value);
      values.push_back(value);
    }
  }
  return values;
}

Value LoopEmitter::addZero(Value sum) {
  if (!plan.addsZero)
    return sum;
  Value zero = arith::ConstantOp::create(builder, op.getLoc(),
                                         builder.getZeroAttr(sum.getType()));
  return arith::AddFOp::create(builder, op.getLoc(), sum, zero);
}

void LoopEmitter::storeEpilogue(const Piece &piece, Value sum) {
  SmallVector<Value> arguments;
  OpOperand *target = nullptr;
  for (auto [operand, place] :
       llvm::zip(epilogue->op->getOpOperands(), epilogue->places)) {
    OpOperand *source = place ? &op->getOpOperand(*place) : nullptr;
    if (epilogue->op.isDpsInit(&operand)) {
      target = source;
      arguments.emplace_back();
    } else {
      arguments.push_back(source ? load(*source, piece) : sum);
    }
  }
  VectorBody body(builder, epilogue->op, plan.vectorAxis, piece.lanes);
  storeTo(*target, piece, body.clone(arguments, {}).front());
}

void LoopEmitter::store(ArrayRef<Piece> pieces, ValueRange results) {
  for (const Piece &piece : pieces) {
    if (epilogue) {
      storeEpilogue(piece, results.front());
      results = results.drop_front();
      continue;
    }
    for (OpOperand &output : op.getDpsInitsMutable()) {
      storeTo(output, piece, addZero(results.front()));
      results = results.drop_front();
    }
  }
}

SmallVector<Value> LoopEmitter::emitBody(ArrayRef<Piece> pieces,
                                         ValueRange running, Loads &loads) {
  SmallVector<Value> results;
  for (const Piece &piece : pieces) {
    SmallVector<Value> arguments;
    for (OpOperand *input : op.getDpsInputOperands())
      arguments.push_back(op.payloadUsesValueFromOperand(input)
                              ? loadInput(*input, piece, loads)
                              : Value());
    llvm::append_range(arguments, running.take_front(op.getNumDpsInits()));
    running = running.drop_front(op.getNumDpsInits());
    VectorBody body(builder, op, plan.vectorAxis, piece.lanes);
    llvm::append_range(results,
                       body.clone(arguments, loops.getPosition(piece.offsets)));
  }
  return results;
}

SmallVector<Value> LoopEmitter::emitTransposedBlock(unsigned axis, int64_t size,
                                                    ArrayRef<Piece> pieces,
                                                    ValueRange running) {
  Loads loads;
  for (const Piece &piece : pieces)
    for (OpOperand *input : op.getDpsInputOperands())
      if (piece.lanes > 1 && !isPacked(*input) &&
          getAccess(op, *input, plan.vectorAxis).kind == Access::Transposed)
        loadTransposed(*input, axis, size, piece, loads);
  SmallVector<Value> sums(running);
  SmallVector<Piece> term(pieces);
  for (int64_t offset = 0; offset < size; ++offset) {
    for (Piece &piece : term)
      piece.offsets[axis] = offset;
    sums = emitBody(term, sums, loads);
  }
  return sums;
}

SmallVector<Value> LoopEmitter::emitInSquares(
    unsigned axis, ValueRange running,
    llvm::function_ref<SmallVector<Value>(int64_t, ValueRange)> body) {
  int64_t size = loops.sizes[axis], begin = 0;
  SmallVector<Value> values(running);
  for (int64_t block = plan.lanes; begin < size; block /= 2) {
    int64_t end = size - (size - begin) % block;
    values = loops.emitCarrying(
        axis, begin, end, block, values,
        [&](ValueRange inner) { return body(block, inner); });
    begin = end;
  }
  return values;
}

SmallVector<Value> LoopEmitter::emitTransposed(unsigned axis,
                                               ArrayRef<Piece> pieces,
                                               ValueRange running) {
  return emitInSquares(axis, running, [&](int64_t terms, ValueRange sums) {
    return emitTransposedBlock(axis, terms, pieces, sums);
  });
}

SmallVector<Value> LoopEmitter::emitReductions(size_t next,
                                               ArrayRef<Piece> pieces,
                                               ValueRange running) {
  if (next == plan.reductions.size()) {
    Loads loads;
    return emitBody(pieces, running, loads);
  }
  unsigned axis = plan.reductions[next];
  if (next + 1 == plan.reductions.size() &&
      transposes(op, plan.vectorAxis, panel ? plan.packed : std::nullopt))
    return emitTransposed(axis, pieces, running);
  if (plan.unrolls) {
    SmallVector<Value> values(running);
    for (int64_t term = 0; term < loops.sizes[axis]; ++term) {
      loops.moveTo(axis, term);
      values = emitReductions(next + 1, pieces, values);
    }
    return values;
  }
  return loops.emitCarrying(axis, 0, loops.sizes[axis], 1, running,
                            [&](ValueRange inner) {
                              return emitReductions(next + 1, pieces, inner);
                            });
}

void LoopEmitter::emitTile(ArrayRef<VectorPart> parts) {
  SmallVector<Piece> pieces = getPieces(parts);
  SmallVector<Value> running = loadInitial(pieces);
  store(pieces, emitReductions(0, pieces, running));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LoopEmitter::emitRows(size_t next, ArrayRef<VectorPart> parts) {
  if (next == plan.rowAxes.size())
    return emitTile(parts);
  loops.emitBlocks(plan.rowAxes[next], plan.rows[next], [&](int64_t count) {
    rows[next] = count;
    emitRows(next + 1, parts);
  });
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

SmallVector<Value> LoopEmitter::getPackedIndices(const Piece &piece) {
  SmallVector<Value> indices;
  for (unsigned axis : plan.reductions)
    indices.push_back(loops.getDistance(axis, piece.offsets[axis]));
  indices.push_back(arith::ConstantIndexOp::create(
      builder, op.getLoc(), piece.offsets[*plan.vectorAxis]));
  return indices;
}

void LoopEmitter::emitPackingLoops(size_t next, OpOperand &operand,
                                   ArrayRef<Piece> pieces) {
  if (next == plan.reductions.size()) {
    Loads loads;
    return storePacked(operand, pieces, loads);
  }
  unsigned axis = plan.reductions[next];
  if (next + 1 == plan.reductions.size() &&
      getAccess(op, operand, plan.vectorAxis).kind == Access::Transposed)
    return packTransposed(axis, operand, pieces);
  if (next + 1 == plan.reductions.size())
    return packRows(axis, operand, pieces);
  loops.emitCarrying(axis, 0, loops.sizes[axis], 1, {}, [&](ValueRange) {
    emitPackingLoops(next + 1, operand, pieces);
    return SmallVector<Value>();
  });
}

/// Packs one term after the other, along an axis whose elements aren't
/// neighbours.
void LoopEmitter::packRows(unsigned axis, OpOperand &operand,
                           ArrayRef<Piece> pieces) {
  int64_t elements = 0;
  for (const Piece &piece : pieces)
    elements += piece.lanes;
  int64_t lineElements =
      target.getLineBytes() / getStoredElementBytes(operand.get().getType());
  emitPackedTerms(loops, operand, axis, elements, [&](int64_t ahead) {
    int64_t nextLine = 0;
    for (const Piece &piece : pieces) {
      int64_t place = piece.offsets[*plan.vectorAxis];
      if (ahead && place >= nextLine) {
        prefetchTerm(loops, operand, piece.offsets, axis, ahead);
        nextLine = place + lineElements;
      }
    }
    Loads loads;
    storePacked(operand, pieces, loads);
  });
}

void LoopEmitter::storePacked(OpOperand &operand, ArrayRef<Piece> pieces,
                              Loads &loads) {
  for (const Piece &piece : pieces) {
    Value memory = std::exchange(panel, Value());
    Value values = loadInput(operand, piece, loads);
    panel = memory;
    createStore(builder, op.getLoc(), values, panel, getPackedIndices(piece));
  }
}

/// Packs one vector of the panel after the other: rows whose distance is a
/// power of two fall into the same set of the first-level cache, which has
/// space for few of them.
void LoopEmitter::packTransposed(unsigned axis, OpOperand &operand,
                                 ArrayRef<Piece> pieces) {
  for (const Piece &piece : pieces)
    emitInSquares(axis, {}, [&](int64_t terms, ValueRange) {
      Loads loads;
      if (piece.lanes > 1)
        loadTransposed(operand, axis, terms, piece, loads);
      SmallVector<Piece> column(terms, piece);
      for (auto [term, part] : llvm::enumerate(column))
        part.offsets[axis] = static_cast<int64_t>(term);
      storePacked(operand, column, loads);
      return SmallVector<Value>();
    });
}

void LoopEmitter::emitPacking(ArrayRef<VectorPart> parts) {
  OpOperand &operand = op->getOpOperand(*plan.packed);
  if (!panel) {
    SmallVector<int64_t> shape;
    for (unsigned axis : plan.reductions)
      shape.push_back(plan.getBlock(axis, op.getStaticLoopRanges()[axis]));
    shape.push_back(std::min(plan.vectors * plan.lanes,
                             op.getStaticLoopRanges()[*plan.vectorAxis]));
    panel = createPanel(builder, operand, shape);
  }
  SmallVector<Piece> pieces;
  for (VectorPart part : parts) {
    pieces.push_back({SmallVector<int64_t>(loops.sizes.size(), 0), part.lanes});
    pieces.back().offsets[*plan.vectorAxis] = part.offset;
  }
  emitPackingLoops(0, operand, pieces);
}

Value LoopEmitter::createLead() {
  Location loc = op.getLoc();
  OpOperand &output = *op.getDpsInitOperand(0);
  loops.moveTo(*plan.vectorAxis, 0);
  SmallVector<Value> indices =
      loops.getIndices(output, SmallVector<int64_t>(loops.sizes.size(), 0));
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, output.get());
  // The memory of arguments begins on a cache line, so only the index counts.
  Value place = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(indices, metadata.getStrides()))
    place = arith::AddIOp::create(
        builder, loc, place,
        arith::MulIOp::create(builder, loc, index, stride));
  Value lanes = arith::ConstantIndexOp::create(builder, loc, plan.lanes);
  Value past = arith::RemUIOp::create(builder, loc, place, lanes);
  Value left = arith::SubIOp::create(builder, loc, lanes, past);
  return arith::RemUIOp::create(builder, loc, left, lanes);
}

/// Emits one vector, and stores only those lanes whose index compares with
/// `bound` as `predicate` says.
void LoopEmitter::emitMasked(arith::CmpIPredicate predicate, Value bound) {
  Location loc = op.getLoc();
  SmallVector<int64_t> numbers =
      llvm::to_vector(llvm::seq<int64_t>(0, plan.lanes));
  Value lanes = arith::ConstantOp::create(builder, loc,
                                          builder.getIndexVectorAttr(numbers));
  Value bounds =
      vector::BroadcastOp::create(builder, loc, lanes.getType(), bound);
  mask = arith::CmpIOp::create(builder, loc, predicate, lanes, bounds);
  emitRows(0, VectorPart{0, plan.lanes});
  mask = Value();
}

/// Emits aligned vectors, which are stored past the caches, and the first and
/// last vector of the axis, of which only those lanes are stored that no
/// aligned vector contains: a cache line that has been written would first have
/// to leave the cache before it could be written past it.
void LoopEmitter::emitStream() {
  unsigned axis = *plan.vectorAxis;
  int64_t block = plan.vectors * plan.lanes, size = loops.sizes[axis];
  Location loc = op.getLoc();
  Value lead = createLead();
  emitMasked(arith::CmpIPredicate::ult, lead);
  SmallVector<VectorPart> parts = plan.getParts(block, block);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value inside = arith::SubIOp::create(builder, loc, constant(size), lead);
  auto getRest = [&](int64_t length) -> Value {
    return arith::RemUIOp::create(builder, loc, inside, constant(length));
  };
  streaming = true;
  loops.emitLoopFrom(axis, lead, size - block + 1, block,
                     [&] { emitRows(0, parts); });
  // Emits single vectors where a whole block would go beyond the end of the
  // axis.
  Value begin =
      arith::SubIOp::create(builder, loc, constant(size), getRest(block));
  loops.emitLoopFrom(axis, begin, size - plan.lanes + 1, plan.lanes,
                     [&] { emitRows(0, VectorPart{0, plan.lanes}); });
  streaming = false;
  loops.moveTo(axis, size - plan.lanes);
  Value stored = arith::SubIOp::create(builder, loc, constant(plan.lanes),
                                       getRest(plan.lanes));
  emitMasked(arith::CmpIPredicate::uge, stored);
}

void LoopEmitter::emitColumns() {
  if (plan.packedRows)
    rowPanel.pack();
  if (!plan.vectorAxis)
    return emitRows(0, VectorPart{0, 1});
  if (plan.streams && !plan.aligned)
    return emitStream();
  streaming = plan.streams;
  unsigned axis = *plan.vectorAxis;
  loops.emitBlocks(axis, plan.vectors * plan.lanes, [&](int64_t size) {
    SmallVector<VectorPart> parts = plan.getParts(size, loops.sizes[axis]);
    // A vector that begins before the block isn't in the block's panel.
    bool packs =
        plan.packed && parts.back().offset >= 0 && parts.front().offset >= 0;
    Value whole = panel;
    if (packs)
      emitPacking(parts);
    else
      panel = Value();
    emitRows(0, parts);
    panel = panel ? panel : whole;
  });
}

void LoopEmitter::emitOuter(size_t next) {
  if (next == plan.outer.size())
    return emitColumns();
  unsigned axis = plan.outer[next];
  loops.emitLoop(axis, 0, loops.sizes[axis], 1, [&] { emitOuter(next + 1); });
}

void LoopEmitter::emitBlocks(size_t next) {
  if (next == plan.blocks.size())
    return emitOuter(0);
  loops.emitWithin(plan.blocks[next].axis, plan.blocks[next].size,
                   [&] { emitBlocks(next + 1); });
}

void LoopEmitter::emit() {
  if (llvm::is_contained(loops.sizes, 0))
    return;
  rows = plan.rows;
  if (!plan.rowBlock)
    return emitBlocks(0);
  loops.emitWithin(plan.rowAxes.front(), plan.rowBlock, [&] { emitBlocks(0); });
}
