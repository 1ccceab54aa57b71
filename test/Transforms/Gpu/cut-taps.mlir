// RUN: hfta-opt %s -hfta-cut-taps | FileCheck %s -enable-var-scope

// Around the only pixel of an image, one tap of nine meets it.
// CHECK-LABEL: func.func @pixel(
// CHECK-SAME: %[[X:.+]]: tensor<8x64x1x1xf32>, %[[W:.+]]: tensor<16x64x3x3xf32>, %[[G:.+]]: tensor<8x16x1x1xf32>
// CHECK: %[[CENTER:.+]] = hfta.slice %[[W]] from [0, 0, 1, 1] size [16, 64, 1, 1] stride [1, 1, 1, 1]
// CHECK: hfta.conv %[[X]], %[[CENTER]] {{.*}}padding = array<i64: 0, 0, 0, 0>
// CHECK: %[[AGAIN:.+]] = hfta.slice %[[W]] from [0, 0, 1, 1] size [16, 64, 1, 1]
// CHECK: hfta.conv_input_gradient %[[G]], %[[AGAIN]] {{.*}}padding = array<i64: 0, 0, 0, 0>
func.func @pixel(%x: tensor<8x64x1x1xf32>, %w: tensor<16x64x3x3xf32>, %g: tensor<8x16x1x1xf32>) -> (tensor<8x16x1x1xf32>, tensor<8x64x1x1xf32>) {
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x64x1x1xf32>, tensor<16x64x3x3xf32>
  %1 = hfta.conv_input_gradient %g, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 8, 64, 1, 1>} : tensor<8x16x1x1xf32>, tensor<16x64x3x3xf32>
  return %0, %1 : tensor<8x16x1x1xf32>, tensor<8x64x1x1xf32>
}

// With strides, the taps at one end may do so; on another axis, all may.
// CHECK-LABEL: func.func @ends(
// CHECK: hfta.slice %{{.+}} from [0, 0, 1, 0] size [4, 1, 2, 3]
// CHECK: hfta.conv %{{.+}}, %{{.+}} {{.*}}padding = array<i64: 0, 1, 0, 1>
func.func @ends(%x: tensor<2x4x2x5xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<2x4x1x3xf32> {
  %0 = hfta.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 0, 1>, groups = 4 : i64} : tensor<2x4x2x5xf32>, tensor<4x1x3x3xf32>
  return %0 : tensor<2x4x1x3xf32>
}

// Taps are apart by the dilation, and so is the padding that goes with them.
// CHECK-LABEL: func.func @dilated(
// CHECK: hfta.slice %{{.+}} from [0, 0, 1] size [4, 4, 1]
// CHECK: hfta.conv %{{.+}}, %{{.+}} {{.*}}padding = array<i64: 0, 0>
func.func @dilated(%x: tensor<2x4x3xf32>, %w: tensor<4x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 4>, padding = array<i64: 4, 4>, groups = 1 : i64} : tensor<2x4x3xf32>, tensor<4x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @all_taps(
// CHECK-NOT: hfta.slice
// CHECK: return
func.func @all_taps(%x: tensor<2x4x2x2xf32>, %w: tensor<4x4x3x3xf32>, %v: tensor<4x4x1x1xf32>) -> (tensor<2x4x2x2xf32>, tensor<2x4x4x4xf32>) {
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<2x4x2x2xf32>, tensor<4x4x3x3xf32>
  %1 = hfta.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<2x4x2x2xf32>, tensor<4x4x1x1xf32>
  return %0, %1 : tensor<2x4x2x2xf32>, tensor<2x4x4x4xf32>
}
