//===- CutTaps.cpp - Remove taps that multiply only padding ---------------===//
//
// If an image is no larger than a convolution's window, taps at the window's
// ends may multiply only padding, at every position: 8 of the 9 taps of a 3 x 3
// window around an image of one pixel. As their products are zero, this pass
// removes such taps.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Transforms/Passes.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTACUTTAPS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// One spatial axis of a convolution.
struct Axis {
  int64_t input, output, taps, stride, dilation, low, high;

  /// Whether the tap reads an element of the input at some position.
  bool meetsInput(int64_t tap) const {
    for (int64_t position = 0; position < output; ++position) {
      int64_t index = position * stride + tap * dilation - low;
      if (index >= 0 && index < input)
        return true;
    }
    return false;
  }
};

/// The remaining taps of an axis, `taps` from number `first` on, and the
/// padding that they need.
struct CutAxis {
  int64_t first, taps, low, high;
};
} // namespace

/// Removes taps that multiply only padding from both ends of an axis. At least
/// one tap remains, and no padding becomes negative.
static CutAxis cut(const Axis &axis) {
  CutAxis cut = {0, axis.taps, axis.low, axis.high};
  while (cut.taps > 1 && !axis.meetsInput(cut.first) &&
         cut.low >= axis.dilation) {
    ++cut.first;
    --cut.taps;
    cut.low -= axis.dilation;
  }
  while (cut.taps > 1 && !axis.meetsInput(cut.first + cut.taps - 1) &&
         cut.high >= axis.dilation) {
    --cut.taps;
    cut.high -= axis.dilation;
  }
  return cut;
}

/// Removes such taps from a convolution or the gradient of its input. `input`
/// and `output` are the shapes of the convolution's input and output.
template <typename OpTy>
static void cutTaps(OpTy op, ArrayRef<int64_t> input,
                    ArrayRef<int64_t> output) {
  ArrayRef<int64_t> weight = getShape(op.getWeight());
  size_t axes = weight.size() - 2;
  SmallVector<int64_t> offsets(weight.size(), 0), sizes(weight);
  SmallVector<int64_t> padding(op.getPadding());
  for (size_t axis = 0; axis < axes; ++axis) {
    CutAxis own = cut({input[2 + axis], output[2 + axis], weight[2 + axis],
                       op.getStrides()[axis], op.getDilations()[axis],
                       padding[axis], padding[axes + axis]});
    offsets[2 + axis] = own.first;
    sizes[2 + axis] = own.taps;
    padding[axis] = own.low;
    padding[axes + axis] = own.high;
  }
  if (ArrayRef<int64_t>(sizes) == weight)
    return;
  OpBuilder builder(op);
  op.getWeightMutable().assign(
      SliceOp::create(builder, op.getLoc(), op.getWeight(), offsets, sizes,
                      SmallVector<int64_t>(weight.size(), 1)));
  op.setPadding(padding);
}

namespace {
struct CutTapsPass : hfta::impl::HftaCutTapsBase<CutTapsPass> {
  using HftaCutTapsBase::HftaCutTapsBase;

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto conv = dyn_cast<ConvOp>(op))
        cutTaps(conv, getShape(conv.getInput()), getShape(conv.getResult()));
      else if (auto gradient = dyn_cast<ConvInputGradientOp>(op))
        cutTaps(gradient, gradient.getInputShape(),
                getShape(gradient.getGradient()));
    });
  }
};
} // namespace
