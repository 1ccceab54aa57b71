//===- HftaLayers.cpp - How ops use trained parameters --------------------===//
//
// LayerOpInterface of each op that implements it, and hfta.layer.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Ops that a parameter passes, and sums
//===----------------------------------------------------------------------===//

ParameterUse StackOp::getParameterUse(unsigned) { return ParameterUse::pass(); }
ParameterUse UnstackOp::getParameterUse(unsigned) {
  return ParameterUse::pass();
}
ParameterUse ReshapeOp::getParameterUse(unsigned) {
  return ParameterUse::pass();
}
ParameterUse TransposeOp::getParameterUse(unsigned) {
  return ParameterUse::pass();
}
ParameterUse BroadcastOp::getParameterUse(unsigned) {
  return ParameterUse::pass();
}
ParameterUse SliceOp::getParameterUse(unsigned) { return ParameterUse::pass(); }
ParameterUse PadOp::getParameterUse(unsigned) { return ParameterUse::pass(); }
ParameterUse ConcatOp::getParameterUse(unsigned) {
  return ParameterUse::pass();
}
ParameterUse CastOp::getParameterUse(unsigned) { return ParameterUse::pass(); }

ParameterUse AddOp::getParameterUse(unsigned) {
  ParameterUse use;
  use.role = ParameterUse::Role::added;
  return use;
}

//===----------------------------------------------------------------------===//
// Products and convolutions
//===----------------------------------------------------------------------===//

ParameterUse ContractOp::getParameterUse(unsigned operand) {
  ArrayAttr maps = getIndexingMaps();
  ParameterUse use;
  use.role = ParameterUse::Role::weight;
  use.kind = LayerKind::dense;
  use.input = 1 - operand;
  use.maps =
      ArrayAttr::get(getContext(), {maps[1 - operand], maps[2], maps[operand]});
  return use;
}

/// Returns the use of an operand by a convolution, or by the gradient of a
/// convolution's input. Operand 1 of both is the weight.
template <typename OpTy>
static ParameterUse getConvolutionUse(OpTy op, LayerKind kind,
                                      unsigned operand) {
  ParameterUse use;
  if (operand != 1)
    return use;
  use.role = ParameterUse::Role::weight;
  use.kind = kind;
  use.input = 0;
  use.strides = op.getStridesAttr();
  use.dilations = op.getDilationsAttr();
  use.padding = op.getPaddingAttr();
  use.groups = op.getGroups();
  return use;
}

ParameterUse ConvOp::getParameterUse(unsigned operand) {
  return getConvolutionUse(*this, LayerKind::convolution, operand);
}

ParameterUse ConvInputGradientOp::getParameterUse(unsigned operand) {
  return getConvolutionUse(*this, LayerKind::transposed_convolution, operand);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

/// Returns whether a value is computed from constants alone.
static bool isKnown(Value value) {
  SmallVector<Value> worklist = {value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || isa<ReadOp>(op))
      return false;
    llvm::append_range(worklist, op->getOperands());
  }
  return true;
}

/// Gathering rows that are always the same is like a slice, so it passes the
/// table on. Otherwise the op is an embedding if it gathers rows, along axis 0.
ParameterUse GatherOp::getParameterUse(unsigned operand) {
  if (operand != 0)
    return {};
  if (isKnown(getIndices()))
    return ParameterUse::pass();
  ParameterUse use;
  if (getAxis() != 0)
    return use;
  use.role = ParameterUse::Role::weight;
  use.kind = LayerKind::embedding;
  use.input = 1;
  return use;
}

//===----------------------------------------------------------------------===//
// Normalization layers
//===----------------------------------------------------------------------===//

/// Returns whether `factor` is a standard deviation, its inverse, or similar,
/// as in a norm: it is computed from a reduction by way of a square root.
static bool isInverseDeviation(Value factor) {
  SmallVector<std::pair<Value, int>> worklist = {{factor, false}};
  DenseSet<std::pair<Value, int>> seen;
  while (!worklist.empty()) {
    auto [value, isBehindRoot] = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert({value, isBehindRoot}).second)
      continue;
    if (isa<ReduceOp>(op)) {
      if (isBehindRoot)
        return true;
      continue;
    }
    if (!isa<ElementwiseOpInterface, LayerOpInterface>(op) ||
        isa<ContractOp, ConvOp, ConvInputGradientOp, GatherOp, BatchNormOp>(op))
      continue;
    bool isRoot = isa<RsqrtOp, SqrtOp, PowOp>(op);
    for (Value operand : op->getOperands())
      worklist.emplace_back(operand, isBehindRoot || isRoot);
  }
  return false;
}

static Value skipMovement(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp, CastOp, BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns whether `value` is normalized: a value times an inverse standard
/// deviation, or divided by a standard deviation.
static bool isNormalized(Value value) {
  Operation *op = skipMovement(value).getDefiningOp();
  if (isa_and_nonnull<StackOp>(op))
    op = skipMovement(op->getOperand(0)).getDefiningOp();
  if (!isa_and_nonnull<MulOp, DivOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return skipMovement(operand) != operand && isInverseDeviation(operand);
  });
}

/// A factor of a normalized value is the scale of a norm. Other products aren't
/// layers.
ParameterUse MulOp::getParameterUse(unsigned operand) {
  ParameterUse use;
  if (!isNormalized(getOperand(1 - operand)))
    return use;
  use.role = ParameterUse::Role::weight;
  use.kind = LayerKind::norm;
  use.input = 1 - operand;
  return use;
}

ParameterUse BatchNormOp::getParameterUse(unsigned operand) {
  ParameterUse use;
  if (operand == 1) {
    use.role = ParameterUse::Role::weight;
    use.kind = LayerKind::norm;
    use.input = 0;
    use.bias = 2;
  } else if (operand == 2) {
    use.role = ParameterUse::Role::added;
  }
  return use;
}

/// Builds the normalized input of the scale, from the statistics that the
/// forward has saved.
Value BatchNormOp::buildLayerInput(OpBuilder &builder, unsigned operand) {
  if (operand != 1)
    return {};
  Expression input(builder, getLoc(), getInput());
  ArrayRef<int64_t> shape = input.getShape();
  SmallVector<int64_t> axes = getOtherAxes(shape.size(), {1});
  Expression mean = input.at(getSavedMean());
  Expression inverse = input.at(getSavedInverseDeviation());
  return (input - mean.repeat(shape, axes)) * inverse.repeat(shape, axes);
}

//===----------------------------------------------------------------------===//
// hfta.layer
//===----------------------------------------------------------------------===//

static int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// Checks constraint (C1) of `hfta.layer`.
static LogicalResult verifyMaps(LayerOp op) {
  std::optional<ArrayAttr> maps = op.getIndexingMaps();
  if (maps.has_value() != (op.getKind() == LayerKind::dense))
    return op.emitOpError("has indexing maps if and only if it is dense");
  if (!maps || !op.getInput())
    return success();
  SmallVector<Value> values = {op.getInput(), op.getOutputGradient(),
                               op.getWeightGradient()};
  if (maps->size() != values.size())
    return op.emitOpError("expected 3 indexing maps, got ") << maps->size();
  for (auto [index, map] : llvm::enumerate(maps->getAsRange<AffineMapAttr>())) {
    int64_t rank = getRank(values[index]), got = map.getValue().getNumResults();
    if (got != rank)
      return op.emitOpError("expected ")
             << rank << " results of indexing map " << index << ", got " << got;
  }
  return success();
}

/// Checks constraint (C2) of `hfta.layer`.
static LogicalResult verifyWindow(LayerOp op) {
  size_t axes = std::max<int64_t>(getRank(op.getWeightGradient()) - 2, 0);
  auto verify = [&](std::optional<ArrayRef<int64_t>> entries, StringRef name,
                    size_t expected) -> LogicalResult {
    if (entries.has_value() != LayerOp::isConvolution(op.getKind()))
      return op.emitOpError("has ")
             << name << " if and only if it is a convolution";
    if (entries && entries->size() != expected)
      return op.emitOpError("expected ")
             << expected << " " << name << ", got " << entries->size();
    return success();
  };
  return success(succeeded(verify(op.getStrides(), "strides", axes)) &&
                 succeeded(verify(op.getDilations(), "dilations", axes)) &&
                 succeeded(verify(op.getPadding(), "padding", 2 * axes)));
}

LogicalResult LayerOp::verify() {
  if (failed(verifyMaps(*this)) || failed(verifyWindow(*this)))
    return failure();
  // Checks constraint (C3).
  if (static_cast<bool>(getInput()) == (getKind() == LayerKind::other))
    return emitOpError("has an input unless its kind is other");
  // Checks constraint (C4).
  if (getBiasColumn() && !getBias())
    return emitOpError("says that its bias is a column, but has none");
  for (std::optional<int64_t> stride : {getInputSamples(), getOutputSamples()})
    // Checks constraint (C6).
    if (stride && *stride <= 0)
      return emitOpError("has samples at a stride of ") << *stride;
  return success();
}

/// Checks constraint (C5) of `hfta.layer`.
LogicalResult LayerOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  for (FlatSymbolRefAttr name : {getParameterAttr(), getBiasAttr()}) {
    if (!name)
      continue;
    auto variable =
        symbolTable.lookupNearestSymbolFrom<VariableOp>(getOperation(), name);
    if (!variable || variable.getRole() != Role::parameter)
      return emitOpError("names ") << name << ", which is no parameter";
  }
  return success();
}
