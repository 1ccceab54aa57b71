//===- HftaCurvatureOps.td - Second moments, packed --------*- tablegen -*-===//

#ifndef HFTA_CURVATURE_OPS
#define HFTA_CURVATURE_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

//===----------------------------------------------------------------------===//
// Second moments
//===----------------------------------------------------------------------===//

/// Ops that add up c cᵀ over rows c, separately for each of several blocks. The
/// results are symmetric, so only their lower triangles are stored, row by row.
class Hfta_MomentOp<string mnemonic, list<Trait> traits = []>
    : Hfta_TensorOp<mnemonic, !listconcat([
        Hfta_SumTrait,
        DeclareOpInterfaceMethods<Hfta_UpdatingOpInterface>], traits), ["getFlops"]> {
  dag scaling = (ins F64Attr:$scale, UnitAttr:$ones,
                     OptionalAttr<TypeAttr>:$accumulate);
  let results = (outs Hfta_FloatTensor:$result);
}

def Hfta_SecondMomentOp : Hfta_MomentOp<"second_moment"> {
  let summary = "Sums of the outer products c cᵀ of rows c, as packed lower triangles";
  let description = [{
    The axes of `input` are blocks (`blocks`), columns (`columns`) or else rows.
    Blocks and columns are counted row-major in the order in which their axes are
    listed: B blocks, 1 without such axes, and n columns. With `ones` each row
    has one more column, the last, that is one; n counts it. A block's matrix is
    the sum over its rows c of c cᵀ. The result is `sum`, if it is given, plus
    `scale` times that matrix: [B, n (n + 1) / 2], element i (i + 1) / 2 + j of a
    block standing for row i, column j <= i.

    Products are summed with fused multiply-add in `accumulate`'s precision (the
    input's by default), in the order that `#hfta.sum_order` says in phase
    `linalg`; one copy's shapes and layouts decide it.

    Example (rows of five numbers and a one, so that n = 6):
    ```mlir
    %1 = hfta.second_moment %x, %sum blocks [] columns [1] scale 1.250000e-01 {ones}
        : tensor<8x5xf32>, tensor<1x21xf32>
    ```
  }];
  let arguments = !con((ins Hfta_FloatTensor:$input,
                            Optional<Hfta_FloatTensor>:$sum,
                            DenseI64ArrayAttr:$blocks,
                            DenseI64ArrayAttr:$columns), scaling);
  let assemblyFormat = [{
    $input (`,` $sum^)? `blocks` $blocks `columns` $columns `scale` $scale
    attr-dict `:` type(operands)
  }];
}

def Hfta_PatchMomentOp : Hfta_MomentOp<"patch_moment", [
    DeclareOpInterfaceMethods<Hfta_ActivationOpInterface, ["choosesLayout"]>]> {
  let summary = "Second moment of the patches that a convolution's windows see";
  let description = [{
    `input` is [batch, channels, spatial…] with as many spatial axes as `kernel`
    has entries; `strides`, `dilations`, `padding` and `groups` are those of
    hfta.conv. Blocks are the groups. Rows are the windows, one for each sample
    and position; columns the channels of the group, the taps of each in
    row-major order, zero where they lie in the padding, and with `ones` a last
    column of ones. Their moments are those of hfta.second_moment, without the
    patches in memory.

    With `block_columns = s` only diagonal blocks of the matrix are computed:
    the n columns are cut into k = ceil(n / s) blocks of s, of which the last
    one is padded with rows and columns of zeros. Blocks are then those of the
    first group, of the second, and so on: [groups k, s (s + 1) / 2].

    Example (9 columns, 2 groups):
    ```mlir
    %1 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3, 3>,
        strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<8x2x9x8xf32>
    ```
  }];
  let arguments = !con((ins Hfta_FloatTensor:$input,
                            Optional<Hfta_FloatTensor>:$sum,
                            DenseI64ArrayAttr:$kernel,
                            DenseI64ArrayAttr:$strides,
                            DenseI64ArrayAttr:$dilations,
                            DenseI64ArrayAttr:$padding, I64Attr:$groups,
                            OptionalAttr<I64Attr>:$block_columns),
                       scaling);
  let assemblyFormat = [{
    $input (`,` $sum^)? `scale` $scale attr-dict `:` type(operands)
  }];
}

//===----------------------------------------------------------------------===//
// Packed matrices
//===----------------------------------------------------------------------===//

def Hfta_UnpackSymmetricOp : Hfta_TensorOp<"unpack_symmetric", [
    Hfta_MovementTrait], ["getFlops"]> {
  let summary = "Symmetric matrices, from their packed lower triangles";
  let description = [{
    [B, n (n + 1) / 2], packed as hfta.second_moment gives it, to [B, n, n].
    Example: `%1 = hfta.unpack_symmetric %0 : tensor<2x21xf32>`
  }];
  let arguments = (ins Hfta_FloatTensor:$packed);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = "$packed attr-dict `:` type($packed)";
}

#endif // HFTA_CURVATURE_OPS
