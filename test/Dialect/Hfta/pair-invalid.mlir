// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @no_axis(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.pair_factors %x along 2 : tensor<8x4xf32>
  return
}

// -----

func.func @wide(%x: tensor<8x4xf64>) {
  // expected-error@+1 {{'hfta.pair_factors' op operand #0 must be}}
  %0 = hfta.pair_factors %x along 1 : tensor<8x4xf64>
  return
}

// -----

func.func @pairs_with_floats(%x: tensor<8x4xi32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{operands have different element types: 'i32' and 'f32'}}
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<8x4xi32>, tensor<3x4xf32>
  return
}

// -----

func.func @other_integers(%x: tensor<8x4xi64>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = hfta.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<8x4xi64>, tensor<8x4xi64>
  return
}

// -----

func.func @lanes(%a: vector<8xi32>, %b: vector<8xi32>, %s: vector<4xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = hfta.multiply_pairs %a, %b to %s : vector<8xi32>, vector<4xf32>
  return
}

// -----

func.func @sum_of_halves(%a: i32, %b: i32, %s: f16) {
  // expected-error@+1 {{operand #2 must be}}
  %0 = hfta.multiply_pairs %a, %b to %s : i32, f16
  return
}
