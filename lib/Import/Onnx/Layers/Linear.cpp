//===- Linear.cpp - Matrix products and convolutions ----------------------===//

#include "Layers/Window.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Multiplies two tensors, and sums over the iteration axes that aren't in
/// `resultAxes`. A list has the iteration axis for each axis of a tensor; there
/// are `space` iteration axes.
static Value contract(Node &node, Value lhs, Value rhs,
                      ArrayRef<unsigned> lhsAxes, ArrayRef<unsigned> rhsAxes,
                      ArrayRef<unsigned> resultAxes, unsigned space) {
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> axes : {lhsAxes, rhsAxes, resultAxes})
    maps.push_back(AffineMap::getMultiDimMapWithTargets(
        space, axes, node.getBuilder().getContext()));
  return node.create<ContractOp>(
      lhs, rhs, node.getBuilder().getAffineMapArrayAttr(maps), TypeAttr());
}

static Value scale(Node &node, Value value, double factor) {
  return factor == 1 || !value ? value
                               : node.mul(value, node.splatLike(value, factor));
}

static void importGemm(Node &node) {
  Value a = node.getInput(0), b = node.getInput(1);
  Value c = node.getOptionalInput(2);
  if (!node.requireFloat(a) || !node.requireFloat(b))
    return;
  if (getType(a).getRank() != 2 || getType(b).getRank() != 2) {
    node.invalid("operands must be matrices, got " + formatShape(getShape(a)) +
                 " and " + formatShape(getShape(b)));
    return;
  }
  // The iteration axes are 0 (rows), 1 (columns) and 2 (summed).
  SmallVector<unsigned> lhsAxes = {0, 2}, rhsAxes = {2, 1};
  if (node.getInt("transA", 0) != 0)
    std::swap(lhsAxes[0], lhsAxes[1]);
  if (node.getInt("transB", 0) != 0)
    std::swap(rhsAxes[0], rhsAxes[1]);
  Value product = scale(node, contract(node, a, b, lhsAxes, rhsAxes, {0, 1}, 3),
                        node.getFloat("alpha", 1));
  double beta = node.getFloat("beta", 1);
  if (c && product && beta != 0)
    product = node.add(product,
                       node.broadcast(scale(node, c, beta), getShape(product)));
  node.setOutput(0, product);
}

/// Drops the batch axes that have size 1 in this operand and a larger size in
/// the other one. Appends the iteration axes of the kept batch axes to `axes`.
static Value dropBroadcastAxes(Node &node, Value value, int64_t batchRank,
                               ArrayRef<int64_t> batch,
                               SmallVectorImpl<unsigned> &axes) {
  ArrayRef<int64_t> shape = getShape(value);
  int64_t own = static_cast<int64_t>(shape.size()) - 2;
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < own; ++axis) {
    int64_t common = batchRank - own + axis;
    if (shape[axis] == 1 && batch[common] != 1)
      continue;
    kept.push_back(shape[axis]);
    axes.push_back(common);
  }
  kept.append({shape[own], shape[own + 1]});
  return node.reshape(value, kept);
}

/// Returns the sizes to which the batch axes of both operands are broadcast;
/// nothing after an error.
static std::optional<SmallVector<int64_t>> joinBatch(Node &node, Value lhs,
                                                     Value rhs) {
  ArrayRef<int64_t> left = getShape(lhs).drop_back(2);
  ArrayRef<int64_t> right = getShape(rhs).drop_back(2);
  SmallVector<int64_t> batch(std::max(left.size(), right.size()), 1);
  for (ArrayRef<int64_t> sizes : {left, right})
    for (auto [axis, size] : llvm::enumerate(sizes)) {
      int64_t &common = batch[batch.size() - sizes.size() + axis];
      if (common != 1 && size != 1 && common != size) {
        node.invalid("cannot multiply shapes " + formatShape(getShape(lhs)) +
                     " and " + formatShape(getShape(rhs)));
        return std::nullopt;
      }
      common = common == 1 ? size : common;
    }
  return batch;
}

static void importMatMul(Node &node) {
  Value lhs = node.getInput(0), rhs = node.getInput(1);
  if (!node.requireFloat(lhs) || !node.requireFloat(rhs))
    return;
  // A vector is a row on the left and a column on the right; the added axis is
  // removed from the result.
  bool isRow = getType(lhs).getRank() == 1;
  bool isColumn = getType(rhs).getRank() == 1;
  if (isRow)
    lhs = node.reshape(lhs, {1, getShape(lhs)[0]});
  if (isColumn)
    rhs = node.reshape(rhs, {getShape(rhs)[0], 1});
  if (getType(lhs).getRank() < 2 || getType(rhs).getRank() < 2) {
    node.invalid("operands must not be scalars");
    return;
  }
  std::optional<SmallVector<int64_t>> batch = joinBatch(node, lhs, rhs);
  if (!batch)
    return;
  unsigned batchRank = batch->size();
  unsigned rows = batchRank, columns = batchRank + 1, summed = batchRank + 2;
  SmallVector<unsigned> lhsAxes, rhsAxes;
  lhs = dropBroadcastAxes(node, lhs, batchRank, *batch, lhsAxes);
  rhs = dropBroadcastAxes(node, rhs, batchRank, *batch, rhsAxes);
  lhsAxes.append({rows, summed});
  rhsAxes.append({summed, columns});
  auto resultAxes = llvm::to_vector(llvm::seq<unsigned>(0, batchRank + 2));
  Value product =
      contract(node, lhs, rhs, lhsAxes, rhsAxes, resultAxes, batchRank + 3);
  if (!product)
    return;
  SmallVector<int64_t> shape(getShape(product));
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.begin() + batchRank);
  node.setOutput(0, node.reshape(product, shape));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Adds a bias, if there is one, with one number per channel (axis 1).
static Value addChannels(Node &node, Value value, Value bias) {
  if (!value || !bias)
    return value;
  if (getType(bias).getRank() != 1 || getShape(bias)[0] != getShape(value)[1])
    return node.invalid("bias of shape " + formatShape(getShape(bias)) +
                        " for " + std::to_string(getShape(value)[1]) +
                        " channels");
  return node.add(value, node.broadcastAlong(bias, getShape(value), {1}));
}

/// Checks element types and ranks; returns false after an error.
static bool checkConvolution(Node &node, Value input, Value weight) {
  if (!node.requireFloat(input) || !node.requireFloat(weight))
    return false;
  int64_t rank = getType(input).getRank();
  if (rank < 3 || getType(weight).getRank() != rank) {
    node.invalid("input of shape " + formatShape(getShape(input)) +
                 " and weight of shape " + formatShape(getShape(weight)) +
                 " do not fit");
    return false;
  }
  if (rank > 5) {
    node.unsupported(std::to_string(rank - 2) +
                     " spatial dimensions are not supported (at most 3)");
    return false;
  }
  return true;
}

/// Reads attribute 'group'; returns 0 after an error.
static int64_t readGroups(Node &node) {
  int64_t groups = node.getInt("group", 1);
  if (groups >= 1 && groups <= kGreatestWindow)
    return node.failed() ? 0 : groups;
  node.invalid("attribute 'group' = " + Twine(groups) + " is out of range");
  return 0;
}

static void importConv(Node &node) {
  Value input = node.getInput(0), weight = node.getInput(1);
  Value bias = node.getOptionalInput(2);
  if (!checkConvolution(node, input, weight))
    return;
  ArrayRef<int64_t> kernel = getShape(weight).drop_front(2);
  std::optional<Window> window =
      readWindow(node, getShape(input).drop_front(2), kernel);
  int64_t groups = window ? readGroups(node) : 0;
  if (groups == 0)
    return;
  Value result = node.create<ConvOp>(
      input, weight, ArrayRef<int64_t>(window->strides),
      ArrayRef<int64_t>(window->dilations), ArrayRef<int64_t>(window->padding),
      groups, TypeAttr());
  node.setOutput(0, addChannels(node, result, bias));
}

/// Returns the spatial sizes of a transposed convolution's result, and sets the
/// window's padding. Returns an empty list after an error.
static SmallVector<int64_t> inferTransposed(Node &node, ArrayRef<int64_t> sizes,
                                            Window &window) {
  size_t rank = sizes.size();
  SmallVector<int64_t> extra =
      node.getInts("output_padding").value_or(SmallVector<int64_t>(rank, 0));
  std::optional<SmallVector<int64_t>> wanted = node.getInts("output_shape");
  std::string padding = node.getString("auto_pad", "NOTSET");
  bool same = padding == "SAME_UPPER" || padding == "SAME_LOWER";
  auto fits = [&](ArrayRef<int64_t> list) {
    return list.size() == rank && llvm::all_of(list, [](int64_t size) {
             return size >= 0 && size <= kGreatestWindow;
           });
  };
  bool good = fits(extra) && (!wanted || fits(*wanted));
  if (!good) {
    node.invalid("output_padding or output_shape does not fit " + Twine(rank) +
                 " spatial axes");
    return {};
  }
  SmallVector<int64_t> result;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t full = (sizes[axis] - 1) * window.strides[axis] +
                   (window.kernel[axis] - 1) * window.dilations[axis] + 1 +
                   extra[axis];
    int64_t &low = window.padding[axis], &high = window.padding[rank + axis];
    if (wanted || same) {
      int64_t size =
          wanted ? (*wanted)[axis] : sizes[axis] * window.strides[axis];
      // A transposed convolution's result may have one element per axis more
      // than its windows cover, at the end of the axis. More would be negative
      // padding.
      if (size > full + 1) {
        node.unsupported("output_shape " + Twine(size) +
                         " needs negative padding, which is not supported");
        return {};
      }
      full = std::max(full, size);
      low = padding == "SAME_UPPER" ? (full - size) / 2 : (full - size + 1) / 2;
      high = full - size - low;
    }
    result.push_back(full - low - high);
    if (result.back() < 1) {
      node.invalid("the result would have no elements");
      return {};
    }
  }
  return result;
}

static void importConvTranspose(Node &node) {
  Value input = node.getInput(0), weight = node.getInput(1);
  Value bias = node.getOptionalInput(2);
  if (!checkConvolution(node, input, weight))
    return;
  ArrayRef<int64_t> sizes = getShape(input).drop_front(2);
  std::optional<Window> window = readWindow(
      node, sizes, getShape(weight).drop_front(2), /*transposed=*/true);
  int64_t groups = window ? readGroups(node) : 0;
  if (groups == 0)
    return;
  SmallVector<int64_t> spatial = inferTransposed(node, sizes, *window);
  if (spatial.empty())
    return;
  SmallVector<int64_t> shape = {getShape(input)[0],
                                getShape(weight)[1] * groups};
  llvm::append_range(shape, spatial);
  Value result = node.create<ConvInputGradientOp>(
      input, weight, ArrayRef<int64_t>(window->strides),
      ArrayRef<int64_t>(window->dilations), ArrayRef<int64_t>(window->padding),
      groups, TypeAttr(), ArrayRef<int64_t>(shape));
  node.setOutput(0, addChannels(node, result, bias));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getLinearHandlers() {
  static const OpHandler handlers[] = {
      {"Conv", 1, importConv, 0, 3},
      {"ConvTranspose", 1, importConvTranspose, 0, 3},
      {"Gemm", 7, importGemm, 0, 3},
      {"MatMul", 1, importMatMul, 0, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
