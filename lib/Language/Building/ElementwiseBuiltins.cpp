//===- ElementwiseBuiltins.cpp - Elementwise functions --------------------===//

#include "Building/BodyBuilder.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

template <typename OpTy>
static Value buildUnary(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x");
  if (!x)
    return nullptr;
  return body.getTensors().unary<OpTy>(x);
}

template <typename OpTy>
static Value buildSoftmax(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 2);
  if (!x)
    return nullptr;
  int64_t axis = call.getAxis("axis", getTensorType(x).getRank(), -1);
  if (call.hasFailed())
    return nullptr;
  return body.getTensors().create<OpTy>(x, axis)->getResult(0);
}

/// Builds the value x where x > 0, else slope * x.
static Value buildLeakyRelu(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x");
  double slope = call.getNumber("slope", 0.01);
  if (call.hasFailed())
    return nullptr;
  TensorBuilder &tensors = body.getTensors();
  Value isPositive = tensors.compare(ComparePredicate::greater, x, 0);
  return tensors.select(isPositive, x, tensors.binary<MulOp>(x, slope));
}

/// Builds the value x where x > 0, else alpha * (e^x - 1). Positive x are
/// replaced by 0 before the exponential, which otherwise could overflow and
/// make the derivative NaN.
static Value buildElu(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x");
  double alpha = call.getNumber("alpha", 1);
  if (call.hasFailed())
    return nullptr;
  TensorBuilder &tensors = body.getTensors();
  Value isPositive = tensors.compare(ComparePredicate::greater, x, 0);
  Value negative = tensors.select(isPositive, tensors.splatLike(x, 0), x);
  Value below = tensors.binary<MulOp>(
      tensors.binary<SubOp>(tensors.unary<ExpOp>(negative), 1), alpha);
  return tensors.select(isPositive, x, below);
}

/// Builds x * Phi(x), with the error function or its approximation by tanh (D.
/// Hendrycks, K. Gimpel, "Gaussian error linear units", arXiv 1606.08415).
static Value buildGelu(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x");
  bool approximate = call.getBool("approximate", false);
  if (call.hasFailed())
    return nullptr;
  TensorBuilder &tensors = body.getTensors();
  Value share;
  if (approximate) {
    Value cube = tensors.binary<MulOp>(tensors.binary<MulOp>(x, x), x);
    Value inner =
        tensors.binary<AddOp>(x, tensors.binary<MulOp>(cube, 0.044715));
    share = tensors.unary<TanhOp>(
        tensors.binary<MulOp>(inner, 0.7978845608028654)); // sqrt(2 / pi)
  } else {
    share = tensors.unary<ErfOp>(
        tensors.binary<MulOp>(x, 0.7071067811865476)); // 1 / sqrt(2)
  }
  Value half = tensors.binary<MulOp>(x, 0.5);
  return tensors.binary<MulOp>(half, tensors.binary<AddOp>(share, 1));
}

llvm::ArrayRef<Builtin> language::getElementwiseBuiltins() {
  static constexpr ParameterSpec x[] = {{"x", true}};
  static constexpr ParameterSpec softmax[] = {{"x", true}, {"axis"}};
  static constexpr ParameterSpec leakyRelu[] = {{"x", true}, {"slope"}};
  static constexpr ParameterSpec elu[] = {{"x", true}, {"alpha"}};
  static constexpr ParameterSpec gelu[] = {{"x", true}, {"approximate"}};
  static const Builtin builtins[] = {
      {"abs", x, buildUnary<AbsOp>},
      {"elu", elu, buildElu},
      {"exp", x, buildUnary<ExpOp>},
      {"gelu", gelu, buildGelu},
      {"leaky_relu", leakyRelu, buildLeakyRelu},
      {"log", x, buildUnary<LogOp>},
      {"log_softmax", softmax, buildSoftmax<LogSoftmaxOp>},
      {"relu", x, buildUnary<ReluOp>},
      {"sigmoid", x, buildUnary<SigmoidOp>},
      {"softmax", softmax, buildSoftmax<SoftmaxOp>},
      {"sqrt", x, buildUnary<SqrtOp>},
      {"stop", x, buildUnary<StopGradientOp>},
      {"stop_gradient", x, buildUnary<StopGradientOp>},
      {"tanh", x, buildUnary<TanhOp>}};
  return builtins;
}
