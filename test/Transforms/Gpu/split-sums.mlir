// RUN: hfta-opt %s -split-input-file -hfta-split-sums | FileCheck %s -enable-var-scope

// A convolution's weight: the batch in parts, as many as two tiles for each
// processor take.
// CHECK-LABEL: func.func @convolution(
// CHECK: %[[PARTS:.+]] = hfta.conv_weight_gradient %{{.+}}, %{{.+}} {batch_parts = 16 : i64,
// CHECK: %[[SUM:.+]] = hfta.reduce sum %[[PARTS]] over [0] : tensor<16x128x64x3x3xf32>
// CHECK: return %[[SUM]] : tensor<128x64x3x3xf32>
func.func @convolution(%x: tensor<32x64x32x32xf32>, %g: tensor<32x128x32x32xf32>) -> tensor<128x64x3x3xf32> {
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 128, 64, 3, 3>} : tensor<32x64x32x32xf32>, tensor<32x128x32x32xf32>
  return %0 : tensor<128x64x3x3xf32>
}

// -----

// No more than the batch has factors of two, and none where there are few terms
// or the sum has another precision.
// CHECK-LABEL: func.func @few(
// CHECK: hfta.conv_weight_gradient {{.*}}batch_parts = 2 : i64
// CHECK: hfta.reduce sum
// CHECK: hfta.conv_weight_gradient
// CHECK-NOT: batch_parts
// CHECK: hfta.conv_weight_gradient
// CHECK-NOT: batch_parts
// CHECK-NOT: hfta.reduce
func.func @few(%x: tensor<6x64x32x32xf32>, %g: tensor<6x64x32x32xf32>, %y: tensor<32x64x2x2xf32>, %h: tensor<32x64x2x2xf32>) -> (tensor<64x64x1x1xf32>, tensor<64x64x1x1xf32>, tensor<64x64x1x1xf32>) {
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, weight_shape = array<i64: 64, 64, 1, 1>} : tensor<6x64x32x32xf32>, tensor<6x64x32x32xf32>
  %1 = hfta.conv_weight_gradient %y, %h {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, weight_shape = array<i64: 64, 64, 1, 1>} : tensor<32x64x2x2xf32>, tensor<32x64x2x2xf32>
  %2 = hfta.conv_weight_gradient %x, %g {accumulate = f64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, weight_shape = array<i64: 64, 64, 1, 1>} : tensor<6x64x32x32xf32>, tensor<6x64x32x32xf32>
  return %0, %1, %2 : tensor<64x64x1x1xf32>, tensor<64x64x1x1xf32>, tensor<64x64x1x1xf32>
}

// -----

// A contraction: the summed axis in parts, which come first in the result.
// CHECK-LABEL: func.func @contraction(
// CHECK-SAME: %[[X:[^ ,:]+]]: tensor<4096x256xf32>, %[[G:[^ ,:]+]]: tensor<4096x512xf32>
// CHECK-DAG: %[[XS:.+]] = hfta.reshape %[[X]] to [8, 512, 256]
// CHECK-DAG: %[[GS:.+]] = hfta.reshape %[[G]] to [8, 512, 512]
// CHECK: %[[PARTS:.+]] = hfta.contract %[[GS]], %[[XS]] maps
// CHECK-SAME: tensor<8x512x512xf32>, tensor<8x512x256xf32>
// CHECK: hfta.reduce sum %[[PARTS]] over [0] : tensor<8x512x256xf32>
func.func @contraction(%x: tensor<4096x256xf32>, %g: tensor<4096x512xf32>) -> tensor<512x256xf32> {
  %0 = hfta.contract %g, %x maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4096x512xf32>, tensor<4096x256xf32>
  return %0 : tensor<512x256xf32>
}
