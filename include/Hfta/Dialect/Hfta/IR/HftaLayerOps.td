//===- HftaLayerOps.td - Contraction, convolution, pooling -*- tablegen -*-===//

#ifndef HFTA_LAYER_OPS
#define HFTA_LAYER_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

def Hfta_ContractOp : Hfta_DifferentiableOp<"contract", [
    Hfta_ProducerTrait, Hfta_SumTrait, Hfta_ProductTrait,
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Sum of products over the axes that the result lacks";
  let description = [{
    `indexing_maps` are projected permutations of lhs, rhs and result over one
    iteration space; each axis of the space stands in at least two of the
    three, or in the result. Products are summed with fused multiply-add in
    `accumulate`'s precision (the operands' by default), in the order that
    `#hfta.sum_order` says in phase `linalg`; one copy's shapes and layouts
    decide it.

    Example (x · wᵀ):
    ```mlir
    %2 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<64x784xf32>, tensor<10x784xf32>
    ```
  }];
  let arguments = (ins Hfta_FactorTensor:$lhs, Hfta_FactorTensor:$rhs,
                       AffineMapArrayAttr:$indexing_maps,
                       OptionalAttr<TypeAttr>:$accumulate);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `maps` $indexing_maps attr-dict `:` type($lhs) `,` type($rhs)
  }];
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Convolutions. The shapes are [batch, channels, spatial…] for the input,
/// [outputs, channels / groups, spatial…] for the weight and [batch, outputs,
/// spatial…] for the result. `padding` lists the amounts at the low ends of all
/// spatial axes, then those at the high ends.
class Hfta_ConvolutionOp<string mnemonic, list<Trait> traits = []>
    : Hfta_DifferentiableOp<mnemonic, !listconcat(traits, [
        Hfta_ProducerTrait, Hfta_SumTrait, Hfta_ProductTrait,
        DeclareOpInterfaceMethods<Hfta_ActivationOpInterface>]), ["getFlops"]> {
  dag window = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                    DenseI64ArrayAttr:$padding, I64Attr:$groups,
                    OptionalAttr<TypeAttr>:$accumulate);
  let results = (outs Hfta_FloatTensor:$result);
}

def Hfta_ConvOp : Hfta_ConvolutionOp<"conv", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>]> {
  let summary = "Convolution (cross-correlation) in 1 to 3 dimensions";
  let description = [{
    Example:
    ```mlir
    %2 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
        : tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>
    ```
  }];
  let arguments = !con((ins Hfta_FactorTensor:$input, Hfta_FactorTensor:$weight), window);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($input) `,` type($weight)";
}

def Hfta_ConvInputGradientOp : Hfta_ConvolutionOp<"conv_input_gradient", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>]> {
  let summary = "Gradient of a convolution's input; also transposed convolution";
  let description = [{
    `input_shape` is the logical shape of the convolution's input.
    Example: `%2 = hfta.conv_input_gradient %g, %w {input_shape = …} : …`
  }];
  let arguments = !con((ins Hfta_FactorTensor:$gradient, Hfta_FactorTensor:$weight),
                       window, (ins DenseI64ArrayAttr:$input_shape));
  let assemblyFormat = "$gradient `,` $weight attr-dict `:` type($gradient) `,` type($weight)";
}

def Hfta_ConvWeightGradientOp : Hfta_ConvolutionOp<"conv_weight_gradient"> {
  let summary = "Gradient of a convolution's weight";
  let description = [{
    The sum over batch and space, in the order that `#hfta.sum_order` says in
    phase `linalg`; one copy's shapes, the operands' layout and the accumulation
    type decide it. `weight_shape` is the weight's logical shape. With
    `batch_parts` the sum is cut into that number of parts, of equally many
    neighbouring samples, and the result has a first axis for the parts.
    Example: `%2 = hfta.conv_weight_gradient %x, %g {weight_shape = …} : …`
  }];
  let arguments = !con((ins Hfta_FactorTensor:$input, Hfta_FactorTensor:$gradient),
                       window, (ins DenseI64ArrayAttr:$weight_shape,
                                    OptionalAttr<I64Attr>:$batch_parts));
  let assemblyFormat = "$input `,` $gradient attr-dict `:` type($input) `,` type($gradient)";
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Poolings. `kernel`, `strides` and `dilations` have one entry for each
/// spatial axis. `padding` lists the amounts at the low ends of all spatial
/// axes, then those at the high ends. Pooling with ceil_mode is expressed by
/// more padding at the high ends.
class Hfta_PoolingOp<string mnemonic, list<Trait> traits = []>
    : Hfta_DifferentiableOp<mnemonic, !listconcat(traits, [
        Hfta_SumTrait,
        DeclareOpInterfaceMethods<Hfta_ActivationOpInterface>]), ["getFlops"]>;

def Hfta_MaxPoolOp : Hfta_PoolingOp<"max_pool"> {
  let summary = "Maximum of each window, and its position";
  let description = [{
    `indices` are flat row-major positions in the input's spatial plane, the
    first maximum in row-major order; a NaN wins. Padding is never chosen.
    Example: `%v, %i = hfta.max_pool %x {kernel = …} : tensor<8x16x28x28xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding);
  let results = (outs Hfta_Tensor:$result, Hfta_IndexTensor:$indices);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasCanonicalizer = 1;
}

def Hfta_MaxPoolGradientOp : Hfta_PoolingOp<"max_pool_gradient", [
    Hfta_ProducerTrait]> {
  let summary = "Adds each window's gradient at the position of its maximum";
  let description = [{
    Windows are taken in row-major order.
    Example: `%2 = hfta.max_pool_gradient %g, %i {input_shape = …} : …`
  }];
  let arguments = (ins Hfta_FloatTensor:$gradient, Hfta_IndexTensor:$indices,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DenseI64ArrayAttr:$input_shape);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$gradient `,` $indices attr-dict `:` type($gradient) `,` type($indices)";
}

def Hfta_AveragePoolOp : Hfta_PoolingOp<"average_pool", [
    Hfta_ProducerTrait]> {
  let summary = "Mean of each window";
  let description = [{
    The sum of a window is divided by the number of its elements that lie in the
    input or, with `include_padding`, by the number of those that lie in the
    input or in `padding` less `ceil_padding` (elements added by ceil mode never
    count).
    Example: `%1 = hfta.average_pool %x {kernel = …} : tensor<8x16x28x28xf32>`
  }];
  let arguments = (ins Hfta_FloatTensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$ceil_padding,
                       UnitAttr:$include_padding);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Hfta_AveragePoolGradientOp : Hfta_PoolingOp<"average_pool_gradient", [
    Hfta_ProducerTrait]> {
  let summary = "Gradient of average_pool's input";
  let description = [{
    Example: `%1 = hfta.average_pool_gradient %g {input_shape = …} : …`
  }];
  let arguments = (ins Hfta_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$ceil_padding,
                       UnitAttr:$include_padding, DenseI64ArrayAttr:$input_shape);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$gradient attr-dict `:` type($gradient)";
}

//===----------------------------------------------------------------------===//
// Normalization and softmax
//===----------------------------------------------------------------------===//

class Hfta_SoftmaxLikeOp<string mnemonic, string formula>
    : Hfta_DifferentiableOp<mnemonic, [
        Hfta_SumTrait,
        DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>], ["getFlops"]> {
  let summary = formula # " along an axis";
  let arguments = (ins Hfta_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$input `along` $axis attr-dict `:` type($input)";
}

def Hfta_SoftmaxOp : Hfta_SoftmaxLikeOp<"softmax", "e^(x - max) / sum"> {
  let description = "Example: `%1 = hfta.softmax %0 along 1 : tensor<64x10xf32>`";
}

def Hfta_LogSoftmaxOp : Hfta_SoftmaxLikeOp<"log_softmax", "x - log(sum(e^x))"> {
  let description = [{
    Computes (x - m) - s, where `maximum` m is the largest x along the axis and
    `log_sum` s is log(sum(e^(x - m))); both lack the axis. The derivative
    computes the result again from them and the input, so that the result of a
    model with very many classes isn't stored if its loss needs few elements.
    Example: `%1, %m, %s = hfta.log_softmax %0 along 1 : tensor<64x10xf32>`
  }];
  let results = (outs Hfta_FloatTensor:$result, Hfta_FloatTensor:$maximum,
                      Hfta_FloatTensor:$log_sum);
}

def Hfta_BatchNormOp : Hfta_DifferentiableOp<"batch_norm", [
    Hfta_SumTrait,
    DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>,
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface, ["buildLayerInput"]>,
    DeclareOpInterfaceMethods<Hfta_ModalOpInterface, ["separateStatistics"]>,
    AttrSizedOperandSegments], ["getFlops"]> {
  let summary = "Normalization over all axes but axis 1 (channels)";
  let description = [{
    With `training`, normalizes with the batch's mean and (population)
    variance, and returns `running * momentum + batch * (1 - momentum)` as new
    running statistics, the batch's variance scaled by n / (n - 1) if
    `unbiased`. Without `training`, normalizes with the running statistics and
    returns them. An op without running statistics always normalizes with the
    batch's, and returns these as new running statistics. `saved_mean` and
    `saved_inverse_deviation` are the mean and the inverse standard deviation
    that it normalized with.

    C1: there are both running statistics or none.
    Example: `%y, %m, %v, %sm, %sd = hfta.batch_norm %x, %scale, %bias, %mean, %variance {…} : …`
  }];
  let arguments = (ins Hfta_FloatTensor:$input, Hfta_FloatTensor:$scale,
                       Hfta_FloatTensor:$bias,
                       Optional<Hfta_FloatTensor>:$running_mean,
                       Optional<Hfta_FloatTensor>:$running_variance, F64Attr:$epsilon,
                       F64Attr:$momentum, UnitAttr:$unbiased, UnitAttr:$training);
  let results = (outs Hfta_FloatTensor:$result, Hfta_FloatTensor:$new_mean,
                      Hfta_FloatTensor:$new_variance, Hfta_FloatTensor:$saved_mean,
                      Hfta_FloatTensor:$saved_inverse_deviation);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias (`,` $running_mean^ `,` $running_variance)? attr-dict
    `:` type(operands)
  }];
}

//===----------------------------------------------------------------------===//
// Randomness and dropout
//===----------------------------------------------------------------------===//

def Hfta_RandomUniformOp : Hfta_TensorOp<"random_uniform", [
    Hfta_MovementTrait, Hfta_RepeatedTrait]> {
  let summary = "Uniform numbers in [0, 1), a function of their keys alone";
  let description = [{
    Philox4x32-10. The key is (low word of `seed`, a scalar a copy; its high
    word exclusive-or `stream`'s high word), the counter the low words of: the
    logical element's row-major index within the sample; the sample's position
    in the global batch (`first_sample` plus the index along axis 0 if
    `per_sample`, else 0); `step`; `stream`. With `per_sample`, `step` and
    `first_sample` may also have one axis, axis 0: then these are the numbers of
    each sample themselves. Source: Salmon et al., "Parallel random numbers: as
    easy as 1, 2, 3", SC 2011.
    Example: `%u = hfta.random_uniform %seed, %step, %first [64, 10] stream 7 {per_sample} : f32, …`
  }];
  let arguments = (ins Hfta_Tensor:$seed, Hfta_Tensor:$step,
                       Hfta_Tensor:$first_sample, DenseI64ArrayAttr:$shape,
                       I64Attr:$stream, UnitAttr:$per_sample, TypeAttr:$element_type);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = [{
    $seed `,` $step `,` $first_sample $shape `stream` $stream attr-dict `:`
    $element_type `,` type(operands)
  }];
}

def Hfta_DropoutOp : Hfta_DifferentiableOp<"dropout", [
    DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>,
    DeclareOpInterfaceMethods<Hfta_ModalOpInterface, ["getIdleResults"]>], ["getFlops"]> {
  let summary = "Zero with probability `rate`, else input / (1 - rate)";
  let description = [{
    `rate` is a scalar, `random` uniform numbers of the input's shape: an
    element is dropped where random < rate. Without `training`: the input.
    Example: `%1 = hfta.dropout %x, %rate, %u {training} : tensor<64x10xf32>, tensor<f32>, tensor<64x10xf32>`
  }];
  let arguments = (ins Hfta_FloatTensor:$input, Hfta_FloatTensor:$rate,
                       Hfta_FloatTensor:$random, UnitAttr:$training);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$input `,` $rate `,` $random attr-dict `:` type(operands)";
}

def Hfta_ByModeOp : Hfta_TensorOp<"by_mode", [], ["getFlops"]> {
  let summary = "One value in training, another one in inference";
  let description = [{
    Both operands have one type. A task has one mode, so no task holds this op:
    where a model's function becomes a part of a task, the operand for its mode
    takes the op's place.
    Example: `%1 = hfta.by_mode %augmented, %plain : tensor<8x3x32x32xf32>, tensor<8x3x32x32xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$in_training, Hfta_Tensor:$in_inference);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $in_training `,` $in_inference attr-dict `:` type($in_training) `,`
    type($in_inference)
  }];
}

//===----------------------------------------------------------------------===//
// Optimizer updates
//===----------------------------------------------------------------------===//

def Hfta_OptimizerUpdateOp : Hfta_TensorOp<"optimizer_update", [
    DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>], ["getFlops"]> {
  let summary = "One step of a parameter";
  let description = [{
    The optimizer's record (`Optimizers.cpp`) defines the computation and its
    operands: after the parameter and its gradient come the states, then scalars
    of rank 0: the step's rate, the other parameters in order, and for some the
    number of steps done. `given` names the flags that hold and the optional
    parameters that have a value. `output_axes` are the axes of the parameter
    that number the outputs of its layer, for updates that take it as a matrix
    with a row for each output; without them this is the first axis. Results are
    the new parameter and states.

    C1: the optimizer is known. C2: what is given are options of it. C3: there
    are as many operands as its record says. C4: the gradient has the parameter's
    shape, states have those of their records, scalars rank 0. C5: the output
    axes are axes of the parameter, ascending.
    Example: `%p1, %v1 = hfta.optimizer_update "sgd" given ["nesterov"] %p, %g, %v, %rate, %momentum, %decay : …`
  }];
  let arguments = (ins StrAttr:$optimizer, StrArrayAttr:$given,
                       OptionalAttr<DenseI64ArrayAttr>:$output_axes,
                       Variadic<Hfta_Tensor>:$inputs);
  let results = (outs Variadic<Hfta_FloatTensor>:$outputs);
  let assemblyFormat = [{
    $optimizer `given` $given (`outputs` $output_axes^)? $inputs attr-dict `:`
    type($inputs)
  }];
  let extraClassDeclaration = [{
    const ::mlir::hfta::OptimizerInfo &getInfo();
    ::llvm::SmallVector<::llvm::StringRef> getGivenOptions();
    ::mlir::Value getParameter() { return getInputs()[0]; }
    ::mlir::Value getGradient() { return getInputs()[1]; }
    ::mlir::OperandRange getStates();
    ::mlir::OperandRange getScalars();
  }];
}

//===----------------------------------------------------------------------===//
// Layers, as second-order methods see them
//===----------------------------------------------------------------------===//

def Hfta_LayerOp : Hfta_Op<"layer", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A use of a trained parameter: where its input and output gradient are";
  let description = [{
    Stands in the backward task that computes the parameter's gradient, once for
    each use, and computes nothing: it names values that the task computes
    anyway, and hfta-describe-layers removes it. A later pass builds on it what
    a second-order method needs.

    `parameter` is the weight's variable; `copy`, if given, the only copy whose
    parameter it is, and then that copy of arrayed operands counts. `input` is
    the layer's input a and `output_gradient` the gradient g of the output of
    the op that the weight feeds, before a bias is added. `weight_gradient` is
    this use's contribution to the gradient, shaped as the weight in that op (a
    transpose, a slice or the like may follow on the way to the parameter):
    - `dense`: the contraction of input and output gradient by `indexing_maps`,
      those of input, output gradient and weight. Axes of the space that only
      the weight lacks are rows; axes in all three number blocks, a weight each;
    - `convolution`: the sum over rows of g with the input's patch there, by
      `strides`, `dilations`, `padding` and `groups` as in hfta.conv;
    - `transposed_convolution`: likewise with both exchanged: patches are those
      of the output gradient, one for each element of the input;
    - `embedding`: input holds indices; the sum of the rows of g at each;
    - `norm`: the product of g and the normalized input, element by element or
      summed over all axes but axis 1, so that it has the weight's shape;
    - `other`: nothing is known of the op but the gradient; there is no input.

    `bias` is the variable added to the output. With `bias_column` its gradient
    from here is the sum of g over all rows: it is one more column of the
    weight, for an input that is always one.

    `loss_divisor` says of which loss the gradient is: of the sum of losses
    divided by `terms`, of which there are `loss_terms` in all micro-batches;
    divided by the sum of their `weights`; or `undivided`, where the sum of
    weights is known only after the last micro-batch.

    `input_samples` and `output_samples` are strides: element e of the input, or
    of the output gradient, in row-major order, is of sample e / stride, rounded
    down, modulo the samples of a micro-batch. They are missing where that isn't
    known, and for values that aren't of single samples.

    Constraints:
    - (C1) `indexing_maps` are there if and only if the kind is `dense`: three,
      with as many results as input, output gradient and weight gradient have
      axes.
    - (C2) `strides`, `dilations` and `padding` are there if and only if the
      kind is `convolution` or `transposed_convolution`: one entry, or of
      padding two, for each spatial axis of the weight gradient.
    - (C3) `input` is there if and only if the kind isn't `other`.
    - (C4) `bias_column` asks for `bias`.
    - (C5) `parameter` and `bias` name variables of role `parameter`.
    - (C6) `input_samples` and `output_samples` are positive.

    Example:
    ```mlir
    hfta.layer dense @fc.weight bias @fc.bias input %x : tensor<8x5xf32>
        output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32>
        loss_divisor terms 8 {bias_column, indexing_maps = […]}
    ```
  }];
  let arguments = (ins Hfta_LayerKindAttr:$kind, FlatSymbolRefAttr:$parameter,
                       OptionalAttr<I64Attr>:$copy,
                       OptionalAttr<FlatSymbolRefAttr>:$bias,
                       Optional<Hfta_Tensor>:$input,
                       Hfta_FloatTensor:$output_gradient,
                       Hfta_FloatTensor:$weight_gradient,
                       Hfta_LossDivisorAttr:$loss_divisor, I64Attr:$loss_terms,
                       UnitAttr:$bias_column,
                       OptionalAttr<I64Attr>:$input_samples,
                       OptionalAttr<I64Attr>:$output_samples,
                       OptionalAttr<AffineMapArrayAttr>:$indexing_maps,
                       OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let assemblyFormat = [{
    $kind $parameter (`copy` $copy^)? (`bias` $bias^)?
    (`input` $input^ `:` type($input))?
    `output_gradient` $output_gradient `:` type($output_gradient)
    `weight_gradient` $weight_gradient `:` type($weight_gradient)
    `loss_divisor` $loss_divisor $loss_terms attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns whether layers of this kind have windows, with strides,
    /// dilations, padding and groups.
    static bool isConvolution(LayerKind kind) {
      return kind == LayerKind::convolution ||
             kind == LayerKind::transposed_convolution;
    }
  }];
}

#endif // HFTA_LAYER_OPS
