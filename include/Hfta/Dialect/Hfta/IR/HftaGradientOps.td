//===- HftaGradientOps.td - Where gradients end ------------*- tablegen -*-===//
//
// These ops have headers of their own (HftaGradientOps.h), as few files know
// them: most passes see what the interfaces say.
//===----------------------------------------------------------------------===//

#ifndef HFTA_GRADIENT_OPS
#define HFTA_GRADIENT_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

/// The ops whose results count as constants for derivatives: no gradient passes
/// through them, and what depends on them alone needs no derivative.
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
