//===- LoopPlan.cpp - The loop nest of an op on memory --------------------===//

#include "Plan/LoopPlan.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/PackingPlan.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

using Costs = TargetModel::Loops;

SmallVector<int64_t> hfta::splitIntoVectors(int64_t size, int64_t lanes) {
  SmallVector<int64_t> widths(size / lanes, lanes);
  int64_t rest = size % lanes;
  for (int64_t width = llvm::bit_floor(static_cast<uint64_t>(rest)); width > 0;
       width /= 2)
    if (rest & width)
      widths.push_back(width);
  return widths;
}

SmallVector<VectorPart> LoopPlan::getParts(int64_t size, int64_t extent) const {
  SmallVector<VectorPart> parts;
  int64_t offset = 0, rest = size % lanes;
  for (; offset + lanes <= size; offset += lanes)
    parts.push_back({offset, lanes});
  int64_t wide = llvm::bit_ceil(static_cast<uint64_t>(rest));
  if (!overlaps || wide == rest || rest == 0) {
    for (int64_t width : splitIntoVectors(rest, lanes)) {
      parts.push_back({offset, width});
      offset += width;
    }
    return parts;
  }
  // The elements after the last full vector are covered by one vector that
  // overlaps the elements before them or, if the axis is shorter than that
  // vector, by two shorter vectors that overlap each other.
  if (wide > extent) {
    wide /= 2;
    parts.push_back({offset, wide});
  }
  parts.push_back({size - wide, wide});
  return parts;
}

int64_t hfta::getBlock(ArrayRef<TermBlock> blocks, unsigned axis,
                       int64_t size) {
  for (const TermBlock &block : blocks)
    if (block.axis == axis)
      return block.size;
  return size;
}

int64_t LoopPlan::getBlock(unsigned axis, int64_t size) const {
  return hfta::getBlock(blocks, axis, size);
}

Value hfta::getRootMemory(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Returns the estimated cycles of reading a vector of `lanes` elements.
static double getReadCost(Access access, int64_t lanes) {
  if (access.kind == Access::Uniform || access.isContiguous())
    return Costs::kAccessCost;
  if (access.isShuffled())
    return 2 * Costs::kAccessCost * static_cast<double>(access.stride);
  if (access.kind == Access::Transposed)
    return Costs::kAccessCost *
           static_cast<double>(1 + llvm::Log2_64_Ceil(lanes));
  return Costs::kLaneCost * static_cast<double>(lanes);
}

/// Returns whether an operand's rows are far apart and take more bytes than
/// near caches hold, so that accesses are slow.
static bool isFar(OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  return getRowBytes(type) >= Costs::kFarRowBytes &&
         type.getNumElements() * getStoredElementBytes(type) >
             Costs::kNearBytes;
}

/// Returns whether elements can be computed twice: nothing that the op reads is
/// written by it.
static bool canComputeTwice(linalg::GenericOp op, ArrayRef<Value> initial) {
  SmallVector<Value> reads(op.getDpsInputs());
  op.getBody()->walk(
      [&](memref::LoadOp load) { reads.push_back(load.getMemRef()); });
  for (auto [index, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!initial[index] && op.payloadUsesValueFromOperand(&output))
      return false;
    Value root = getRootMemory(output.get());
    if (llvm::any_of(reads,
                     [&](Value read) { return getRootMemory(read) == root; }))
      return false;
  }
  return true;
}

namespace {

/// Chooses the fastest loop nest of an op by a cost model. Costs are in cycles.
class LoopPlanner {
public:
  LoopPlanner(linalg::GenericOp op, ArrayRef<Value> initial,
              const TargetModel &target, std::optional<unsigned> wanted)
      : op(op), target(target), wanted(wanted), sizes(op.getStaticLoopRanges()),
        kinds(op.getIteratorTypesArray()) {
    // A vector that begins before its block wouldn't be in the block's panel.
    result.overlaps = !wanted && canComputeTwice(op, initial);
  }

  LoopPlan plan();

private:
  void measureBody();
  Access getAccess(OpOperand &operand, std::optional<unsigned> axis) const {
    return hfta::getAccess(op, operand, axis, wanted);
  }
  double getElementCost(std::optional<unsigned> axis);
  void chooseVectorAxis();
  void chooseElementwiseVectors();
  bool canStream();

  /// The elements of an input that the rows of a tile read along one of its
  /// axes, and along a short innermost loop: windows, which may overlap.
  struct Windows {
    int64_t rowStep, tapStep; ///< the distances of rows and of taps; coprime
    int64_t taps;             ///< the length of a window; 1 if there are none

    bool overlap(int64_t rows) const {
      return rows > tapStep && taps > rowStep;
    }
    /// Returns how many elements are read for each tap. LLVM unrolls loops over
    /// windows that overlap, and keeps in registers what they share.
    double countReads(int64_t rows) const {
      int64_t shared = overlap(rows) ? (rows - tapStep) * (taps - rowStep) : 0;
      return static_cast<double>(rows * taps - shared) /
             static_cast<double>(taps);
    }
  };
  /// An input, as a tile of several rows and vectors reads it.
  struct Input {
    SmallVector<bool>
        variesAlong; ///< for each row axis, whether the input varies along it
    bool isVector;
    double cost;                  ///< the cost of reading it once
    SmallVector<Windows> windows; ///< for each row axis
    /// For each row axis, the most rows of which a tile should read numbers.
    SmallVector<int64_t> most;
  };
  int64_t countRowsInCache(OpOperand &operand, unsigned axis);
  Windows getWindows(OpOperand &operand, unsigned row);
  bool sharesWindows(ArrayRef<int64_t> tile) const;
  bool readsOnce() const;
  void chooseTile();
  /// Tries all numbers of rows for the row axes from `next` on. `totalRows` is
  /// the product of those chosen so far.
  void searchRows(size_t next, int64_t totalRows);
  int64_t countRegisters() const;
  SmallVector<unsigned> getOrder(const Input &fast) const;
  void collectOrders();
  int64_t countHeld(ArrayRef<unsigned> order) const;
  ArrayRef<unsigned> getBestOrder() const;
  bool isSeparate(ArrayRef<int64_t> tile) const;
  double getTilesCost(size_t next, SmallVector<int64_t> &tile,
                      double count) const;
  double getTileCost(ArrayRef<int64_t> tile, int64_t tileVectors) const;

  bool isParallel(unsigned axis) const {
    return kinds[axis] == utils::IteratorType::parallel;
  }
  int64_t countVectors(unsigned axis) const;
  int64_t countVectors() const {
    return result.vectorAxis ? countVectors(*result.vectorAxis) : 1;
  }

  linalg::GenericOp op;
  const TargetModel &target;
  std::optional<unsigned> wanted; ///< the input that has to be packed
  SmallVector<int64_t> sizes;
  SmallVector<utils::IteratorType> kinds;
  LoopPlan result;
  int64_t lanes = 1, bodyOps = 0;
  double bodyCost = 0;

  SmallVector<unsigned> candidates;
  SmallVector<Input> inputs;
  /// The orders in which a tile may run through its row axes.
  SmallVector<SmallVector<unsigned>> orders;
  int64_t outputs = 1, registerLimit = 0;
  int64_t maxRows = Costs::kMaxRows;
  SmallVector<int64_t> rows, bestRows;
  int64_t vectors = 1;
  double bestCost = 0;
};

} // namespace

void LoopPlanner::measureBody() {
  int64_t bytes = 1;
  for (OpOperand &operand : op->getOpOperands())
    if (!isOfEpilogue(op, operand))
      bytes = std::max(bytes, getStoredElementBytes(operand.get().getType()));
  for (Operation &inner : op.getBody()->without_terminator()) {
    bool isFunction =
        isa<math::MathDialect>(inner.getDialect()) &&
        !isa<math::FmaOp, math::AbsFOp, math::FloorOp, math::CeilOp>(inner);
    bodyCost += isFunction ? Costs::kFunctionCost : target.getOperationCost();
    ++bodyOps;
  }
  lanes = std::max<int64_t>(1, target.getVectorBytes() / bytes);
}

/// Returns the estimated cycles per element if vectors run along an axis, or if
/// elements are computed one by one without an axis.
double LoopPlanner::getElementCost(std::optional<unsigned> axis) {
  double vectorsPerElement = 1;
  if (axis)
    vectorsPerElement = static_cast<double>(countVectors(*axis)) /
                        static_cast<double>(sizes[*axis]);
  double cost = bodyCost * vectorsPerElement;
  double terms = 1;
  for (auto [size, kind] : llvm::zip(sizes, kinds))
    if (kind != utils::IteratorType::parallel)
      terms *= static_cast<double>(size);
  for (OpOperand &operand : op->getOpOperands()) {
    if (isOfEpilogue(op, operand))
      continue;
    Access access = getAccess(operand, axis);
    if (!op.isDpsInit(&operand))
      cost += getReadCost(access, axis ? lanes : 1) * vectorsPerElement;
    else
      cost += (access.kind == Access::Uniform || access.isContiguous()
                   ? Costs::kAccessCost * vectorsPerElement
                   : Costs::kLaneCost) /
              terms;
  }
  return cost;
}

void LoopPlanner::chooseVectorAxis() {
  double best = getElementCost(std::nullopt);
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (!isParallel(axis) || sizes[axis] == 1 || lanes == 1)
      continue;
    double cost = getElementCost(axis);
    if (cost >= best)
      continue;
    best = cost;
    result.vectorAxis = axis;
    result.lanes = lanes;
  }
}

void LoopPlanner::chooseElementwiseVectors() {
  if (!result.vectorAxis || bodyOps > Costs::kSmallBody)
    return;
  result.vectors =
      std::max<int64_t>(1, std::min(Costs::kElementwiseVectors,
                                    sizes[*result.vectorAxis] / lanes));
}

/// Returns whether rows of a memory are known to begin at multiples of `lanes`
/// elements. Looks through views to the argument.
static bool hasAlignedRows(Value memory, int64_t lanes) {
  if (isa<BlockArgument>(memory))
    return cast<MemRefType>(memory.getType()).getShape().back() % lanes == 0;
  if (auto view = memory.getDefiningOp<memref::CollapseShapeOp>())
    return hasAlignedRows(view.getSrc(), lanes);
  auto view = memory.getDefiningOp<memref::SubViewOp>();
  if (!view || !view.hasUnitStride() || view.getDroppedDims().any())
    return false;
  int64_t offset = view.getStaticOffsets().back();
  return !ShapedType::isDynamic(offset) && offset % lanes == 0 &&
         hasAlignedRows(view.getSource(), lanes);
}

/// Returns whether `memory`, or a view of it, is used behind `op`. Ops behind
/// it may have been lowered to loops.
static bool isUsedBehind(linalg::GenericOp op, Value memory) {
  return llvm::any_of(memory.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1 &&
        isUsedBehind(op, user->getResult(0)))
      return true;
    Operation *place = op->getBlock()->findAncestorOpInBlock(*user);
    return place && op->isBeforeInBlock(place) &&
           !isa<ViewLikeOpInterface>(user);
  });
}

/// Returns whether an op behind `op` reads its result while this is in the
/// cache.
static bool isReadFromCache(linalg::GenericOp op, Value result,
                            const TargetModel &target) {
  auto type = cast<MemRefType>(result.getType());
  return type.getNumElements() * getStoredElementBytes(type) <=
             target.getCoreCache().getBytes() &&
         isUsedBehind(op, result);
}

bool LoopPlanner::canStream() {
  if (!result.vectorAxis || !result.overlaps || op.getNumDpsInits() != 1)
    return false;
  OpOperand &output = *op.getDpsInitOperand(0);
  if (isReadFromCache(op, output.get(), target))
    return false;
  auto root = dyn_cast<BlockArgument>(getRootMemory(output.get()));
  if (!root || !getAccess(output, result.vectorAxis).isContiguous())
    return false;
  auto type = cast<MemRefType>(root.getType());
  int64_t bytes = getStoredElementBytes(type), size = sizes[*result.vectorAxis];
  if (lanes * bytes != target.getVectorBytes() ||
      type.getNumElements() * bytes < target.getStreamBytes())
    return false;
  // Uses narrower vectors if only these are aligned in all rows.
  for (int64_t width = lanes; width * bytes >= Costs::kMinStreamBytes;
       width /= 2) {
    if (type.getRank() == 0 || size % width != 0 ||
        !hasAlignedRows(output.get(), width))
      continue;
    result.lanes = width;
    result.aligned = true;
    return true;
  }
  // Stores to a row's cache lines before and after the aligned vectors would
  // delay later passes over the data.
  bool hasPasses = llvm::any_of(op.getDpsInputs(), [](Value input) {
    return isa<MemRefType>(input.getType()) &&
           !isa<BlockArgument>(getRootMemory(input));
  });
  return !hasPasses && size >= Costs::kMinStreamBlocks * result.vectors * lanes;
}

//===----------------------------------------------------------------------===//
// Tiles of sums
//===----------------------------------------------------------------------===//

int64_t LoopPlanner::countVectors(unsigned axis) const {
  LoopPlan plan = result;
  plan.lanes = lanes;
  // Counts the leading full vectors without listing them, as the list could be
  // huge.
  int64_t size = sizes[axis];
  int64_t front = std::max<int64_t>(size / lanes - 1, 0);
  int64_t rest = size - front * lanes;
  return front + static_cast<int64_t>(plan.getParts(rest, rest).size());
}

/// Returns the number of registers that a tile needs: for sums, and for the
/// loaded values that are live while terms are added to one row after the
/// other.
int64_t LoopPlanner::countRegisters() const {
  int64_t sums = vectors * outputs;
  for (int64_t count : rows)
    sums *= count;
  return sums + countHeld(getBestOrder());
}

/// Returns the order in which a tile runs through its row axes, the slowest
/// first, if the values of input `fast` change fastest. Axes along which all
/// inputs vary come first.
SmallVector<unsigned> LoopPlanner::getOrder(const Input &fast) const {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, candidates.size()));
  auto getRank = [&](unsigned place) {
    bool all = llvm::all_of(
        inputs, [&](const Input &input) { return input.variesAlong[place]; });
    return all ? 0 : fast.variesAlong[place] ? 2 : 1;
  };
  llvm::sort(order, [&](unsigned one, unsigned other) {
    return std::make_pair(getRank(one), one) <
           std::make_pair(getRank(other), other);
  });
  return order;
}

/// Sets `orders` to those of all inputs. They don't depend on the numbers of
/// rows, for which they are compared many times.
void LoopPlanner::collectOrders() {
  for (const Input &input : inputs)
    if (SmallVector<unsigned> order = getOrder(input);
        !llvm::is_contained(orders, order))
      orders.push_back(std::move(order));
  // A sum of what the op computes from indices has no inputs.
  if (orders.empty())
    orders.push_back(
        llvm::to_vector(llvm::seq<unsigned>(0, candidates.size())));
}

/// Returns the number of loaded values that later rows of the tile still need.
int64_t LoopPlanner::countHeld(ArrayRef<unsigned> order) const {
  int64_t held = 0;
  for (const Input &input : inputs) {
    int64_t live = 1;
    bool isReused = false;
    for (unsigned place : order) {
      if (rows[place] == 1)
        continue;
      isReused |= !input.variesAlong[place];
      if (isReused && input.variesAlong[place])
        live *= rows[place];
    }
    held += isReused && input.isVector ? live * vectors : live;
  }
  return held;
}

/// Returns the order in which the fewest loaded values are live at a time.
ArrayRef<unsigned> LoopPlanner::getBestOrder() const {
  return *llvm::min_element(orders, [&](const auto &one, const auto &other) {
    return countHeld(one) < countHeld(other);
  });
}

/// Returns whether a tile computes products of several independent matrices at
/// a time.
bool LoopPlanner::isSeparate(ArrayRef<int64_t> tile) const {
  for (auto [index, count] : llvm::enumerate(tile))
    if (count > 1 && inputs.size() > 1 &&
        llvm::all_of(inputs, [place = index](const Input &input) {
          return input.variesAlong[place];
        }))
      return true;
  return false;
}

/// Returns the cycles in which a tile adds one term to all of its sums.
double LoopPlanner::getTileCost(ArrayRef<int64_t> tile,
                                int64_t tileVectors) const {
  double sums = static_cast<double>(tileVectors);
  for (int64_t count : tile)
    sums *= static_cast<double>(count);
  double access = 0;
  for (const Input &input : inputs) {
    double reads =
        input.cost * (input.isVector ? static_cast<double>(tileVectors) : 1);
    for (auto [count, varies, windows] :
         llvm::zip(tile, input.variesAlong, input.windows))
      reads *= varies ? windows.countReads(count) : 1;
    access += reads;
  }
  if (isSeparate(tile))
    access *= Costs::kSeparateReads;
  return std::max({sums * bodyCost, access, Costs::kSumLatency}) +
         Costs::kStepCost + Costs::kVisibleReads * access;
}

/// Returns the cycles in which all tiles add one term: full blocks of each row
/// axis and the rest, from row axis `next` on. `count` is the number of tiles
/// so far.
double LoopPlanner::getTilesCost(size_t next, SmallVector<int64_t> &tile,
                                 double count) const {
  if (next == candidates.size()) {
    int64_t total = countVectors(), rest = total % vectors;
    double cost =
        static_cast<double>(total / vectors) * getTileCost(tile, vectors);
    if (rest)
      cost += getTileCost(tile, rest);
    return cost * count;
  }
  int64_t size = sizes[candidates[next]], rest = size % rows[next];
  tile[next] = rows[next];
  double cost = getTilesCost(next + 1, tile,
                             count * static_cast<double>(size / rows[next]));
  if (rest) {
    tile[next] = rest;
    cost += getTilesCost(next + 1, tile, count);
  }
  return cost;
}

void LoopPlanner::searchRows(size_t next, int64_t totalRows) {
  if (next < candidates.size()) {
    int64_t most = std::min(sizes[candidates[next]], maxRows / totalRows);
    for (const Input &input : inputs)
      most = std::min(most, input.most[next]);
    for (int64_t count = 1; count <= most; ++count) {
      rows[next] = count;
      // Elements that windows share take up registers, too.
      int64_t limit = registerLimit / (sharesWindows(rows) ? 2 : 1);
      if (countRegisters() <= limit || count == 1)
        searchRows(next + 1, totalRows * count);
    }
    rows[next] = 1;
    return;
  }
  SmallVector<int64_t> tile(rows);
  double cost = getTilesCost(0, tile, 1);
  // A larger tile has to be clearly faster, as it is more code.
  if (!bestRows.empty() && cost > bestCost * 0.98)
    return;
  bestCost = cost;
  bestRows = rows;
  result.vectors = vectors;
}

/// Returns the windows that rows along an axis read of an operand.
LoopPlanner::Windows LoopPlanner::getWindows(OpOperand &operand, unsigned row) {
  constexpr Windows kNone{1, 1, 1};
  std::optional<unsigned> taps = getInnermostReduction(op);
  if (!taps || sizes[*taps] > Costs::kUnrolledTaps)
    return kNone;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto *index = llvm::find_if(map.getResults(), [&](AffineExpr index) {
    return index.isFunctionOfDim(*taps) && index.isFunctionOfDim(row);
  });
  if (index == map.getResults().end())
    return kNone;
  int64_t rowStep = getStep(*index, row, map.getNumDims()).value_or(0);
  int64_t tapStep = getStep(*index, *taps, map.getNumDims()).value_or(0);
  int64_t common = std::gcd(rowStep, tapStep);
  if (rowStep == 0 || tapStep == 0)
    return kNone;
  return {std::abs(rowStep) / common, std::abs(tapStep) / common, sizes[*taps]};
}

/// Returns whether the windows of a tile's rows overlap.
bool LoopPlanner::sharesWindows(ArrayRef<int64_t> tile) const {
  return llvm::any_of(inputs, [&](const Input &input) {
    return llvm::any_of(llvm::zip(tile, input.windows), [](auto pair) {
      auto [count, windows] = pair;
      return windows.overlap(count);
    });
  });
}

/// Returns whether no two sums of a tile read the same element.
bool LoopPlanner::readsOnce() const {
  return llvm::all_of(inputs, [](const Input &input) {
    return input.isVector &&
           llvm::all_of(input.variesAlong, [](bool varies) { return varies; });
  });
}

/// Returns the most rows whose terms a tile can read number by number, such
/// that the rows' cache lines stay in the first-level cache until all terms on
/// them have been read: if the rows' distance is a large power of two, these
/// lines fall into one set.
int64_t LoopPlanner::countRowsInCache(OpOperand &operand, unsigned axis) {
  std::optional<unsigned> terms = getInnermostReduction(op);
  if (!terms || !getAccess(operand, terms).isContiguous())
    return Costs::kMaxRows;
  CacheAttr cache = target.getProcessor().getCaches().front();
  int64_t way = cache.getBytes() / cache.getWays();
  int64_t stride = getStrideBytes(op, operand, axis);
  return stride > 0 && stride % way == 0 ? cache.getWays() : Costs::kMaxRows;
}

void LoopPlanner::chooseTile() {
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (isParallel(axis) && sizes[axis] > 1 && axis != result.vectorAxis &&
        !(wanted && op.getMatchingIndexingMap(&op->getOpOperand(*wanted))
                        .isFunctionOfDim(axis)))
      candidates.push_back(axis);
  // With many axes, the outermost ones become loops around the tiles.
  if (candidates.size() > Costs::kMaxRowAxes)
    candidates.erase(candidates.begin(), candidates.end() - Costs::kMaxRowAxes);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (isOfEpilogue(op, *operand))
      continue;
    Access access = getAccess(*operand, result.vectorAxis);
    Input input{
        {}, access.kind != Access::Uniform, getReadCost(access, lanes), {}, {}};
    if (access.isContiguous() && wanted != operand->getOperandNumber() &&
        isFar(*operand))
      input.cost = Costs::kFarAccessCost;
    for (unsigned axis : candidates) {
      input.variesAlong.push_back(
          op.getMatchingIndexingMap(operand).isFunctionOfDim(axis));
      input.windows.push_back(getWindows(*operand, axis));
      input.most.push_back(access.kind == Access::Uniform
                               ? countRowsInCache(*operand, axis)
                               : Costs::kMaxRows);
    }
    inputs.push_back(std::move(input));
  }
  collectOrders();
  outputs = op.getNumDpsInits();
  int64_t products = target.getRegisters() >= Costs::kManyRegisters
                         ? Costs::kProductRegistersOfMany
                         : Costs::kProductRegisters;
  registerLimit =
      target.getRegisters() - (bodyOps > 2 ? Costs::kBodyRegisters : products);
  if (transposes(op, result.vectorAxis, wanted))
    registerLimit -= result.lanes;
  int64_t terms = 1;
  for (auto [size, kind] : llvm::zip(sizes, kinds))
    terms *= kind == utils::IteratorType::parallel ? 1 : size;
  result.unrolls = terms <= Costs::kFewTerms && terms > 1 && !multiplies(op);
  int64_t most = std::min(countVectors(), Costs::kMaxVectors), fewest = 1;
  // Memory is read fastest in whole rows.
  if (result.unrolls) {
    fewest = most;
    maxRows = std::max<int64_t>(1, Costs::kUnrolledTerms / terms / most);
  } else if (readsOnce()) {
    int64_t fitting = registerLimit / outputs;
    if (transposes(op, result.vectorAxis, wanted))
      fitting = std::min(fitting, Costs::kTransposedVectors);
    fewest = most = std::clamp<int64_t>(fitting, 1, countVectors());
  }
  rows.assign(candidates.size(), 1);
  for (vectors = fewest; vectors <= most; ++vectors)
    if (countRegisters() <= registerLimit || vectors == fewest)
      searchRows(0, 1);
  rows = bestRows;
  result.sharesWindows = sharesWindows(rows);
  vectors = result.vectors;
  SmallVector<unsigned> places(candidates.size());
  for (auto [place, axis] : llvm::enumerate(candidates)) {
    if (rows[place] == 1)
      continue;
    places[place] = result.rowAxes.size();
    result.rowAxes.push_back(axis);
    result.rows.push_back(rows[place]);
  }
  for (unsigned place : getBestOrder())
    if (rows[place] > 1)
      result.rowOrder.push_back(places[place]);
}

LoopPlan LoopPlanner::plan() {
  measureBody();
  chooseVectorAxis();
  if (op.getNumReductionLoops() > 0)
    chooseTile();
  else {
    chooseElementwiseVectors();
    result.streams = canStream();
  }
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    if (!isParallel(axis))
      result.reductions.push_back(axis);
    else if (axis != result.vectorAxis &&
             !llvm::is_contained(result.rowAxes, axis))
      result.outer.push_back(axis);
  }
  if (!result.reductions.empty())
    choosePacking(op, result, target, wanted);
  return result;
}

LoopPlan hfta::planLoops(linalg::GenericOp op, ArrayRef<Value> initial,
                         const TargetModel &target,
                         std::optional<unsigned> packed) {
  LoopPlan plan = LoopPlanner(op, initial, target, packed).plan();
  if (packed)
    return plan;
  std::optional<unsigned> crowded = findCrowdedWindows(op, plan, target);
  if (!crowded)
    return plan;
  // A tile's rows can't be taps then, whose windows might share elements. It
  // reads all of them from the panel instead, which is near.
  LoopPlan packing = LoopPlanner(op, initial, target, crowded).plan();
  return packing.packed == crowded ? packing : plan;
}
