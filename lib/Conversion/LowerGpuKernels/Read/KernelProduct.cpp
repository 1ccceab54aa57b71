//===- KernelProduct.cpp - Kernels that are matrix products ---------------===//

#include "Read/KernelProduct.h"
#include "Read/ElementPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Returns the row-major index of the element at `indices`.
static AffineExpr linearize(ArrayRef<AffineExpr> indices,
                            ArrayRef<int64_t> shape, MLIRContext *context) {
  AffineExpr number = getAffineConstantExpr(0, context);
  for (auto [index, size] : llvm::zip(indices, shape))
    number = number * size + index;
  return number;
}

//===----------------------------------------------------------------------===//
// Places of elements
//===----------------------------------------------------------------------===//

namespace {
/// Follows an element of a tensor back to the element of a kernel's argument
/// from which it is computed. At an elementwise op it follows the first operand
/// with as many elements as the result.
class SourceFinder {
public:
  explicit SourceFinder(MLIRContext *context) : context(context) {}

  /// Returns the row-major index of the element in the argument; null if no
  /// argument is reached.
  AffineExpr find(Value tensor, Indices indices) const;

private:
  /// Goes back by one op. Returns false if that isn't possible.
  static bool step(Value &tensor, Indices &indices);
  static bool stepElementwise(linalg::GenericOp op, Value &tensor,
                              Indices &indices);

  MLIRContext *context;
};
} // namespace

bool SourceFinder::stepElementwise(linalg::GenericOp op, Value &tensor,
                                   Indices &indices) {
  if (op.getNumReductionLoops() > 0)
    return false;
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
  std::optional<Indices> loops = findLoops(map, indices);
  if (!loops)
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || type.getNumElements() !=
                     cast<RankedTensorType>(tensor.getType()).getNumElements())
      continue;
    indices = applyTo(op.getMatchingIndexingMap(input), *loops);
    tensor = input->get();
    return true;
  }
  return false;
}

bool SourceFinder::step(Value &tensor, Indices &indices) {
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return stepElementwise(generic, tensor, indices);
  std::optional<ElementPlace> moved = findMoved(op, indices);
  if (moved)
    std::tie(tensor, indices) = std::tie(moved->tensor, moved->indices);
  return moved.has_value();
}

AffineExpr SourceFinder::find(Value tensor, Indices indices) const {
  while (!isa<BlockArgument>(tensor))
    if (!tensor.getDefiningOp() || !step(tensor, indices))
      return AffineExpr();
  return linearize(indices, getShape(tensor), context);
}

/// Returns by how much `number` grows from a loop's first to its second
/// iteration, with all other loops at 0.
static int64_t findStep(AffineExpr number, unsigned loop, unsigned loops) {
  MLIRContext *context = number.getContext();
  auto evaluate = [&](int64_t at) {
    Indices values(loops, getAffineConstantExpr(0, context));
    values[loop] = getAffineConstantExpr(at, context);
    AffineExpr value = simplifyAffineExpr(number.replaceDims(values), 0, 0);
    auto constant = dyn_cast<AffineConstantExpr>(value);
    return constant ? constant.getValue() : 0;
  };
  return evaluate(1) - evaluate(0);
}

/// Returns the innermost of the loops that has more than one iteration; nothing
/// if there is none.
static std::optional<unsigned> findInner(linalg::GenericOp op,
                                         ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (unsigned loop : llvm::reverse(loops))
    if (sizes[loop] > 1)
      return loop;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns whether the body adds the product of both operands, which it may
/// widen first, to the sum by an FMA.
static bool hasPlainBody(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto widen = [](Value value) {
    if (auto wider = value.getDefiningOp<arith::ExtFOp>())
      return wider.getIn();
    return value;
  };
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  return fma && fma->getBlock() == body &&
         widen(fma.getA()) == body->getArgument(0) &&
         widen(fma.getB()) == body->getArgument(1) &&
         fma.getC() == body->getArgument(2);
}

/// Returns whether the op's sums start from zero.
static bool startsFromZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_PosZeroFloat());
}

static int64_t countIterations(linalg::GenericOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop : loops)
    count *= sizes[loop];
  return count;
}

static bool sortLoops(KernelProduct &product) {
  linalg::GenericOp op = product.op;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  product.rows.operand = 0;
  product.columns.operand = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isInLhs = maps[0].isFunctionOfDim(loop);
    bool isInRhs = maps[1].isFunctionOfDim(loop);
    if (kind == utils::IteratorType::reduction)
      product.terms.push_back(loop);
    else if (isInLhs && isInRhs)
      product.batches.push_back(loop);
    else if (isInLhs)
      product.rows.loops.push_back(loop);
    else if (isInRhs)
      product.columns.loops.push_back(loop);
    else
      return false;
  }
  product.rows.size = countIterations(op, product.rows.loops);
  product.columns.size = countIterations(op, product.columns.loops);
  product.batchCount = countIterations(op, product.batches);
  product.termCount = countIterations(op, product.terms);
  // Requires that the indices of a result's element are those of the parallel
  // loops.
  return maps[2].isProjectedPermutation() &&
         maps[2].getNumResults() == op.getNumParallelLoops() &&
         product.rows.size > 0 && product.columns.size > 0 &&
         product.batchCount > 0 && product.termCount > 0;
}

std::optional<KernelProduct> hfta::getProduct(linalg::GenericOp op) {
  KernelProduct product;
  product.op = op;
  bool isOne =
      op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 2 &&
      op.getNumDpsInits() == 1 &&
      llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
      startsFromZero(op) && hasPlainBody(op) && sortLoops(product);
  return isOne ? std::optional(product) : std::nullopt;
}

namespace {
class ProductFinder {
public:
  explicit ProductFinder(func::FuncOp kernel)
      : kernel(kernel), context(kernel.getContext()) {}

  std::optional<KernelProduct> find();

private:
  bool findOp();
  bool isOfSums(Operation *op) const {
    return product.parts && product.parts->ops.contains(op);
  }
  bool followResults();
  bool follow(Operation *op);
  bool followElementwise(linalg::GenericOp op);
  void placeBeside(Value value, const Indices &indices);
  void findInsides();
  SmallVector<unsigned> dropSingle(ArrayRef<unsigned> loops);
  bool takeOrder(ProductSide &side, ArrayRef<unsigned> rows);
  bool placeParts();

  func::FuncOp kernel;
  MLIRContext *context;
  KernelProduct product;
  /// The indices, as expressions of the op's loop indices, of the elements
  /// computed from the product's elements.
  DenseMap<Value, Indices> places;
  /// The indices of the elements of other tensors with which the product's
  /// elements are combined, or from which those are computed elementwise.
  DenseMap<Value, Indices> besides;
};
} // namespace

bool ProductFinder::findOp() {
  linalg::GenericOp sum;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<LoopLikeOpInterface>(op))
      return false;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0 || isOfSums(&op))
      continue;
    if (sum)
      return false;
    sum = generic;
  }
  std::optional<KernelProduct> found =
      sum ? getProduct(sum) : std::optional<KernelProduct>();
  if (found) {
    found->parts = std::move(product.parts);
    product = std::move(*found);
  }
  return found.has_value();
}

/// Finds the places of an op's results. Fails unless all operands that are
/// computed from the product's elements are read at the same place.
bool ProductFinder::followElementwise(linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0)
    return false;
  // An element that the body looks up by index is at another place.
  WalkResult lookups = op.getBody()->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(),
                        [&](Value value) { return places.contains(value); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (lookups.wasInterrupted())
    return false;
  std::optional<Indices> loops;
  for (OpOperand &operand : op->getOpOperands()) {
    auto place = places.find(operand.get());
    if (place == places.end())
      continue;
    std::optional<Indices> own =
        findLoops(op.getMatchingIndexingMap(&operand), place->second);
    if (!own || (loops && *loops != *own))
      return false;
    loops = own;
  }
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    if (!map.isPermutation())
      return false;
    places[result] = applyTo(map, *loops);
  }
  for (OpOperand *input : op.getDpsInputOperands())
    if (AffineMap map = op.getMatchingIndexingMap(input); map.isPermutation())
      placeBeside(input->get(), applyTo(map, *loops));
  return true;
}

/// Places a tensor with which the product's elements are combined, such as a
/// gate, and the tensors from which that one is computed. The kernel may return
/// these tensors, too.
void ProductFinder::placeBeside(Value value, const Indices &indices) {
  if (places.contains(value) || !besides.try_emplace(value, indices).second)
    return;
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() > 0 || op->getNumResults() != 1)
    return;
  std::optional<Indices> loops =
      findLoops(op.getIndexingMapMatchingResult(op->getResult(0)), indices);
  if (!loops)
    return;
  for (OpOperand *input : op.getDpsInputOperands())
    if (AffineMap map = op.getMatchingIndexingMap(input); map.isPermutation())
      placeBeside(input->get(), applyTo(map, *loops));
}

bool ProductFinder::follow(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case(
          [&](linalg::GenericOp generic) { return followElementwise(generic); })
      .Case([&](linalg::TransposeOp transpose) {
        if (!places.contains(transpose.getInput()))
          return false;
        const Indices from = places[transpose.getInput()];
        places[transpose->getResult(0)] = getResultIndices(transpose, from);
        return true;
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshaped) {
        Indices to = getResultIndices(reshaped, places[reshaped.getSrc()]);
        places[reshaped.getResult()] = std::move(to);
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// Follows the product's elements to the values that the kernel returns. Fails
/// if a returned value has no known place.
bool ProductFinder::followResults() {
  linalg::GenericOp op = product.op;
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  places[op->getResult(0)] = Indices(map.getResults());
  auto reads = [&](Operation *reader) {
    bool found = false;
    reader->walk([&](Operation *inner) {
      found |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return places.contains(operand);
      });
    });
    return found;
  };
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (Operation *next = op->getNextNode(); next != terminator;
       next = next->getNextNode())
    if (!isOfSums(next) && reads(next) && !follow(next))
      return false;
  for (Value result : terminator->getOperands()) {
    auto place = places.find(result);
    if (place == places.end() && besides.contains(result))
      place = places.try_emplace(result, besides.lookup(result)).first;
    // The places of part sums, and of tensors that are added up with the
    // product's elements, are known from the parts.
    if (place == places.end() && !product.parts)
      return false;
    product.results.push_back(
        place == places.end()
            ? AffineMap()
            : simplifyAffineMap(
                  AffineMap::get(op.getNumLoops(), 0, place->second, context)));
  }
  return !product.results.empty();
}

void ProductFinder::findInsides() {
  linalg::GenericOp op = product.op;
  unsigned loops = op.getNumLoops();
  std::optional<unsigned> term = findInner(op, product.terms);
  SourceFinder sources(context);
  for (ProductSide *side : {&product.rows, &product.columns}) {
    OpOperand &operand = op->getOpOperand(side->operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AffineExpr number = sources.find(operand.get(), Indices(map.getResults()));
    if (number)
      llvm::stable_sort(side->loops, [&](unsigned one, unsigned other) {
        return std::abs(findStep(number, one, loops)) >
               std::abs(findStep(number, other, loops));
      });
    std::optional<unsigned> own = findInner(op, side->loops);
    auto isInside = [&](std::optional<unsigned> loop) {
      return number && loop && findStep(number, *loop, loops) == 1;
    };
    if (isInside(own))
      side->inside = own;
    side->hasTermsInside = !own || (!side->inside && isInside(term));
  }
  const auto *result = llvm::find_if(
      product.results, [](AffineMap map) { return map != AffineMap(); });
  if (result == product.results.end())
    return;
  Value stored = kernel.getBody().front().getTerminator()->getOperand(
      result - product.results.begin());
  AffineExpr number =
      linearize(result->getResults(), getShape(stored), context);
  std::optional<unsigned> row = findInner(op, product.rows.loops);
  product.storesRowsInside = row && findStep(number, *row, loops) == 1;
}

/// Makes a side run through its loops in the order of the axes of the parts'
/// rows, `rows`. Fails if the side has other loops.
bool ProductFinder::takeOrder(ProductSide &side, ArrayRef<unsigned> rows) {
  SmallVector<unsigned> loops = dropSingle(side.loops);
  if (!std::is_permutation(loops.begin(), loops.end(), rows.begin(),
                           rows.end()))
    return false;
  if (ArrayRef(loops) == rows)
    return true;
  side.loops.assign(rows.begin(), rows.end());
  if (side.inside != rows.back())
    side.inside.reset();
  return true;
}

/// Returns the loops that have more than one iteration.
SmallVector<unsigned> ProductFinder::dropSingle(ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = product.op.getStaticLoopRanges();
  SmallVector<unsigned> left;
  llvm::copy_if(loops, std::back_inserter(left),
                [&](unsigned loop) { return sizes[loop] > 1; });
  return left;
}

/// Relates the part sums to the product: the loops of one side have to be the
/// axes of the parts' rows, and the loop of the other side the columns. Other
/// tensors that are added up or stored get the places of those computed from
/// the product.
bool ProductFinder::placeParts() {
  if (!product.parts)
    return true;
  std::optional<Indices> common;
  for (const KernelParts::Summed &summed : product.parts->summed) {
    auto place = places.find(summed.tensor);
    if (place == places.end())
      continue;
    if (common && *common != place->second)
      return false;
    common = place->second;
  }
  if (!common || product.batchCount != 1 || product.parts->columns == 1)
    return false;
  SmallVector<unsigned> own;
  for (auto [index, size] : llvm::zip(*common, product.parts->shape)) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop && size > 1)
      return false;
    if (size > 1)
      own.push_back(loop.getPosition());
  }
  product.summedPlace = simplifyAffineMap(
      AffineMap::get(product.op.getNumLoops(), 0, *common, context));
  for (auto [result, place] : llvm::zip(product.results, product.parts->places))
    if (!result && place)
      result = simplifyAffineMap(place->compose(product.summedPlace));
  unsigned column = own.pop_back_val();
  auto isColumn = [&](const ProductSide &side) {
    return ArrayRef(dropSingle(side.loops)) == ArrayRef(column);
  };
  product.hasPartsOfRows =
      isColumn(product.columns) && takeOrder(product.rows, own);
  return product.hasPartsOfRows ||
         (isColumn(product.rows) && takeOrder(product.columns, own));
}

std::optional<KernelProduct> ProductFinder::find() {
  if (hasPartSums(kernel)) {
    product.parts = findParts(kernel);
    if (!product.parts)
      return std::nullopt;
  }
  if (!findOp() || !followResults())
    return std::nullopt;
  findInsides();
  return placeParts() ? std::optional(product) : std::nullopt;
}

std::optional<KernelProduct> hfta::findProduct(func::FuncOp kernel) {
  return ProductFinder(kernel).find();
}

bool hfta::hasTermsInside(linalg::GenericOp op) {
  SmallVector<unsigned> terms;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      terms.push_back(loop);
  std::optional<unsigned> term = findInner(op, terms);
  OpOperand &operand = op->getOpOperand(0);
  if (!term || !isa<RankedTensorType>(operand.get().getType()))
    return false;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  AffineExpr number = SourceFinder(op.getContext())
                          .find(operand.get(), Indices(map.getResults()));
  return number && findStep(number, *term, op.getNumLoops()) == 1;
}
