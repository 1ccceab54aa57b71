//===- RebuiltGradients.cpp - Weight gradients computed from layers -------===//

#include "RebuiltGradients.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

using namespace mlir;
using namespace mlir::hfta;

static SmallVector<int64_t> countUpTo(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

namespace {
class Rebuilder {
public:
  Rebuilder(OpBuilder &builder, LayerOp layer)
      : builder(builder), layer(layer), loc(layer.getLoc()),
        input(layer.getInput()), gradient(layer.getOutputGradient()),
        shape(getShape(layer.getWeightGradient())) {}

  Value build() {
    switch (layer.getKind()) {
    case LayerKind::dense:
      return ContractOp::create(builder, loc, input, gradient,
                                *layer.getIndexingMaps(), TypeAttr());
    case LayerKind::convolution:
      return convolve(input, gradient);
    case LayerKind::transposed_convolution:
      return convolve(gradient, input);
    case LayerKind::embedding:
      return lookUp();
    case LayerKind::norm:
      return scale();
    case LayerKind::other:
      return Value();
    }
    llvm_unreachable("a kind of layer");
  }

  Value sum(ArrayRef<int64_t> axes, Value value) {
    return ReduceOp::create(builder, loc, ReduceKind::sum, value, axes,
                            TypeAttr());
  }

private:
  Value reshape(Value value, ArrayRef<int64_t> to) {
    return ReshapeOp::create(builder, loc, value, to);
  }

  /// Computes a convolution's weight gradient. `large` has one window for each
  /// element of `small`: the input and the output gradient, or vice versa in a
  /// transposed convolution. Each tap of the kernel is computed on its own, so
  /// that no code is shared with the ops that compute gradients.
  Value convolve(Value large, Value small) {
    ArrayRef<int64_t> kernel = shape.drop_front(2);
    int64_t taps = 1;
    for (int64_t size : kernel)
      taps *= size;
    Value padded = pad(large);
    SmallVector<Value> parts;
    for (int64_t tap = 0; tap < taps; ++tap)
      parts.push_back(
          reshape(multiplyGroups(pickTap(padded, kernel, tap, small), small),
                  {shape[0], shape[1], 1}));
    return reshape(ConcatOp::create(builder, loc, parts, 2), shape);
  }

  /// Pads the spatial axes with zeros, as the layer's padding says.
  Value pad(Value large) {
    ArrayRef<int64_t> padding = *layer.getPadding();
    size_t axes = padding.size() / 2;
    SmallVector<int64_t> low(2, 0), high(2, 0), none(2 + axes, 0);
    for (size_t axis = 0; axis < axes; ++axis) {
      low.push_back(padding[axis]);
      high.push_back(padding[axes + axis]);
    }
    return PadOp::create(builder, loc, large, low, high, none,
                         builder.getFloatAttr(getElementType(large), 0.0));
  }

  /// Returns each window's element at one tap. The result has the shape of
  /// `small`, but the channels of `padded`.
  Value pickTap(Value padded, ArrayRef<int64_t> kernel, int64_t tap,
                Value small) {
    SmallVector<int64_t> offsets(2, 0), strides(2, 1);
    SmallVector<int64_t> sizes(getShape(padded).take_front(2));
    SmallVector<int64_t> places(kernel.size());
    for (size_t axis = kernel.size(); axis-- > 0; tap /= kernel[axis])
      places[axis] = tap % kernel[axis];
    for (size_t axis = 0; axis < kernel.size(); ++axis) {
      offsets.push_back(places[axis] * (*layer.getDilations())[axis]);
      sizes.push_back(getShape(small)[2 + axis]);
      strides.push_back((*layer.getStrides())[axis]);
    }
    return SliceOp::create(builder, loc, padded, offsets, sizes, strides);
  }

  /// Reshapes [n, c, space…] to [n, group, channel of the group, position].
  Value split(Value value) {
    ArrayRef<int64_t> from = getShape(value);
    int64_t positions = 1, groups = layer.getGroups();
    for (int64_t size : from.drop_front(2))
      positions *= size;
    return reshape(value, {from[0], groups, from[1] / groups, positions});
  }

  /// Multiplies the channels of `small` by those of `patch`, group by group,
  /// and sums over samples and positions.
  Value multiplyGroups(Value patch, Value small) {
    AffineExpr n, g, p, s, c;
    bindDims(builder.getContext(), n, g, p, s, c);
    auto map = [&](ArrayRef<AffineExpr> results) {
      return AffineMap::get(5, 0, results, builder.getContext());
    };
    return ContractOp::create(
        builder, loc, split(small), split(patch),
        builder.getAffineMapArrayAttr(
            {map({n, g, s, p}), map({n, g, c, p}), map({g, s, c})}),
        TypeAttr());
  }

  /// Computes an embedding's gradient: the one-hot matrix of the indices,
  /// transposed, times the output gradients.
  Value lookUp() {
    int64_t rows = shape[0], width = shape[1];
    int64_t lookups = getLogicalType(input.getType()).getNumElements();
    Type type = getElementType(input);
    Value asked = BroadcastOp::create(builder, loc, reshape(input, {lookups}),
                                      ArrayRef<int64_t>{lookups, rows},
                                      ArrayRef<int64_t>{0});
    Value numbers =
        IotaOp::create(builder, loc, ArrayRef<int64_t>{lookups, rows}, 1, type);
    Value isRow = CompareOp::create(builder, loc, ComparePredicate::equal,
                                    asked, numbers);
    Value ones = CastOp::create(builder, loc, isRow, getElementType(gradient));
    AffineExpr l, r, w;
    bindDims(builder.getContext(), l, r, w);
    auto map = [&](ArrayRef<AffineExpr> results) {
      return AffineMap::get(3, 0, results, builder.getContext());
    };
    return ContractOp::create(
        builder, loc, ones, reshape(gradient, {lookups, width}),
        builder.getAffineMapArrayAttr({map({l, r}), map({l, w}), map({r, w})}),
        TypeAttr());
  }

  /// Computes the gradient of a normalization's scale: output gradient times
  /// input, summed over all axes that the scale lacks.
  Value scale() {
    Value product = MulOp::create(builder, loc, gradient, input);
    if (getShape(product) == shape)
      return product;
    SmallVector<int64_t> axes = countUpTo(getShape(product).size());
    axes.erase(axes.begin() + 1);
    return sum(axes, product);
  }

  OpBuilder &builder;
  LayerOp layer;
  Location loc;
  Value input, gradient;
  ArrayRef<int64_t> shape;
};
} // namespace

Value hfta::rebuildWeightGradient(OpBuilder &builder, LayerOp layer) {
  return Rebuilder(builder, layer).build();
}

Value hfta::sumOutputGradients(OpBuilder &builder, LayerOp layer) {
  SmallVector<int64_t> rows =
      countUpTo(getShape(layer.getOutputGradient()).size());
  if (layer.getKind() == LayerKind::dense) {
    auto maps = layer.getIndexingMaps()->getAsValueRange<AffineMapAttr>();
    SmallVector<AffineMap> list(maps.begin(), maps.end());
    llvm::erase_if(rows, [&](int64_t axis) {
      return llvm::is_contained(list[2].getResults(), list[1].getResult(axis));
    });
  } else {
    rows.erase(rows.begin() + 1);
  }
  Value sum = ReduceOp::create(builder, layer.getLoc(), ReduceKind::sum,
                               layer.getOutputGradient(), rows, TypeAttr());
  int64_t count = getLogicalType(sum.getType()).getNumElements();
  return ReshapeOp::create(builder, layer.getLoc(), sum,
                           ArrayRef<int64_t>{count});
}
