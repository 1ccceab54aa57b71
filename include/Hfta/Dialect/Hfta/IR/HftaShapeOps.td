//===- HftaShapeOps.td - Ops that move elements ------------*- tablegen -*-===//

#ifndef HFTA_SHAPE_OPS
#define HFTA_SHAPE_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

def Hfta_ReshapeOp : Hfta_DifferentiableOp<"reshape", [
    Hfta_MovementTrait, DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Gives the elements another shape, in row-major order";
  let description = [{
    Example: `%1 = hfta.reshape %0 to [2, 2] : tensor<4xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Hfta_TransposeOp : Hfta_DifferentiableOp<"transpose", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Axes in another order: result axis i is input axis permutation[i]";
  let description = [{
    Example: `%1 = hfta.transpose %0 by [1, 0] : tensor<2x3xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input `by` $permutation attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Hfta_BroadcastOp : Hfta_DifferentiableOp<"broadcast", [
    Hfta_SumTrait,
    Hfta_MovementTrait, Hfta_RepeatedTrait,
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Input repeated: input axis i becomes result axis dimensions[i]";
  let description = [{
    `dimensions` ascends; an input axis has the result's size or 1.
    Example: `%1 = hfta.broadcast %0 to [64, 10] along [1] : tensor<10xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$shape,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $input `to` $shape `along` $dimensions attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

def Hfta_SliceOp : Hfta_DifferentiableOp<"slice", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops", "getBytesRead"]> {
  let summary = "Elements offsets + i * strides, i < sizes, along each axis";
  let description = [{
    A stride may be negative.
    Example: `%1 = hfta.slice %0 from [0] size [2] stride [1] : tensor<4xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $offsets `size` $sizes `stride` $strides attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

def Hfta_PadOp : Hfta_DifferentiableOp<"pad", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Input surrounded by a value, with gaps between elements";
  let description = [{
    Along axis i: `low[i]` elements of `value`, the input with `interior[i]`
    elements of `value` between neighbours, `high[i]` elements. Not negative.
    Example: `%1 = hfta.pad %0 low [1] high [1] interior [0] with 0.0 : f32 : tensor<4xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior,
                       TypedAttrInterface:$value);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $input `low` $low `high` $high `interior` $interior `with` $value attr-dict
    `:` type($input)
  }];
  let hasFolder = 1;
}

def Hfta_ConcatOp : Hfta_DifferentiableOp<"concat", [
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops"]> {
  let summary = "Inputs one after another along an axis";
  let description = [{
    Example: `%2 = hfta.concat %0, %1 along 0 : tensor<4xf32>, tensor<2xf32>`
  }];
  let arguments = (ins Variadic<Hfta_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$inputs `along` $axis attr-dict `:` type($inputs)";
  let hasFolder = 1;
}

def Hfta_IotaOp : Hfta_Op<"iota", [
    Pure, Hfta_RepeatedTrait, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Hfta_CostOpInterface, ["getFlops"]>,
    DeclareOpInterfaceMethods<Hfta_FusableOpInterface>]> {
  let summary = "Each element is its own index along an axis";
  let description = [{
    Example: `%0 = hfta.iota [64, 10] along 1 : i64`
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, I64Attr:$axis,
                       TypeAttr:$element_type);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$shape `along` $axis attr-dict `:` $element_type";
}

def Hfta_ReduceOp : Hfta_DifferentiableOp<"reduce", [Hfta_SumTrait], ["getFlops"]> {
  let summary = "Sum, maximum, minimum or product over axes, which go away";
  let description = [{
    Elements are combined in `accumulate`'s precision (the input's by default).
    The order follows from one copy's shapes and layouts in phase `linalg`,
    where `#hfta.sum_order` states it. The gradient of max and min goes to equal
    elements in equal shares.
    Example: `%1 = hfta.reduce sum %0 over [0] : tensor<64x10xf32>`
  }];
  let arguments = (ins Hfta_ReduceKindAttr:$kind, Hfta_Tensor:$input,
                       DenseI64ArrayAttr:$axes, OptionalAttr<TypeAttr>:$accumulate);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$kind $input `over` $axes attr-dict `:` type($input)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Hfta_CumulativeSumOp : Hfta_DifferentiableOp<"cumulative_sum", [
    Hfta_SumTrait, DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>],
    ["getFlops"]> {
  let summary = "Prefix sums along an axis";
  let description = [{
    Each element of the result is the sum of the input's elements before and at
    its position or, with `reverse`, at and after it; with `exclusive` the element
    at the position is left out. They are added up in steps that
    double the number of elements in a sum (Hillis and Steele, "Data parallel
    algorithms", CACM 1986); with `falling`, which the gradient has, the longest
    step comes first.
    Example: `%1 = hfta.cumulative_sum %0 along 1 {exclusive} : tensor<4x8xf32>`
  }];
  let arguments = (ins Hfta_FloatTensor:$input, I64Attr:$axis, UnitAttr:$reverse,
                       UnitAttr:$exclusive, UnitAttr:$falling);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$input `along` $axis attr-dict `:` type($input)";
}

def Hfta_GatherOp : Hfta_DifferentiableOp<"gather", [
    Hfta_SumTrait,
    DeclareOpInterfaceMethods<Hfta_LayerOpInterface>], ["getFlops", "getBytesRead"]> {
  let summary = "Slices of the input along an axis, chosen by indices";
  let description = [{
    Result shape: the input's, with axis `axis` replaced by the indices' shape.
    Negative indices count from the end; indices outside of the axis give zero.
    Example: `%2 = hfta.gather %table[%i] along 0 : tensor<100x8xf32>, tensor<64xi64>`
  }];
  let arguments = (ins Hfta_Tensor:$input, Hfta_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $input `[` $indices `]` `along` $axis attr-dict `:` type($input) `,` type($indices)
  }];
}

def Hfta_ScatterAddOp : Hfta_DifferentiableOp<"scatter_add", [Hfta_SumTrait], ["getFlops"]> {
  let summary = "Adds slices at indices into zeros: the gradient of gather";
  let description = [{
    The updates of an index are terms of its sum, in the order that
    `#hfta.sum_order` says in phase `linalg`; one copy's shapes alone decide it.
    Negative indices count from the end; updates at indices outside of the axis
    are left out.
    Example: `%2 = hfta.scatter_add %g at %i along 0 size 100 : tensor<64x8xf32>, tensor<64xi64>`
  }];
  let arguments = (ins Hfta_Tensor:$updates, Hfta_IndexTensor:$indices,
                       I64Attr:$axis, I64Attr:$size);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $updates `at` $indices `along` $axis `size` $size attr-dict `:`
    type($updates) `,` type($indices)
  }];
}

def Hfta_ScatterReduceOp : Hfta_DifferentiableOp<"scatter_reduce", [Hfta_SumTrait], ["getFlops"]> {
  let summary = "Slices of the input, combined with updates at indices";
  let description = [{
    Each element of the input is combined with the updates of its index, one
    after the other in row-major order of the indices: their maximum, minimum or
    product (`scatter_add` adds). Negative indices count from the end; updates of
    others outside are left out. The gradient of max and min goes to equal
    elements, that of the input and updates, in equal shares, as in PyTorch.
    Example: `%3 = hfta.scatter_reduce max %u at %i into %0 along 0 : tensor<64x8xf32>, tensor<64xi64>, tensor<100x8xf32>`
  }];
  let arguments = (ins Hfta_ReduceKindAttr:$kind, Hfta_Tensor:$updates,
                       Hfta_IndexTensor:$indices, Hfta_Tensor:$input,
                       I64Attr:$axis);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $kind $updates `at` $indices `into` $input `along` $axis attr-dict `:`
    type($updates) `,` type($indices) `,` type($input)
  }];
}

def Hfta_SegmentSumOp : Hfta_TensorOp<"segment_sum", [Hfta_SumTrait], ["getFlops"]> {
  let summary = "Adds slices in the order of a table, segment by segment, to zeros";
  let description = [{
    Slice s of the result along `axis` is the sum of the updates' slices
    order[offsets[s]], order[offsets[s] + 1], …, order[offsets[s + 1] - 1], which are
    added to zero one after the other, in this order. It is what scatter_add
    computes, where it is known which updates each of its indices has.
    `offsets`, of one number more than there are segments, ascends from 0 to at
    most the length of `order`, whose numbers are those of slices.
    Example: `%3 = hfta.segment_sum %g at %order in %offsets along 0 : tensor<64x8xf32>, tensor<64xi32>, tensor<101xi32>`
  }];
  let arguments = (ins Hfta_Tensor:$updates, Hfta_IndexTensor:$order,
                       Hfta_IndexTensor:$offsets, I64Attr:$axis);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = [{
    $updates `at` $order `in` $offsets `along` $axis attr-dict `:`
    type($updates) `,` type($order) `,` type($offsets)
  }];
}

def Hfta_PartSumsOp : Hfta_TensorOp<"part_sums", [Hfta_SumTrait], ["getFlops"]> {
  let summary = "Sums of each column over parts of its rows";
  let description = [{
    The input's axis `column` has its columns; its other axes, in their order, are
    the axes of its rows, whose numbers are row-major. Row p and column c of the
    result is the sum of column c over the rows p * `length` ... (p + 1) * `length`
    - 1, which are added to zero one after the other, in this order, whichever
      kernel does so. With `centered` it is the sum of their squared deviations
      from their mean, which is that sum divided by `length`. `length` divides
      the number of rows.
    Example: `%1 = hfta.part_sums %0 of 32 along 1 : tensor<8x16x14x14xf32>` is a tensor<49x16xf32>
  }];
  let arguments = (ins Hfta_FloatTensor:$input, I64Attr:$length, I64Attr:$column,
                       UnitAttr:$centered);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = [{
    $input `of` $length `along` $column attr-dict `:` type($input)
  }];
}

#endif // HFTA_SHAPE_OPS
