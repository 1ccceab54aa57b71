//===- HftaMatrixOps.td - Algorithms on whole matrices -----*- tablegen -*-===//
//
// A tensor contains several matrices along axis 0. A symmetric n x n matrix is
// packed: the n(n+1)/2 elements of its lower triangle are stored, row by row.
//===----------------------------------------------------------------------===//

#ifndef HFTA_MATRIX_OPS
#define HFTA_MATRIX_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

//===----------------------------------------------------------------------===//
// Symmetric matrices
//===----------------------------------------------------------------------===//

/// An algorithm on each symmetric matrix along axis 0 of all operands and
/// results. The result for one matrix doesn't depend on the others.
class Hfta_MatrixOp<string mnemonic>
    : Hfta_TensorOp<mnemonic, [Hfta_AloneTrait, Hfta_MatrixTrait], ["getFlops"]>;

def Hfta_SpdInverseOp : Hfta_MatrixOp<"spd_inverse"> {
  let summary = "Inverses of symmetric positive definite matrices, damped";
  let description = [{
    `inverse` is (factor + damping · I)⁻¹, matrix by matrix, by Cholesky
    decomposition. Where a pivot isn't positive, or it or the inverse isn't
    finite, the matrix is tried again with ten times the damping, up to three times. Where
    that doesn't help, the inverse is `old`, or, where the first element of
    `old` isn't positive (there is none yet), I / damping. `tries` counts the
    further tries: 0 to 3, and 4 where no inverse was found.

    Constraints:
    - (C1) `factor` has rank 2, rows of n(n+1)/2 elements, n >= 1, and type f32
      or f64.
    - (C2) `damping` has one element a matrix, of the factors' type.
    - (C3) `old` has the factors' shape and type.

    Example:
    ```mlir
    %inverse, %tries = hfta.spd_inverse %factor, %damping, %old
        : tensor<2x36xf32>, tensor<2xf32>, tensor<2x36xf32>
    ```
  }];
  let arguments = (ins Hfta_FloatTensor:$factor, Hfta_FloatTensor:$damping,
                       Hfta_FloatTensor:$old);
  let results = (outs Hfta_FloatTensor:$inverse, Hfta_IndexTensor:$tries);
  let assemblyFormat = [{
    $factor `,` $damping `,` $old attr-dict `:` type(operands)
  }];
}

def Hfta_SymmetricEigenOp : Hfta_MatrixOp<"symmetric_eigen"> {
  let summary = "Eigenvectors and eigenvalues of symmetric matrices";
  let description = [{
    Factor = basis · diag(values) · basisᵀ, matrix by matrix: the basis' columns
    are eigenvectors, in no order. Values below 0 are given as 0. A factor that
    isn't finite has values of zero and the basis `start`, or, where that isn't
    orthogonal to about 0.01 (there is none yet: zeros), the identity. With
    `due`, matrices for which it is 0 aren't decomposed: their basis is `start`,
    and their values are 0.

    Constraints:
    - (C1) `factor` has rank 2, rows of n(n+1)/2 elements, n >= 1, and type f32
      or f64.
    - (C2) `start` has the shape [matrices, n, n] and the factors' type.
    - (C3) `due` has one element a matrix, of the factors' type.

    Example:
    ```mlir
    %basis, %values = hfta.symmetric_eigen %factor, %start
        : tensor<2x36xf32>, tensor<2x8x8xf32>
    ```
  }];
  let arguments = (ins Hfta_FloatTensor:$factor, Hfta_FloatTensor:$start,
                       Optional<Hfta_FloatTensor>:$due);
  let results = (outs Hfta_FloatTensor:$basis, Hfta_FloatTensor:$values);
  let assemblyFormat = [{
    $factor `,` $start (`if` $due^)? attr-dict `:` type(operands)
  }];
}

def Hfta_OrthogonalIterationOp : Hfta_MatrixOp<"orthogonal_iteration"> {
  let summary = "A step of orthogonal bases towards matrices' eigenvectors";
  let description = [{
    Matrix by matrix, `result` is an orthogonal matrix whose columns span what
    those of factor · start span: the Q of its QR decomposition, for which
    columns are taken in the order of falling quotients bᵀ · factor · b, b being
    the column of `start`. A column of the result is at the place of the column
    of `start` from which it came; its sign is any. The result is `start` where
    `due` is 0, and where the factor isn't finite.

    Constraints: those of hfta.symmetric_eigen, (C1) to (C3).

    Example:
    ```mlir
    %basis = hfta.orthogonal_iteration %factor, %start, %due
        : tensor<2x36xf32>, tensor<2x8x8xf32>, tensor<2xf32>
    ```
  }];
  let arguments = (ins Hfta_FloatTensor:$factor, Hfta_FloatTensor:$start,
                       Hfta_FloatTensor:$due);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = [{
    $factor `,` $start `,` $due attr-dict `:` type(operands)
  }];
}

//===----------------------------------------------------------------------===//
// Any matrices
//===----------------------------------------------------------------------===//

def Hfta_OrthogonalizeOp : Hfta_TensorOp<"orthogonalize", [
    Hfta_MatrixTrait, DeclareOpInterfaceMethods<Hfta_DecomposableOpInterface>],
    ["getFlops"]> {
  let summary = "Nearly orthogonal matrices, by Newton-Schulz iterations";
  let description = [{
    Each matrix is divided by the larger of its norm and `least`, or with
    `added` by their sum; the norm is the root of the sum of all squares, in
    f64. Its singular values, which are at most 1 then, move towards 1 by a
    step for each three numbers a, b, c of `coefficients`: X becomes
    a X + (b A + c A²) X, where A is X Xᵀ or, for a tall X, with the product
    from the other side, Xᵀ X.

    With `restarts`, steps are done on A instead, from which a product of X with
    one small matrix follows: cheaper for matrices much longer than wide. As A
    loses digits, X is computed, and A from it, before the steps that `restarts`
    numbers, ascending from 0.

    Constraints:
    - (C1) `matrices` has the shape [matrices, rows, columns].
    - (C2) `least` has one element a matrix, of type f64.
    - (C3) `coefficients` are three numbers a step.
    - (C4) `restarts` begins with 0, ascends, and names steps.

    Example:
    ```mlir
    %step = hfta.orthogonalize %momentum, %eps by [3.4445, -4.7750, 2.0315]
        : tensor<4x32x96xf32>, tensor<4xf64>
    ```
  }];
  let arguments = (ins Hfta_FloatTensor:$matrices, Hfta_FloatTensor:$least,
                       DenseF64ArrayAttr:$coefficients,
                       OptionalAttr<DenseI64ArrayAttr>:$restarts,
                       UnitAttr:$added);
  let results = (outs Hfta_FloatTensor:$result);
  let assemblyFormat = [{
    $matrices `,` $least (`added` $added^)? `by` $coefficients
    (`restarts` $restarts^)? attr-dict `:` type(operands)
  }];
  let extraClassDeclaration = [{
    /// Returns the flops of the products for one matrix. `restarts` is 0 if the
    /// steps are done on the matrix.
    static int64_t countFlops(int64_t rows, int64_t columns, int64_t steps,
                              int64_t restarts);
  }];
}

#endif // HFTA_MATRIX_OPS
