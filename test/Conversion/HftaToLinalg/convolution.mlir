// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// Output channels innermost: iteration n, y, c, ky, kx, x, m.
// CHECK-DAG: #[[$DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d1 + d3, d4 + d5)>
// CHECK-DAG: #[[$KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2, d3, d4, d6)>
// CHECK-DAG: #[[$STORED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d5, d6)>
// Columns innermost: iteration n, m, c, ky, kx, y, x.
// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3 + d5, d4 + d6)>
// CHECK-DAG: #[[$WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2, d3, d4)>
// Depthwise, rows share what they read: iteration n, g, kx, ky, y, x.
// CHECK-DAG: #[[$PLANE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4 * 2 + d3, d2 + d5)>
// CHECK-DAG: #[[$TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d3, d2)>
// Phases of the stride: iteration n, y, ry, rx, m, ky, kx, x, c.
// CHECK-DAG: #[[$PHASES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d7, d3, d8)>
// Backwards: iteration n, y, c, ky, kx, x, m.
// CHECK-DAG: #[[$BACKWARDS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d1 + -d3 + 2, d5 + -d4 + 2)>
// Weight gradient, channels innermost: iteration m, n, y, x, ky, kx, c.
// CHECK-DAG: #[[$PIXELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 + d4, d3 + d5, d6)>
// CHECK-DAG: #[[$GRADIENT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d0, d2, d3)>
// CHECK-DAG: #[[$SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d5, d6)>
// Weight gradient, columns innermost: iteration m, n, y, c, ky, kx, x.
// CHECK-DAG: #[[$COLUMNS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>

// CHECK-LABEL: func.func @channels(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x14x14xf32>, %[[W:.*]]: tensor<32x16x3x3xf32>
func.func @channels(%x: tensor<8x16x14x14xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x32x14x14xf32> {
  // CHECK: %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 0, 1, 1] high[0, 0, 1, 1]
  // CHECK: %[[PACKED:.*]] = linalg.transpose ins(%[[W]] : {{.*}}) permutation = [1, 2, 3, 0]
  // CHECK: %[[INIT:.*]] = linalg.fill
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$DATA]], #[[$KERNEL]], #[[$STORED]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
  // CHECK-SAME: ins(%[[PADDED]], %[[PACKED]] : {{.*}}) outs(%[[INIT]]
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
  // CHECK-NEXT: math.fma %[[A]], %[[B]], %[[C]] : f32
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<8x14x14x32xf32>) outs({{.*}} : tensor<8x32x14x14xf32>)
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x16x14x14xf32>, tensor<32x16x3x3xf32>
  return %0 : tensor<8x32x14x14xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: tensor<8x1x32x32xf32>, %[[W:.*]]: tensor<4x1x3x3xf32>
func.func @columns(%x: tensor<8x1x32x32xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<8x4x32x32xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: linalg.generic {indexing_maps = [#[[$ROWS]], #[[$WEIGHT]], #[[$STORED]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
  // CHECK: math.fma
  // CHECK-NOT: linalg.generic
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x1x32x32xf32>, tensor<4x1x3x3xf32>
  return %0 : tensor<8x4x32x32xf32>
}

// CHECK-LABEL: func.func @depthwise(
func.func @depthwise(%x: tensor<2x6x9x9xf32>, %w: tensor<6x1x3x3xf32>) -> tensor<2x6x4x7xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$PLANE]], #[[$TAPS]], {{.*}}]
  %0 = hfta.conv %x, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 6 : i64} : tensor<2x6x9x9xf32>, tensor<6x1x3x3xf32>
  return %0 : tensor<2x6x4x7xf32>
}

// CHECK-LABEL: func.func @wider(
func.func @wider(%x: tensor<2x6x9xf32>, %w: tensor<6x6x3xf32>) -> tensor<2x6x7xf32> {
  // CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f64
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64, accumulate = f64} : tensor<2x6x9xf32>, tensor<6x6x3xf32>
  return %0 : tensor<2x6x7xf32>
}

// A stride of 2 has 2 x 2 phases with 1 or 2 taps along each axis: no products
// with the zeros between strided windows.
// CHECK-LABEL: func.func @input_gradient(
// CHECK-SAME: %[[G:.*]]: tensor<8x32x7x7xf32>, %[[W:.*]]: tensor<32x16x3x3xf32>
func.func @input_gradient(%g: tensor<8x32x7x7xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x16x14x14xf32> {
  // CHECK: tensor.insert_slice %[[W]] into %{{.*}}[0, 0, 1, 1] [32, 16, 3, 3] [1, 1, 1, 1]
  // CHECK: tensor.expand_shape {{.*}} into tensor<32x16x2x2x2x2xf32>
  // CHECK: %[[PADDED:.*]] = tensor.pad %[[G]] low[0, 0, 0, 0] high[0, 0, 1, 1]
  // CHECK: %[[PACKED:.*]] = linalg.transpose
  // CHECK: %[[PLACE:.*]] = tensor.empty() : tensor<8x7x2x7x2x16xf32>
  // CHECK: tensor.extract_slice %[[PACKED]][0, 0, 0, 1, 1, 0] [1, 1, 32, 1, 1, 16]
  // CHECK: linalg.generic {indexing_maps = [{{.*}}, {{.*}}, #[[$PHASES]]]
  // CHECK-SAME: outs(%{{.*}} : tensor<8x7x1x7x1x16xf32>)
  // CHECK: tensor.insert_slice %{{.*}} into %[[PLACE]][0, 0, 0, 0, 0, 0]
  // CHECK: tensor.extract_slice %[[PACKED]][0, 1, 0, 1, 0, 0] [1, 1, 32, 1, 2, 16]
  // CHECK: tensor.extract_slice %[[PACKED]][1, 0, 0, 0, 1, 0] [1, 1, 32, 2, 1, 16]
  // CHECK: tensor.extract_slice %[[PACKED]][1, 1, 0, 0, 0, 0] [1, 1, 32, 2, 2, 16]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1, 0, 1, 0]
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x16x7x2x7x2xf32>)
  // CHECK: tensor.collapse_shape {{.*}} into tensor<8x16x14x14xf32>
  %0 = hfta.conv_input_gradient %g, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x32x7x7xf32>, tensor<32x16x3x3xf32>
  return %0 : tensor<8x16x14x14xf32>
}

// Without a stride, the kernel runs backwards by its indices.
// CHECK-LABEL: func.func @input_gradient_backwards(
func.func @input_gradient_backwards(%g: tensor<8x32x14x14xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<8x16x14x14xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$BACKWARDS]],
  %0 = hfta.conv_input_gradient %g, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x32x14x14xf32>, tensor<32x16x3x3xf32>
  return %0 : tensor<8x16x14x14xf32>
}

// Taps that only meet padding are left out.
// CHECK-LABEL: func.func @one_pixel(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x1x1xf32>, %[[W:.*]]: tensor<32x16x3x3xf32>
func.func @one_pixel(%x: tensor<8x16x1x1xf32>, %w: tensor<32x16x3x3xf32>) -> (tensor<8x32x1x1xf32>, tensor<32x16x3x3xf32>) {
  // CHECK: tensor.extract_slice %[[W]][0, 0, 1, 1] [32, 16, 1, 1]
  // CHECK-NOT: tensor.pad
  // CHECK: math.fma
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x16x1x1xf32>, tensor<32x16x3x3xf32>
  // CHECK-NOT: tensor.pad
  // CHECK: math.fma
  // CHECK: tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 1, 1]
  // CHECK: tensor<32x16x1x1xf32> to tensor<32x16x3x3xf32>
  %1 = hfta.conv_weight_gradient %x, %0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 32, 16, 3, 3>} : tensor<8x16x1x1xf32>, tensor<8x32x1x1xf32>
  return %0, %1 : tensor<8x32x1x1xf32>, tensor<32x16x3x3xf32>
}

// Windows at the borders have fewer taps: rows 0, 1 and 2, and 3 apart.
// CHECK-LABEL: func.func @borders(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x4xf32>
func.func @borders(%x: tensor<8x16x4xf32>, %w: tensor<32x16x3xf32>, %g: tensor<8x32x4xf32>) -> (tensor<8x32x4xf32>, tensor<32x16x3xf32>) {
  // CHECK-NOT: tensor.pad
  // CHECK: %[[KERNEL:.*]] = linalg.transpose
  // CHECK: tensor.extract_slice %[[X]][0, 0, 0] [8, 16, 2]
  // CHECK: tensor.extract_slice %[[KERNEL]][0, 1, 0] [16, 2, 32]
  // CHECK: tensor.extract_slice %[[KERNEL]][0, 0, 0] [16, 2, 32]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 3, 0] [8, 1, 32]
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 1 : i64} : tensor<8x16x4xf32>, tensor<32x16x3xf32>
  // Tap 0 meets positions 1 to 3, tap 2 positions 0 to 2.
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [32, 1, 16]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 0] [32, 1, 16]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 2, 0] [32, 1, 16]
  %1 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 1 : i64, weight_shape = array<i64: 32, 16, 3>} : tensor<8x16x4xf32>, tensor<8x32x4xf32>
  return %0, %1 : tensor<8x32x4xf32>, tensor<32x16x3xf32>
}

// CHECK-LABEL: func.func @weight_gradient_channels(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x14x14xf32>, %[[G:.*]]: tensor<8x32x14x14xf32>
func.func @weight_gradient_channels(%x: tensor<8x16x14x14xf32>, %g: tensor<8x32x14x14xf32>) -> tensor<32x16x3x3xf32> {
  // CHECK: %[[PADDED:.*]] = tensor.pad %[[X]]
  // CHECK: %[[PACKED:.*]] = linalg.transpose ins(%[[PADDED]] : {{.*}}) permutation = [0, 2, 3, 1]
  // CHECK: linalg.generic {indexing_maps = [#[[$PIXELS]], #[[$GRADIENT]], #[[$SUMS]]]
  // CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel", "parallel", "parallel"]
  // CHECK-SAME: ins(%[[PACKED]], %[[G]]
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 32, 16, 3, 3>} : tensor<8x16x14x14xf32>, tensor<8x32x14x14xf32>
  return %0 : tensor<32x16x3x3xf32>
}

// Each column has its own sum; the columns' sums are added in order.
// CHECK-LABEL: func.func @weight_gradient_columns(
func.func @weight_gradient_columns(%x: tensor<8x1x28x28xf32>, %g: tensor<8x16x28x28xf32>) -> tensor<16x1x3x3xf32> {
  // CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [{{.*}}, {{.*}}, #[[$COLUMNS]]]
  // CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction", "parallel", "parallel", "parallel", "parallel"]
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[SUMS]]
  // CHECK: arith.addf
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 16, 1, 3, 3>} : tensor<8x1x28x28xf32>, tensor<8x16x28x28xf32>
  return %0 : tensor<16x1x3x3xf32>
}
