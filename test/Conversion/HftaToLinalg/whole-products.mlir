// RUN: hfta-opt %s -split-input-file -pass-pipeline='builtin.module(hfta-set-target{target=cuda},func.func(convert-hfta-to-linalg))' | FileCheck %s -enable-var-scope

// One op on padded data; nothing is packed, and nothing cut into pieces.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME: %[[X:[^ ,:]+]]: tensor<8x3x12x12xf32>, %[[W:[^ ,:]+]]: tensor<16x3x3x3xf32>
// CHECK: %[[PADDED:.+]] = tensor.pad %[[X]]
// CHECK-COUNT-1: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
// CHECK-SAME: ins(%[[PADDED]], %[[W]] : tensor<8x3x14x14xf32>, tensor<16x3x3x3xf32>)
// CHECK-NOT: linalg.generic
func.func @convolution(%x: tensor<8x3x12x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<8x16x12x12xf32> {
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x3x12x12xf32>, tensor<16x3x3x3xf32>
  return %0 : tensor<8x16x12x12xf32>
}

// -----

// A weight's gradient, in parts of the batch.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[X:[^ ,:]+]]: tensor<8x3x12x12xf32>, %[[G:[^ ,:]+]]: tensor<8x16x12x12xf32>
// CHECK: %[[PADDED:.+]] = tensor.pad %[[X]]
// CHECK-DAG: %[[XS:.+]] = tensor.expand_shape %[[PADDED]] {{.*}} into tensor<4x2x3x14x14xf32>
// CHECK-DAG: %[[GS:.+]] = tensor.expand_shape %[[G]] {{.*}} into tensor<4x2x16x12x12xf32>
// CHECK-COUNT-1: linalg.generic
// CHECK-SAME: ins(%[[XS]], %[[GS]] :
// CHECK-SAME: outs(%{{.+}} : tensor<4x16x3x3x3xf32>)
func.func @parts(%x: tensor<8x3x12x12xf32>, %g: tensor<8x16x12x12xf32>) -> tensor<4x16x3x3x3xf32> {
  %0 = hfta.conv_weight_gradient %x, %g {batch_parts = 4 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 16, 3, 3, 3>} : tensor<8x3x12x12xf32>, tensor<8x16x12x12xf32>
  return %0 : tensor<4x16x3x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @contraction(
// CHECK-SAME: %[[X:[^ ,:]+]]: tensor<64x784xf32>, %[[W:[^ ,:]+]]: tensor<10x784xf32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[W]] :
func.func @contraction(%x: tensor<64x784xf32>, %w: tensor<10x784xf32>) -> tensor<64x10xf32> {
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<64x784xf32>, tensor<10x784xf32>
  return %0 : tensor<64x10xf32>
}
