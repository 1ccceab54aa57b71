//===- HftaGradientOps.td - Where gradients end or begin ---*- tablegen -*-===//
//
// Ops that stop gradients, and ops that compute their own gradient together
// with their result. They have their own header, HftaGradientOps.h, because few
// files need these ops: most passes only use their interfaces.
//===----------------------------------------------------------------------===//

#ifndef HFTA_GRADIENT_OPS
#define HFTA_GRADIENT_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

/// Ops whose results are constants for differentiation: no gradient flows back
/// through them, and ops that only depend on such results need no derivative.
def Hfta_DetachedTrait : Hfta_MarkerTrait<"DetachedTrait">;

/// An op that has its input's type, and its input's elements where it isn't
/// replaced by something else before there are tasks.
class Hfta_DetachedOp<string mnemonic> : Hfta_TensorOp<mnemonic, [
    Hfta_MovementTrait, Hfta_DetachedTrait,
    DeclareOpInterfaceMethods<Hfta_ElementwiseOpInterface>,
    DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>]> {
  let arguments = (ins Hfta_Tensor:$input);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(adaptor.getInput().getType());
      return ::mlir::success();
    }
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &, ::mlir::Location,
                                         ::mlir::ValueRange scalars) {
      return scalars.front();
    }
    ::llvm::SmallVector<::mlir::Value> $cppClass::decompose(
        ::mlir::OpBuilder &) {
      return {getInput()};
    }
  }];
}

def Hfta_StopGradientOp : Hfta_DetachedOp<"stop_gradient"> {
  let summary = "The input, through which no gradient flows back";
  let description = [{
    Its result counts as a constant when the model is differentiated, as that
    of PyTorch's `detach`. Other uses of the input keep their gradients. Once
    there are tasks, the op is replaced by its input.
    Example: `%1 = hfta.stop_gradient %0 : tensor<4xf32>`
  }];
}

def Hfta_AveragedOp : Hfta_DetachedOp<"averaged"> {
  let summary = "The running average of a parameter";
  let description = [{
    The input is read from a variable. If that is trained, the result is the
    running average of its values after each update (the job's `average`), and
    else the input. No gradient flows back through it. hfta-differentiate
    replaces the op by a read of the average's variable.
    Example: `%1 = hfta.averaged %0 : tensor<4xf32>`
  }];
}

def Hfta_CtcLossOp : Hfta_DifferentiableOp<"ctc_loss", [
    Hfta_AloneTrait, Hfta_SumTrait], ["getFlops"]> {
  let summary = "Negative logarithms of labels' probabilities, over all alignments";
  let description = [{
    Connectionist temporal classification (A. Graves et al., 2006). An alignment
    has a class for each step of a sequence. Its label is what remains when
    equal neighbours are joined and then the class `blank` is left out. The loss
    of a sequence is -log p, where p is the sum over all alignments to its label
    of the product of their classes' probabilities.

    `gradient` is the losses' gradient with respect to the logarithms of
    probabilities: minus the share of alignments that have the class in this
    step, weighted by their probabilities.

    A sequence has `input_lengths` steps, at least 1, or all if there is no such
    operand; its label has `label_lengths` elements. Lengths that are out of
    range count as the nearest one that isn't, and so do class numbers. Steps
    behind a sequence have no gradient. A label without an alignment has the
    loss infinity and the gradient NaN, or 0 for both with `zero_infinity`.

    Constraints:
    - (C1) `log_probabilities` has the shape [sequences, steps, classes], with at
      least one step and one class.
    - (C2) `labels` has the shape [sequences, elements], with at least one
      element.
    - (C3) `label_lengths` and `input_lengths` have one element a sequence.
    - (C4) `blank` is a class.

    Example:
    ```mlir
    %losses, %gradient = hfta.ctc_loss %x, %labels, %lengths, %steps {blank = 0 : i64}
        : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8xi64>, tensor<8xi64>
    ```
  }];
  let arguments = (ins Hfta_FloatTensor:$log_probabilities,
                       Hfta_IndexTensor:$labels, Hfta_IndexTensor:$label_lengths,
                       Optional<Hfta_IndexTensor>:$input_lengths,
                       I64Attr:$blank, UnitAttr:$zero_infinity);
  let results = (outs Hfta_FloatTensor:$losses, Hfta_FloatTensor:$gradient);
  let assemblyFormat = [{
    operands attr-dict `:` type(operands)
  }];
}

#endif // HFTA_GRADIENT_OPS
