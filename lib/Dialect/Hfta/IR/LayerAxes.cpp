//===- LayerAxes.cpp - Rows and columns of a layer's tensors --------------===//

#include "Hfta/Dialect/Hfta/IR/LayerAxes.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

using namespace mlir;
using namespace mlir::hfta;

SmallVector<int64_t> LayerSide::getRows() const {
  SmallVector<int64_t> rows;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (!llvm::is_contained(blocks, axis) && !llvm::is_contained(columns, axis))
      rows.push_back(axis);
  return rows;
}

static int64_t countRows(const LayerSide &side) {
  int64_t rows = 1;
  for (int64_t axis : side.getRows())
    rows *= side.shape[axis];
  return rows;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns the axes of `map`, in order, whose dimensions satisfy `belongs`.
static SmallVector<int64_t>
findAxes(AffineMap map, llvm::function_ref<bool(AffineExpr)> belongs) {
  SmallVector<int64_t> axes;
  for (auto [axis, dimension] : llvm::enumerate(map.getResults()))
    if (belongs(dimension))
      axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

/// Returns the axes of `map` that have the same dimensions as `axes` have in
/// `other`, in the order of `axes`.
static SmallVector<int64_t> findSame(AffineMap map, AffineMap other,
                                     ArrayRef<int64_t> axes) {
  SmallVector<int64_t> same;
  for (int64_t axis : axes)
    same.push_back(llvm::find(map.getResults(), other.getResult(axis)) -
                   map.getResults().begin());
  return same;
}

static LayerAxes getDenseAxes(LayerOp layer) {
  auto getMap = [&](int64_t index) {
    return cast<AffineMapAttr>((*layer.getIndexingMaps())[index]).getValue();
  };
  AffineMap input = getMap(0), output = getMap(1), weight = getMap(2);
  auto has = [](AffineMap map, AffineExpr dimension) {
    return llvm::is_contained(map.getResults(), dimension);
  };
  LayerAxes axes;
  SmallVector<int64_t> blocks = findAxes(weight, [&](AffineExpr dimension) {
    return has(input, dimension) && has(output, dimension);
  });
  axes.weightShape.assign(getShape(layer.getWeightGradient()));
  axes.input.shape.assign(getShape(layer.getInput()));
  axes.output.shape.assign(getShape(layer.getOutputGradient()));
  axes.input.blocks = findSame(input, weight, blocks);
  axes.output.blocks = findSame(output, weight, blocks);
  axes.input.columns = findAxes(input, [&](AffineExpr dimension) {
    return has(weight, dimension) && !has(output, dimension);
  });
  axes.output.columns = findAxes(output, [&](AffineExpr dimension) {
    return has(weight, dimension) && !has(input, dimension);
  });
  axes.permutation = blocks;
  llvm::append_range(axes.permutation,
                     findSame(weight, output, axes.output.columns));
  llvm::append_range(axes.permutation,
                     findSame(weight, input, axes.input.columns));
  for (int64_t axis : blocks)
    axes.blocks *= axes.weightShape[axis];
  for (int64_t axis : axes.output.columns)
    axes.outputs *= axes.output.shape[axis];
  for (int64_t axis : axes.input.columns)
    axes.inputs *= axes.input.shape[axis];
  axes.rows = countRows(axes.input);
  return axes;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns the side of an activation [batch, channels, space…] whose columns
/// are channels, in blocks for the groups.
static LayerSide getChannels(Value activation, int64_t groups) {
  LayerSide side;
  side.shape.assign(getShape(activation));
  side.columns = {1};
  if (groups == 1)
    return side;
  side.shape[1] /= groups;
  side.shape.insert(side.shape.begin() + 1, groups);
  side.blocks = {1};
  side.columns = {2};
  return side;
}

/// The weight has the shape [channels of the side without patches, channels of
/// a group of the side with patches, taps…].
static LayerAxes getConvolutionAxes(LayerOp layer) {
  bool isTransposed = layer.getKind() == LayerKind::transposed_convolution;
  auto groups = static_cast<int64_t>(layer.getGroups());
  ArrayRef<int64_t> weight = getShape(layer.getWeightGradient());
  LayerAxes axes;
  axes.blocks = groups;
  axes.weightShape = {groups, weight[0] / groups};
  llvm::append_range(axes.weightShape, weight.drop_front());
  int64_t channels = weight[0] / groups;
  int64_t patch = llvm::product_of(weight.drop_front());
  LayerSide patches;
  patches.kind = LayerSide::Kind::patches;
  auto rank = static_cast<int64_t>(axes.weightShape.size());
  if (isTransposed) {
    axes.input = getChannels(layer.getInput(), groups);
    axes.output = patches;
    axes.outputs = patch;
    axes.inputs = channels;
    axes.permutation = {0};
    llvm::append_range(axes.permutation, llvm::seq<int64_t>(2, rank));
    axes.permutation.push_back(1);
    axes.rows = countRows(axes.input);
  } else {
    axes.input = patches;
    axes.output = getChannels(layer.getOutputGradient(), groups);
    axes.outputs = channels;
    axes.inputs = patch;
    llvm::append_range(axes.permutation, llvm::seq<int64_t>(0, rank));
    axes.rows = countRows(axes.output);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

/// Treats an embedding as a product with one-hot rows: the input's columns are
/// the rows of the table.
static LayerAxes getEmbeddingAxes(LayerOp layer) {
  LayerAxes axes;
  axes.weightShape.assign(getShape(layer.getWeightGradient()));
  axes.input.kind = LayerSide::Kind::lookups;
  axes.input.shape.assign(getShape(layer.getInput()));
  axes.output.shape.assign(getShape(layer.getOutputGradient()));
  auto lookups = static_cast<int64_t>(axes.input.shape.size());
  auto rank = static_cast<int64_t>(axes.output.shape.size());
  axes.output.columns = llvm::to_vector(llvm::seq<int64_t>(lookups, rank));
  auto weightRank = static_cast<int64_t>(axes.weightShape.size());
  axes.permutation = llvm::to_vector(llvm::seq<int64_t>(1, weightRank));
  axes.permutation.push_back(0);
  axes.inputs = axes.weightShape.front();
  axes.outputs = ShapedType::getNumElements(axes.weightShape) / axes.inputs;
  axes.rows = ShapedType::getNumElements(axes.input.shape);
  return axes;
}

std::optional<LayerAxes> hfta::getLayerAxes(LayerOp layer) {
  switch (layer.getKind()) {
  case LayerKind::dense:
    return getDenseAxes(layer);
  case LayerKind::convolution:
  case LayerKind::transposed_convolution:
    return getConvolutionAxes(layer);
  case LayerKind::embedding:
    return getEmbeddingAxes(layer);
  case LayerKind::norm:
  case LayerKind::other:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are above");
}
