//===- HftaElementwiseOps.td - Elementwise ops -------------*- tablegen -*-===//

#ifndef HFTA_ELEMENTWISE_OPS
#define HFTA_ELEMENTWISE_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

/// Ops on operands of equal logical shapes, element by element. Nothing is
/// broadcast implicitly.
class Hfta_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Hfta_TensorOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Hfta_ElementwiseOpInterface>])>;

class Hfta_UnaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : Hfta_ElementwiseOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>])> {
  let summary = formula # ", element by element";
  let description = "Example: `%1 = hfta." # mnemonic # " %0 : tensor<4xf32>`";
  let arguments = (ins Hfta_Tensor:$input);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Hfta_BinaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : Hfta_ElementwiseOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>])> {
  let summary = formula # ", element by element";
  let description = "Example: `%2 = hfta." # mnemonic #
                    " %0, %1 : tensor<4xf32>, tensor<4xf32>`";
  let arguments = (ins Hfta_Tensor:$lhs, Hfta_Tensor:$rhs);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Hfta_NegOp : Hfta_UnaryOp<"neg", "-x">;
def Hfta_AbsOp : Hfta_UnaryOp<"abs", "|x|">;
def Hfta_SignOp : Hfta_UnaryOp<"sign", "-1, 0 or 1">;
def Hfta_ExpOp : Hfta_UnaryOp<"exp", "e^x", [Hfta_CostlyTrait]>;
def Hfta_LogOp : Hfta_UnaryOp<"log", "natural logarithm", [Hfta_CostlyTrait]>;
def Hfta_Log1pOp : Hfta_UnaryOp<"log1p", "log(1 + x)", [Hfta_CostlyTrait]>;
def Hfta_SqrtOp : Hfta_UnaryOp<"sqrt", "square root", [Hfta_CostlyTrait]>;
def Hfta_RsqrtOp : Hfta_UnaryOp<"rsqrt", "1 / sqrt(x)", [Hfta_CostlyTrait]>;
def Hfta_TanhOp : Hfta_UnaryOp<"tanh", "hyperbolic tangent", [Hfta_CostlyTrait]>;
def Hfta_SigmoidOp : Hfta_UnaryOp<"sigmoid", "1 / (1 + e^-x)", [Hfta_CostlyTrait]>;
def Hfta_ErfOp : Hfta_UnaryOp<"erf", "error function", [Hfta_CostlyTrait]>;
def Hfta_ReluOp : Hfta_UnaryOp<"relu", "max(x, 0), NaN stays NaN">;
def Hfta_FloorOp : Hfta_UnaryOp<"floor", "largest integer not above x">;
def Hfta_CeilOp : Hfta_UnaryOp<"ceil", "smallest integer not below x">;
def Hfta_SinOp : Hfta_UnaryOp<"sin", "sine", [Hfta_CostlyTrait]>;
def Hfta_CosOp : Hfta_UnaryOp<"cos", "cosine", [Hfta_CostlyTrait]>;
def Hfta_AsinOp : Hfta_UnaryOp<"asin", "arc sine", [Hfta_CostlyTrait]>;
def Hfta_AcosOp : Hfta_UnaryOp<"acos", "arc cosine", [Hfta_CostlyTrait]>;
def Hfta_AtanOp : Hfta_UnaryOp<"atan", "arc tangent", [Hfta_CostlyTrait]>;
def Hfta_SoftplusOp : Hfta_UnaryOp<"softplus", "log(1 + e^x), without overflow", [Hfta_CostlyTrait]>;

def Hfta_AddOp : Hfta_BinaryOp<"add", "x + y", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>]>;
def Hfta_SubOp : Hfta_BinaryOp<"sub", "x - y">;
def Hfta_MulOp : Hfta_BinaryOp<"mul", "x * y", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>]>;
def Hfta_DivOp : Hfta_BinaryOp<"div", "x / y (integers: towards zero)">;
def Hfta_PowOp : Hfta_BinaryOp<"pow", "x^y", [Hfta_CostlyTrait]>;
def Hfta_RemainderOp : Hfta_BinaryOp<"remainder", "x - y * trunc(x / y), exactly", [Hfta_CostlyTrait]>;
def Hfta_MaxOp : Hfta_BinaryOp<"max", "larger one, NaN if either is">;
def Hfta_MinOp : Hfta_BinaryOp<"min", "smaller one, NaN if either is">;

class Hfta_LogicOp<string mnemonic, string formula>
    : Hfta_ElementwiseOp<mnemonic> {
  let summary = formula # ", element by element";
  let description = "Example: `%2 = hfta." # mnemonic #
                    " %0, %1 : tensor<4xi1>, tensor<4xi1>`";
  let arguments = (ins Hfta_BoolTensor:$lhs, Hfta_BoolTensor:$rhs);
  let results = (outs Hfta_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
def Hfta_AndOp : Hfta_LogicOp<"and", "x and y">;
def Hfta_OrOp : Hfta_LogicOp<"or", "x or y">;
def Hfta_XorOp : Hfta_LogicOp<"xor", "x exclusive-or y">;

def Hfta_CompareOp : Hfta_ElementwiseOp<"compare"> {
  let summary = "Comparison, element by element";
  let description = [{
    Ordered comparisons of floats: false if either is NaN, except `not_equal`.
    Example: `%2 = hfta.compare less, %0, %1 : tensor<4xf32>, tensor<4xf32>`
  }];
  let arguments = (ins Hfta_ComparePredicateAttr:$predicate, Hfta_Tensor:$lhs,
                       Hfta_Tensor:$rhs);
  let results = (outs Hfta_BoolTensor:$result);
  let assemblyFormat = [{
    $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)
  }];
}

def Hfta_SelectOp : Hfta_ElementwiseOp<"select", [
    DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>]> {
  let summary = "x where the condition holds, else y";
  let description = [{
    Example: `%3 = hfta.select %c, %0, %1 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>`
  }];
  let arguments = (ins Hfta_BoolTensor:$condition, Hfta_Tensor:$on_true,
                       Hfta_Tensor:$on_false);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,`
    type($on_true) `,` type($on_false)
  }];
}

def Hfta_CastOp : Hfta_ElementwiseOp<"cast", [
    Hfta_MovementTrait, DeclareOpInterfaceMethods<Hfta_LayerOpInterface>,
    DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>]> {
  let summary = "Converts to another element type";
  let description = [{
    Floats to integers truncate towards zero; anything but zero becomes true.
    Unsigned and signed integer types are storage only: cast them first.
    Example: `%1 = hfta.cast %0 : tensor<4xui8> to f32`
  }];
  let arguments = (ins Hfta_Tensor:$input, TypeAttr:$element_type);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` $element_type";
  let hasFolder = 1;
}

def Hfta_RoundToTf32Op : Hfta_ElementwiseOp<"round_to_tf32", [
    Hfta_MovementTrait]> {
  let summary = "Rounds f32 to TF32, with 10 bits of fraction, which tensor cores multiply";
  let description = [{
    Rounds to the nearest such number, ties away from zero; a NaN stays one.
    Example: `%1 = hfta.round_to_tf32 %0 : tensor<4xf32>`
  }];
  let arguments = (ins Hfta_FloatTensor:$input);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// Pairs of bf16
//===----------------------------------------------------------------------===//

// A pair is an i32 that holds two bf16. Processors with AVX512-BF16 multiply
// the pairs of two vectors by one instruction, twice as fast as f32. The pairs
// of a sum of products are made along an axis over which it adds.

def Hfta_F32Tensor : StaticShapeTensorOf<[F32]>;
def Hfta_PairTensor : StaticShapeTensorOf<[I32]>;

def Hfta_PairFactorsOp : Hfta_TensorOp<"pair_factors"> {
  let summary = "Rounds to bf16, and packs the two halves of an axis as pairs";
  let description = [{
    The axis, of size n, becomes one of h = ceil(n / 2) pairs. Pair i has element
    i in its lower 16 bits and element i + h in its upper 16 bits, or zero if
    there is no such element. So a pair's two elements lie in two slices, and
    pairs along any axis are packed by vectors along the last one.
    Example: `%1 = hfta.pair_factors %0 along 1 : tensor<8x64xf32>` is a tensor<8x32xi32>
  }];
  let arguments = (ins Hfta_F32Tensor:$input, I64Attr:$axis);
  let results = (outs Hfta_PairTensor:$result);
  let assemblyFormat = "$input `along` $axis attr-dict `:` type($input)";
}

def Hfta_MultiplyPairsOp : Hfta_Op<"multiply_pairs", !listconcat(
    ElementwiseMappable.traits,
    [Pure, AllTypesMatch<["lhs", "rhs"]>, AllTypesMatch<["sum", "result"]>])> {
  let summary = "Adds the products of two pairs of bf16 to a sum in f32";
  let description = [{
    The op of a scalar, or of the lanes of vectors, in the body of a sum of
    products. With `fma`, where x.high is the upper element of x:

        result = fma(lhs.low, rhs.low, fma(lhs.high, rhs.high, sum))

    Each fma rounds to nearest, ties to even; denormal operands and results are
    zeros. This is what the instruction `vdpbf16ps` does.
    Example: `%1 = hfta.multiply_pairs %a, %b to %0 : i32, f32`
  }];
  let arguments = (ins AnyTypeOf<[I32, VectorOfNonZeroRankOf<[I32]>]>:$lhs,
                       AnyTypeOf<[I32, VectorOfNonZeroRankOf<[I32]>]>:$rhs,
                       AnyTypeOf<[F32, VectorOfNonZeroRankOf<[F32]>]>:$sum);
  let results = (outs AnyTypeOf<[F32, VectorOfNonZeroRankOf<[F32]>]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `to` $sum attr-dict `:` type($lhs) `,` type($sum)
  }];
}

#endif // HFTA_ELEMENTWISE_OPS
