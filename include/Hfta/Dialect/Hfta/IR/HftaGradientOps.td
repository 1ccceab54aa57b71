//===- HftaGradientOps.td - Where gradients end ------------*- tablegen -*-===//
//
// Ops that stop gradients. They have their own header, HftaGradientOps.h,
// because few files need these ops: most passes only use their interfaces.
//===----------------------------------------------------------------------===//

#ifndef HFTA_GRADIENT_OPS
#define HFTA_GRADIENT_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

/// Ops whose results are constants for differentiation: no gradient flows back
/// through them, and ops that only depend on such results need no derivative.
def Hfta_DetachedTrait : Hfta_MarkerTrait<"DetachedTrait">;

def Hfta_StopGradientOp : Hfta_TensorOp<"stop_gradient", [
    Hfta_MovementTrait, Hfta_DetachedTrait,
    DeclareOpInterfaceMethods<Hfta_ElementwiseOpInterface>,
    DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>]> {
  let summary = "The input, through which no gradient flows back";
  let description = [{
    Its result counts as a constant when the model is differentiated, as that
    of PyTorch's `detach`. Other uses of the input keep their gradients. Once
    there are tasks, the op is replaced by its input.
    Example: `%1 = hfta.stop_gradient %0 : tensor<4xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // HFTA_GRADIENT_OPS
