// RUN: hfta-opt %s -convert-hfta-to-linalg -canonicalize | FileCheck %s -enable-var-scope

// Windows read and write tensors that are stored with channels last as they
// are, between the transpositions to and from the logical order.

// Iteration n, y, ky, kx, c, x, m: terms as they lie.
// CHECK-DAG: #[[$DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d2, d3 + d5, d4)>
// CHECK-DAG: #[[$KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2, d3, d4, d6)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d5, d6)>
// Iteration m, n, y, x, ky, kx, c.
// CHECK-DAG: #[[$INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 + d4, d3 + d5, d6)>
// CHECK-DAG: #[[$GRADIENT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2, d3, d0)>
// CHECK-DAG: #[[$SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d5, d6)>
// Depthwise: iteration n, y, ky, kx, x, g; and n, y, x, ky, kx, g.
// CHECK-DAG: #[[$PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d2, d3 + d4, d5)>
// CHECK-DAG: #[[$TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d5)>
// CHECK-DAG: #[[$TAP_SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5)>
// Pooling: iteration n, y, x, ky, kx, c.
// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>
// CHECK-DAG: #[[$POOLED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<8x28x28x16xf32>, %[[W:.*]]: tensor<32x16x3x3xf32>
func.func @conv(%x: tensor<8x28x28x16xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x28x28x32xf32> {
  // CHECK: %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 1, 1, 0] high[0, 1, 1, 0]
  // CHECK: %[[PACKED:.*]] = linalg.transpose ins(%[[W]] : {{.*}}) permutation = [2, 3, 1, 0]
  // CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[$DATA]], #[[$KERNEL]], #[[$RESULT]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
  // CHECK-SAME: ins(%[[PADDED]], %[[PACKED]]
  // CHECK: return %[[SUMS]] : tensor<8x28x28x32xf32>
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x28x28x16xf32>
  %1 = hfta.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x16x28x28xf32>, tensor<32x16x3x3xf32>
  %2 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x32x28x28xf32>
  return %2 : tensor<8x28x28x32xf32>
}

// Phases of the stride are interleaved where they are computed. The weight's
// channels are moved before its taps are split into phases, and not again.
// CHECK-LABEL: func.func @input_gradient(
// CHECK-SAME: %{{[^ ,:#]+}}: tensor<8x7x7x32xf32>, %[[W:[^ ,:#]+]]: tensor<32x16x3x3xf32>
func.func @input_gradient(%g: tensor<8x7x7x32xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x14x14x16xf32> {
  // CHECK: %[[MOVED:.*]] = linalg.transpose ins(%[[W]] : {{.*}}) outs(%{{.*}} : tensor<3x3x32x16xf32>) permutation = [2, 3, 0, 1]
  // CHECK: %[[TAPS:.*]] = tensor.insert_slice %[[MOVED]] into %{{.*}} : tensor<3x3x32x16xf32> into tensor<4x4x32x16xf32>
  // CHECK: tensor.expand_shape %[[TAPS]] {{.*}} into tensor<2x2x2x2x32x16xf32>
  // CHECK-NOT: linalg.transpose
  // CHECK: tensor.insert_slice {{.*}} into tensor<8x7x2x7x2x16xf32>
  // CHECK: %[[WHOLE:.*]] = tensor.collapse_shape {{.*}} into tensor<8x14x14x16xf32>
  // CHECK: return %[[WHOLE]]
  %0 = hfta.transpose %g by [0, 3, 1, 2] : tensor<8x7x7x32xf32>
  %1 = hfta.conv_input_gradient %0, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x32x7x7xf32>, tensor<32x16x3x3xf32>
  %2 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x16x14x14xf32>
  return %2 : tensor<8x14x14x16xf32>
}

// Nothing is packed or padded: positions inside have all taps, those at the
// borders add what they have.
// CHECK-LABEL: func.func @weight_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<8x28x28x16xf32>, %[[G:.*]]: tensor<8x28x28x16xf32>
func.func @weight_gradient(%x: tensor<8x28x28x16xf32>, %g: tensor<8x28x28x16xf32>) -> tensor<16x16x3x3xf32> {
  // CHECK-NOT: tensor.pad
  // CHECK-NOT: linalg.transpose
  // CHECK: %[[PART:.*]] = tensor.extract_slice %[[G]][0, 1, 1, 0] [8, 26, 26, 16]
  // CHECK: %[[INNER:.*]] = linalg.generic {indexing_maps = [#[[$INPUT]], #[[$GRADIENT]], #[[$SUMS]]]
  // CHECK-SAME: ins(%[[X]], %[[PART]]
  // CHECK: %[[BEFORE:.*]] = tensor.extract_slice %[[INNER]][0, 0, 1, 0] [16, 3, 2, 16]
  // CHECK: tensor.extract_slice %[[G]][0, 1, 0, 0] [8, 26, 1, 16]
  // CHECK: %[[AFTER:.*]] = linalg.generic {{.*}} outs(%[[BEFORE]]
  // CHECK: tensor.insert_slice %[[AFTER]] into %[[INNER]][0, 0, 1, 0]
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x28x28x16xf32>
  %1 = hfta.transpose %g by [0, 3, 1, 2] : tensor<8x28x28x16xf32>
  %2 = hfta.conv_weight_gradient %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 16, 16, 3, 3>} : tensor<8x16x28x28xf32>, tensor<8x16x28x28xf32>
  return %2 : tensor<16x16x3x3xf32>
}

// CHECK-LABEL: func.func @depthwise(
func.func @depthwise(%x: tensor<8x14x14x48xf32>, %w: tensor<48x1x3x3xf32>) -> tensor<8x14x14x48xf32> {
  // CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<3x3x48xf32>)
  // CHECK: linalg.generic {indexing_maps = [#[[$PLANES]], #[[$TAPS]], #{{.*}}]
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x14x14x48xf32>
  %1 = hfta.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 48 : i64} : tensor<8x48x14x14xf32>, tensor<48x1x3x3xf32>
  %2 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x48x14x14xf32>
  return %2 : tensor<8x14x14x48xf32>
}

// CHECK-LABEL: func.func @depthwise_weight_gradient(
func.func @depthwise_weight_gradient(%x: tensor<8x14x14x48xf32>, %g: tensor<8x14x14x48xf32>) -> tensor<48x1x3x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [{{.*}}, {{.*}}, #[[$TAP_SUMS]]]
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x14x14x48xf32>
  %1 = hfta.transpose %g by [0, 3, 1, 2] : tensor<8x14x14x48xf32>
  %2 = hfta.conv_weight_gradient %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 48 : i64, weight_shape = array<i64: 48, 1, 3, 3>} : tensor<8x48x14x14xf32>, tensor<8x48x14x14xf32>
  return %2 : tensor<48x1x3x3xf32>
}

// CHECK-LABEL: func.func @pool(
// CHECK-SAME: %[[X:.*]]: tensor<8x14x14x16xf32>
func.func @pool(%x: tensor<8x14x14x16xf32>) -> tensor<8x7x7x16xf32> {
  // CHECK: %[[MOST:.*]] = linalg.generic {indexing_maps = [#[[$WINDOW]], #{{.*}}, #[[$POOLED]]]
  // CHECK-SAME: ins(%[[X]]
  // CHECK: return %[[MOST]]
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x14x14x16xf32>
  %1, %2 = hfta.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x16x14x14xf32>
  %3 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x16x7x7xf32>
  return %3 : tensor<8x7x7x16xf32>
}

// Operands that are stored in another order than the result are packed.
// CHECK-LABEL: func.func @pool_gradient(
// CHECK-SAME: %[[G:.*]]: tensor<8x16x7x7xf32>, %[[I:.*]]: tensor<8x7x7x16xi32>
func.func @pool_gradient(%g: tensor<8x16x7x7xf32>, %i: tensor<8x7x7x16xi32>) -> tensor<8x14x14x16xf32> {
  // CHECK: %[[PACKED:.*]] = linalg.transpose ins(%[[G]] : {{.*}}) permutation = [0, 2, 3, 1]
  // CHECK: linalg.generic {{.*}} ins(%[[PACKED]], %[[I]]
  %0 = hfta.transpose %i by [0, 3, 1, 2] : tensor<8x7x7x16xi32>
  %1 = hfta.max_pool_gradient %g, %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x16x7x7xf32>, tensor<8x16x7x7xi32>
  %2 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x16x14x14xf32>
  return %2 : tensor<8x14x14x16xf32>
}

// CHECK-LABEL: func.func @average(
func.func @average(%x: tensor<8x14x14x16xf32>) -> tensor<8x7x7x16xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$WINDOW]], #{{.*}}, #[[$POOLED]]]
  // CHECK: arith.divf
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x14x14x16xf32>
  %1 = hfta.average_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, ceil_padding = array<i64: 0, 0>} : tensor<8x16x14x14xf32>
  %2 = hfta.transpose %1 by [0, 2, 3, 1] : tensor<8x16x7x7xf32>
  return %2 : tensor<8x7x7x16xf32>
}
