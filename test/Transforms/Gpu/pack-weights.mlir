// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-round-factors -hfta-pack-weights -canonicalize | FileCheck %s -enable-var-scope

// A weight of several taps lies in memory with channels last.
// CHECK-LABEL: func.func @taps(
// CHECK-SAME: %[[X:[^ ,:]+]]: tensor<8x16x9x9xf32>, %[[W:[^ ,:]+]]: tensor<32x16x3x3xf32>
// CHECK: %[[PACKED:.+]] = hfta.transpose %[[W]] by [0, 2, 3, 1] : tensor<32x16x3x3xf32>
// CHECK: %[[VIEW:.+]] = hfta.transpose %[[PACKED]] by [0, 3, 1, 2] {hfta.repeated} : tensor<32x3x3x16xf32>
// CHECK: hfta.conv %[[X]], %[[VIEW]]
func.func @taps(%x: tensor<8x16x9x9xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x32x9x9xf32> {
  %y = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x16x9x9xf32>, tensor<32x16x3x3xf32>
  return %y : tensor<8x32x9x9xf32>
}

// A rounded value is packed, and widened after that.
// CHECK-LABEL: func.func @rounded(
// CHECK: %[[NARROW:.+]] = hfta.cast %{{.+}} : tensor<32x16x3xf32> to bf16
// CHECK: %[[PACKED:.+]] = hfta.transpose %[[NARROW]] by [0, 2, 1] : tensor<32x16x3xbf16>
// CHECK: %[[VIEW:.+]] = hfta.transpose %[[PACKED]] by [0, 2, 1] {hfta.repeated} : tensor<32x3x16xbf16>
// CHECK: %[[WIDE:.+]] = hfta.cast %[[VIEW]] {hfta.repeated} : tensor<32x16x3xbf16> to f32
// CHECK: hfta.conv_input_gradient %{{.+}}, %[[WIDE]]
func.func @rounded(%g: tensor<8x32x9xf32>, %w: tensor<32x16x3xf32>) -> tensor<8x16x9xf32> {
  %y = hfta.conv_input_gradient %g, %w {hfta.multiply = bf16, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 1 : i64, input_shape = array<i64: 8, 16, 9>} : tensor<8x32x9xf32>, tensor<32x16x3xf32>
  return %y : tensor<8x16x9xf32>
}

// Nothing is gained by few channels, or with one tap.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: hfta.transpose
func.func @others(%x: tensor<8x3x9x9xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<32x16x1x1xf32>) -> tensor<8x32x9x9xf32> {
  %y = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x3x9x9xf32>, tensor<16x3x3x3xf32>
  %z = hfta.conv %y, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : tensor<8x16x9x9xf32>, tensor<32x16x1x1xf32>
  return %z : tensor<8x32x9x9xf32>
}
