//===- KernelParts.cpp - Kernels with part sums ---------------------------===//

#include "Read/KernelParts.h"
#include "Read/ElementPlaces.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

static bool isPartSum(Operation *op) {
  return op->hasAttr(HftaDialect::kPartSumAttrName);
}

bool hfta::hasPartSums(func::FuncOp kernel) {
  return llvm::any_of(kernel.getBody().front(),
                      [](Operation &op) { return isPartSum(&op); });
}

namespace {
class PartFinder {
public:
  explicit PartFinder(func::FuncOp kernel) : body(kernel.getBody().front()) {}

  std::optional<KernelParts> find();

private:
  bool addSum(linalg::GenericOp sum);
  bool addTensor(Value view);
  void addUsers(Operation *op);
  void placeSources();
  void placeOperands(linalg::GenericOp op, ArrayRef<AffineExpr> indices);
  void place(Value value, const Indices &indices) {
    if (places.try_emplace(value, indices).second)
      left.push_back(value);
  }
  std::optional<Indices> findPlace(Value value);
  bool placeResults();
  void findInside();

  Block &body;
  KernelParts parts;
  /// The indices, as expressions of the indices in `shape`, of each tensor's
  /// element that corresponds to an element that is added up.
  DenseMap<Value, Indices> places;
  SmallVector<Value> left;
};
} // namespace

/// Adds an op that belongs to the sums, and all ops that use its results, to
/// `parts.ops`.
void PartFinder::addUsers(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !parts.ops.insert(op).second)
    return;
  for (Operation *user : op->getUsers())
    addUsers(user);
}

/// Adds the tensor of which `view` is a reshape to the tensors that are added
/// up. Fails if its shape differs from theirs.
bool PartFinder::addTensor(Value view) {
  if (llvm::is_contained(
          llvm::map_range(parts.summed, [](auto &own) { return own.view; }),
          view))
    return true;
  Value tensor = view;
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      tensor.getDefiningOp())) {
    // If a tensor's last axis isn't the columns, the reshape is more than a
    // view for the sums.
    Value source = tensor.getDefiningOp()->getOperand(0);
    if (getShape(source).empty() || getShape(source).back() != parts.columns)
      break;
    tensor = source;
  }
  ArrayRef<int64_t> shape = getShape(tensor);
  if (!parts.summed.empty() && shape != ArrayRef(parts.shape))
    return false;
  parts.shape.assign(shape.begin(), shape.end());
  parts.summed.push_back({tensor, view});
  return true;
}

bool PartFinder::addSum(linalg::GenericOp sum) {
  Value view = sum->getOperand(0);
  ArrayRef<int64_t> shape = getShape(view);
  bool isFirst = parts.summed.empty();
  if (shape.size() != 3 || ShapedType::getNumElements(shape) == 0 ||
      (!isFirst &&
       shape != ArrayRef<int64_t>({parts.count, parts.length, parts.columns})))
    return false;
  parts.count = shape[0];
  parts.length = shape[1];
  parts.columns = shape[2];
  addUsers(sum);
  return addTensor(view);
}

void PartFinder::placeOperands(linalg::GenericOp op,
                               ArrayRef<AffineExpr> indices) {
  std::optional<Indices> loops =
      findLoops(op.getIndexingMapMatchingResult(op->getResult(0)), indices);
  if (op.getNumReductionLoops() > 0 || op->getNumResults() != 1 || !loops)
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.isPermutation() && isa<RankedTensorType>(input->get().getType()))
      place(input->get(), applyTo(map, *loops));
  }
}

/// Finds the places of all tensors from which the summed tensors are computed
/// elementwise.
void PartFinder::placeSources() {
  Indices own;
  for (size_t axis = 0; axis < parts.shape.size(); ++axis)
    own.push_back(getAffineDimExpr(axis, body.front().getContext()));
  for (const KernelParts::Summed &summed : parts.summed)
    place(summed.tensor, own);
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!value.getDefiningOp())
      continue;
    const Indices indices = places[value];
    llvm::TypeSwitch<Operation *>(value.getDefiningOp())
        .Case([&](linalg::GenericOp op) { placeOperands(op, indices); })
        .Case([&](linalg::TransposeOp op) {
          place(op.getInput(), getSourceIndices(op, indices));
        })
        .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            [&](auto op) { place(op.getSrc(), getSourceIndices(op, indices)); })
        .Default([](Operation *) {});
  }
}

/// Returns the place of a result: that of a placed tensor, of its transposition
/// or reshape, or of elements computed from it; nothing if there is none.
std::optional<Indices> PartFinder::findPlace(Value value) {
  if (auto known = places.find(value); known != places.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<linalg::TransposeOp, tensor::CollapseShapeOp,
                      tensor::ExpandShapeOp>(op)) {
    std::optional<Indices> from = findPlace(op->getOperand(0));
    if (!from)
      return std::nullopt;
    return llvm::TypeSwitch<Operation *, Indices>(op)
        .Case<linalg::TransposeOp, tensor::CollapseShapeOp,
              tensor::ExpandShapeOp>(
            [&](auto moved) { return getResultIndices(moved, *from); });
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() > 0)
    return std::nullopt;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(input);
    auto known = places.find(input->get());
    if (known == places.end())
      continue;
    if (std::optional<Indices> loops = findLoops(map, known->second))
      return applyTo(
          generic.getIndexingMapMatchingResult(cast<OpResult>(value)), *loops);
  }
  return std::nullopt;
}

bool PartFinder::placeResults() {
  MLIRContext *context = body.front().getContext();
  for (Value result : body.getTerminator()->getOperands()) {
    if (parts.ops.contains(result.getDefiningOp())) {
      if (getShape(result) != ArrayRef<int64_t>({parts.count, parts.columns}))
        return false;
      parts.places.emplace_back();
      continue;
    }
    std::optional<Indices> own = findPlace(result);
    if (!own)
      return false;
    parts.places.emplace_back(simplifyAffineMap(
        AffineMap::get(parts.shape.size(), 0, *own, context)));
  }
  return true;
}

/// Finds out whether columns are contiguous in the first result that isn't a
/// sum or, if there is none, in the first placed argument.
void PartFinder::findInside() {
  AffineExpr column =
      getAffineDimExpr(parts.shape.size() - 1, body.front().getContext());
  for (const std::optional<AffineMap> &own : parts.places)
    if (own) {
      parts.hasColumnsInside = own->getResults().back() == column;
      return;
    }
  for (BlockArgument argument : body.getArguments())
    if (auto known = places.find(argument); known != places.end()) {
      parts.hasColumnsInside = known->second.back() == column;
      return;
    }
}

std::optional<KernelParts> PartFinder::find() {
  for (auto generic : body.getOps<linalg::GenericOp>())
    if (isPartSum(generic) && !addSum(generic))
      return std::nullopt;
  if (parts.summed.empty())
    return std::nullopt;
  placeSources();
  if (!placeResults())
    return std::nullopt;
  findInside();
  return parts;
}

std::optional<KernelParts> hfta::findParts(func::FuncOp kernel) {
  return PartFinder(kernel).find();
}
