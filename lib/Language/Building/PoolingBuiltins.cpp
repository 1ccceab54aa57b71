//===- PoolingBuiltins.cpp - Pooling --------------------------------------===//

#include "Building/BodyBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

namespace {
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, padding;
};
} // namespace

/// Reads the window of a pooling call. Returns nothing after an error, which
/// was reported.
static std::optional<Window> getWindow(BodyBuilder &body, BuiltinCall &call,
                                       Value x) {
  ArrayRef<int64_t> shape = getShape(x);
  int64_t spatial = shape.size() - 2;
  if (spatial > 3) {
    body.fail(call.getRange("x"),
              "pooling takes [batch, channels, 1 to 3 spatial axes], got " +
                  printShape(shape),
              "reshape(x, [batch, ...]) joins axes");
    return std::nullopt;
  }
  Window window;
  window.kernel = call.getIntegers("kernel", spatial, 1, 1, 65536);
  window.strides = window.kernel;
  if (call.has("stride"))
    window.strides = call.getIntegers("stride", spatial, 1, 1, 65536);
  window.padding = call.getIntegers("padding", spatial, 0, 0, 65536);
  window.dilations = SmallVector<int64_t>(spatial, 1);
  if (call.has("dilation"))
    window.dilations = call.getIntegers("dilation", spatial, 1, 1, 65536);
  if (call.hasFailed())
    return std::nullopt;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t padded = shape[i + 2] + 2 * window.padding[i];
    if (2 * window.padding[i] > window.kernel[i]) {
      body.fail(call.getRange("padding"),
                "padding of " + Twine(window.padding[i]) +
                    " is more than half of the kernel of " +
                    Twine(window.kernel[i]),
                "some windows would contain only padding");
      return std::nullopt;
    }
    if (extent > padded) {
      body.fail(call.getRange("kernel"),
                "a window over " + Twine(extent) +
                    " elements doesn't fit an axis of " + Twine(padded),
                "the input is " + printShape(shape));
      return std::nullopt;
    }
  }
  SmallVector<int64_t> low(window.padding);
  window.padding.append(low);
  return window;
}

static Value buildMaxPool(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 3);
  if (!x)
    return nullptr;
  std::optional<Window> window = getWindow(body, call, x);
  if (!window)
    return nullptr;
  return body.getTensors()
      .create<MaxPoolOp>(x, window->kernel, window->strides, window->dilations,
                         window->padding)
      .getResult();
}

static Value buildAveragePool(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 3);
  if (!x)
    return nullptr;
  std::optional<Window> window = getWindow(body, call, x);
  bool includePadding = call.getBool("include_padding", true);
  if (!window || call.hasFailed())
    return nullptr;
  SmallVector<int64_t> ceilPadding(window->kernel.size(), 0);
  return body.getTensors().create<AveragePoolOp>(
      x, window->kernel, window->strides, window->dilations, window->padding,
      ceilPadding, includePadding);
}

/// Builds the mean over the spatial axes, which remain as axes of length 1.
static Value buildGlobalAveragePool(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 3);
  if (!x)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(x);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, shape.size()));
  TensorBuilder &tensors = body.getTensors();
  Value mean =
      tensors.binary<DivOp>(tensors.reduce(ReduceKind::sum, x, axes),
                            static_cast<double>(countAlong(shape, axes)));
  SmallVector<int64_t> result(shape.size(), 1);
  result[0] = shape[0];
  result[1] = shape[1];
  return tensors.reshape(mean, result);
}

llvm::ArrayRef<Builtin> language::getPoolingBuiltins() {
  static constexpr ParameterSpec maxPool[] = {
      {"x", true}, {"kernel", true}, {"stride"}, {"padding"}, {"dilation"}};
  static constexpr ParameterSpec averagePool[] = {{"x", true},
                                                  {"kernel", true},
                                                  {"stride"},
                                                  {"padding"},
                                                  {"include_padding"}};
  static constexpr ParameterSpec global[] = {{"x", true}};
  static const Builtin builtins[] = {
      {"average_pool", averagePool, buildAveragePool},
      {"global_average_pool", global, buildGlobalAveragePool},
      {"max_pool", maxPool, buildMaxPool}};
  return builtins;
}
