// RUN: hfta-opt %s -convert-hfta-to-linalg -split-input-file | FileCheck %s -enable-var-scope

// A pair has an element of the axis' first half in its lower 16 bits, and one
// of the second half in its upper 16 bits.
// CHECK-LABEL: func.func private @pairs(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x6xf32>
// CHECK: %[[LOW:.+]] = tensor.extract_slice %[[X]][0, 0] [8, 3] [1, 1]
// CHECK: %[[HIGH:.+]] = tensor.extract_slice %[[X]][0, 3] [8, 3] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[LOW]], %[[HIGH]] : tensor<8x3xf32>, tensor<8x3xf32>)
// CHECK: ^bb0(%[[L:.+]]: f32, %[[H:.+]]: f32, %{{.+}}: i32):
// CHECK: %[[LN:.+]] = arith.truncf %[[L]] : f32 to bf16
// CHECK: %[[LB:.+]] = arith.bitcast %[[LN]] : bf16 to i16
// CHECK: %[[LI:.+]] = arith.extui %[[LB]] : i16 to i32
// CHECK: %[[HN:.+]] = arith.truncf %[[H]] : f32 to bf16
// CHECK: %[[HB:.+]] = arith.bitcast %[[HN]] : bf16 to i16
// CHECK: %[[HI:.+]] = arith.extui %[[HB]] : i16 to i32
// CHECK: %[[UP:.+]] = arith.shli %[[HI]], %c16
// CHECK: %[[PAIR:.+]] = arith.ori %[[UP]], %[[LI]]
// CHECK: linalg.yield %[[PAIR]]
func.func private @pairs(%x: tensor<8x6xf32>) -> tensor<8x3xi32> attributes {hfta.kernel} {
  %0 = hfta.pair_factors %x along 1 : tensor<8x6xf32>
  return %0 : tensor<8x3xi32>
}

// -----

// An odd number of elements is padded with zero.
// CHECK-LABEL: func.func private @odd(
// CHECK: %[[PADDED:.+]] = tensor.pad %{{.+}} low[0, 0] high[1, 0]
// CHECK: tensor.extract_slice %[[PADDED]][0, 0] [3, 4]
// CHECK: tensor.extract_slice %[[PADDED]][3, 0] [3, 4]
func.func private @odd(%x: tensor<5x4xf32>) -> tensor<3x4xi32> attributes {hfta.kernel} {
  %0 = hfta.pair_factors %x along 0 : tensor<5x4xf32>
  return %0 : tensor<3x4xi32>
}

// -----

// CHECK-LABEL: func.func private @product(
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<8x3xi32>, tensor<3x4xi32>) outs(%{{.+}} : tensor<8x4xf32>)
// CHECK: ^bb0(%[[A:.+]]: i32, %[[B:.+]]: i32, %[[S:.+]]: f32):
// CHECK: hfta.multiply_pairs %[[A]], %[[B]] to %[[S]] : i32, f32
func.func private @product(%x: tensor<8x3xi32>, %w: tensor<3x4xi32>) -> tensor<8x4xf32> attributes {hfta.kernel} {
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<8x3xi32>, tensor<3x4xi32>
  return %0 : tensor<8x4xf32>
}

// -----

// Zeros around a convolution's input are pairs of zeros, and sums are f32.
// CHECK-LABEL: func.func private @convolution(
// CHECK: hfta.multiply_pairs
func.func private @convolution(%x: tensor<2x8x5x5xi32>, %w: tensor<16x8x3x3xi32>) -> tensor<2x16x5x5xf32> attributes {hfta.kernel} {
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<2x8x5x5xi32>, tensor<16x8x3x3xi32>
  return %0 : tensor<2x16x5x5xf32>
}
