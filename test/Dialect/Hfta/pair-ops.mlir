// RUN: hfta-opt %s | hfta-opt | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x65xf32>, %[[W:[^ ,:#]+]]: tensor<3x65xf32, #hfta.copies<2>>
func.func @pairs(%x: tensor<8x65xf32>, %w: tensor<3x65xf32, #hfta.copies<2>>) -> tensor<8x3xf32, #hfta.copies<2>> {
  // CHECK: %[[XP:.+]] = hfta.pair_factors %[[X]] along 1 : tensor<8x65xf32>
  // CHECK: %[[WP:.+]] = hfta.pair_factors %[[W]] along 1 : tensor<3x65xf32, #hfta.copies<2>>
  // CHECK: hfta.contract %[[XP]], %[[WP]] {{.*}} : tensor<8x33xi32>, tensor<3x33xi32, #hfta.copies<2>>
  %0 = hfta.pair_factors %x along 1 : tensor<8x65xf32>
  %1 = hfta.pair_factors %w along 1 : tensor<3x65xf32, #hfta.copies<2>>
  %2 = hfta.contract %0, %1 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<8x33xi32>, tensor<3x33xi32, #hfta.copies<2>>
  return %2 : tensor<8x3xf32, #hfta.copies<2>>
}

// Sums of products of pairs are f32.
// CHECK-LABEL: func.func @convolutions(
func.func @convolutions(%x: tensor<2x8x5x5xi32>, %w: tensor<4x8x3x3xi32>, %y: tensor<2x2x5x5xi32>, %v: tensor<2x16x3x3xi32>, %z: tensor<1x16x5x5xi32>, %g: tensor<1x4x5x5xi32>) -> (tensor<2x4x5x5xf32>, tensor<2x16x5x5xf32>, tensor<4x16x3x3xf32>) {
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<2x8x5x5xi32>, tensor<4x8x3x3xi32>
  %1 = hfta.conv_input_gradient %y, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 2, 16, 5, 5>} : tensor<2x2x5x5xi32>, tensor<2x16x3x3xi32>
  %2 = hfta.conv_weight_gradient %z, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 4, 16, 3, 3>} : tensor<1x16x5x5xi32>, tensor<1x4x5x5xi32>
  return %0, %1, %2 : tensor<2x4x5x5xf32>, tensor<2x16x5x5xf32>, tensor<4x16x3x3xf32>
}

// CHECK-LABEL: func.func @scalars(
func.func @scalars(%a: i32, %b: i32, %s: f32, %va: vector<8xi32>, %vb: vector<8xi32>, %vs: vector<8xf32>) -> (f32, vector<8xf32>) {
  // CHECK: hfta.multiply_pairs %{{.+}}, %{{.+}} to %{{.+}} : i32, f32
  // CHECK: hfta.multiply_pairs %{{.+}}, %{{.+}} to %{{.+}} : vector<8xi32>, vector<8xf32>
  %0 = hfta.multiply_pairs %a, %b to %s : i32, f32
  %1 = hfta.multiply_pairs %va, %vb to %vs : vector<8xi32>, vector<8xf32>
  return %0, %1 : f32, vector<8xf32>
}
