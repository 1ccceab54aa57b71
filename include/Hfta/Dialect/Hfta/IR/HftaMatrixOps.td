//===- HftaMatrixOps.td - Inverses and eigenvectors --------*- tablegen -*-===//
//
// Algorithms on symmetric matrices. A symmetric n x n matrix is packed: the
// n(n+1)/2 elements of its lower triangle are stored, row by row. A tensor
// contains several matrices along axis 0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_MATRIX_OPS
#define HFTA_MATRIX_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// An algorithm on each matrix along axis 0 of all operands and results. The
/// result for one matrix doesn't depend on the others.
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

#endif // HFTA_MATRIX_OPS
