// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @second_moment(
func.func @second_moment(%x: tensor<8x5xf32>, %sum: tensor<1x21xf32, #hfta.copies<2>>)
    -> (tensor<1x15xf32>, tensor<1x21xf32, #hfta.copies<2>>) {
  // CHECK: hfta.second_moment %{{.*}} blocks [] columns [1] scale 1.000000e+00 : tensor<8x5xf32>
  %0 = hfta.second_moment %x blocks [] columns [1] scale 1.0 : tensor<8x5xf32>
  // CHECK: hfta.second_moment %{{.*}}, %{{.*}} blocks [] columns [1] scale 1.250000e-01 {accumulate = f64, ones} : tensor<8x5xf32>, tensor<1x21xf32, #hfta.copies<2>>
  %1 = hfta.second_moment %x, %sum blocks [] columns [1] scale 0.125 {ones, accumulate = f64}
      : tensor<8x5xf32>, tensor<1x21xf32, #hfta.copies<2>>
  return %0, %1 : tensor<1x15xf32>, tensor<1x21xf32, #hfta.copies<2>>
}

// Six blocks of ten columns; rows are what is left. Without columns there is
// one number in each row.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%x: tensor<5x2x7x3x2xf64>) -> (tensor<6x55xf64>, tensor<420x3xf64>) {
  // CHECK: blocks [3, 1] columns [4, 0] scale 1.000000e+00 : tensor<5x2x7x3x2xf64>
  %0 = hfta.second_moment %x blocks [3, 1] columns [4, 0] scale 1.0 : tensor<5x2x7x3x2xf64>
  // CHECK: blocks [0, 1, 2, 3, 4] columns [] scale 1.000000e+00 {ones} : tensor<5x2x7x3x2xf64>
  %1 = hfta.second_moment %x blocks [0, 1, 2, 3, 4] columns [] scale 1.0 {ones} : tensor<5x2x7x3x2xf64>
  return %0, %1 : tensor<6x55xf64>, tensor<420x3xf64>
}

// CHECK-LABEL: func.func @patch_moment(
func.func @patch_moment(%x: tensor<8x2x9x8xf32, #hfta.copies<2>>, %sum: tensor<2x55xf32>)
    -> tensor<2x55xf32, #hfta.copies<2>> {
  // CHECK: hfta.patch_moment %{{.*}}, %{{.*}} scale 1.000000e+00 {dilations = array<i64: 1, 1>, groups = 2 : i64, kernel = array<i64: 3, 3>, ones, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 1>} : tensor<8x2x9x8xf32, #hfta.copies<2>>, tensor<2x55xf32>
  %0 = hfta.patch_moment %x, %sum scale 1.0 {kernel = array<i64: 3, 3>,
      strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64, ones}
      : tensor<8x2x9x8xf32, #hfta.copies<2>>, tensor<2x55xf32>
  return %0 : tensor<2x55xf32, #hfta.copies<2>>
}

// Two groups of 19 columns, in four blocks each.
// CHECK-LABEL: func.func @patch_blocks(
func.func @patch_blocks(%x: tensor<8x4x9x8xf32>) -> tensor<8x15xf32> {
  // CHECK: hfta.patch_moment %{{.*}} scale 1.000000e+00 {block_columns = 5 : i64, {{.*}}, ones, {{.*}}} : tensor<8x4x9x8xf32>
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3, 3>,
      strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64, ones, block_columns = 5 : i64}
      : tensor<8x4x9x8xf32>
  return %0 : tensor<8x15xf32>
}

// CHECK-LABEL: func.func @unpack_symmetric(
func.func @unpack_symmetric(%p: tensor<2x21xf32>, %none: tensor<3x0xf32>) -> (tensor<2x6x6xf32>, tensor<3x0x0xf32>) {
  // CHECK: hfta.unpack_symmetric %{{.*}} : tensor<2x21xf32>
  %0 = hfta.unpack_symmetric %p : tensor<2x21xf32>
  // CHECK: hfta.unpack_symmetric %{{.*}} : tensor<3x0xf32>
  %1 = hfta.unpack_symmetric %none : tensor<3x0xf32>
  return %0, %1 : tensor<2x6x6xf32>, tensor<3x0x0xf32>
}
