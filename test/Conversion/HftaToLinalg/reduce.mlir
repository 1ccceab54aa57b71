// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$NCHW:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d0)>

// The kept axis is innermost where it is contiguous.
// CHECK-LABEL: func.func @rows(
func.func @rows(%x: tensor<64x10xf32>) -> tensor<10xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
  // CHECK-SAME: outs(%[[INIT]]
  // CHECK-NEXT: ^bb0(%[[NEXT:.*]]: f32, %[[SUM:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[SUM]], %[[NEXT]] : f32
  %0 = hfta.reduce sum %x over [0] : tensor<64x10xf32>
  return %0 : tensor<10xf32>
}

// Elsewhere it is outermost.
// CHECK-LABEL: func.func @channels(
func.func @channels(%x: tensor<8x16x49xf32>) -> tensor<16xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$NCHW]], #[[$C]]], iterator_types = ["parallel", "reduction", "reduction"]}
  %0 = hfta.reduce sum %x over [0, 2] : tensor<8x16x49xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @extremes(
func.func @extremes(%x: tensor<4x5xf32>, %i: tensor<4x5xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: arith.maximumf
  %0 = hfta.reduce max %x over [1] : tensor<4x5xf32>
  // CHECK: arith.constant 2147483647 : i32
  // CHECK: arith.minsi
  %1 = hfta.reduce min %i over [1] : tensor<4x5xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @product(
func.func @product(%x: tensor<4x5xi64>) -> tensor<i64> {
  // CHECK: arith.constant 1 : i64
  // CHECK: arith.muli
  %0 = hfta.reduce product %x over [0, 1] : tensor<4x5xi64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @wider(
func.func @wider(%x: tensor<4x5xf32>) -> tensor<4xf32> {
  // CHECK: ^bb0(%[[NEXT:.*]]: f32, %[[SUM:.*]]: f64):
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NEXT]] : f32 to f64
  // CHECK-NEXT: arith.addf %[[SUM]], %[[WIDE]] : f64
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  %0 = hfta.reduce sum %x over [1] {accumulate = f64} : tensor<4x5xf32>
  return %0 : tensor<4xf32>
}

// Rows of a part are added one after the other, and then the squares of what
// they differ from their mean.
// CHECK-LABEL: func.func @part_sums(
// CHECK-SAME: %[[X:.*]]: tensor<4x9x6x16xf32>
// CHECK: %[[ROWS:.*]] = tensor.expand_shape %{{.*}} : tensor<216x16xf32> into tensor<12x18x16xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[ROWS]] : tensor<12x18x16xf32>) outs(%{{.*}} : tensor<12x16xf32>) attrs = {hfta.part_sum, {{.*}}} {
// CHECK: arith.addf
// CHECK: %[[MEANS:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<12x16xf32>)
// CHECK: %[[LENGTH:.*]] = arith.constant 1.800000e+01 : f32
// CHECK: arith.divf %{{.*}}, %[[LENGTH]]
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %[[MEANS]] : tensor<12x18x16xf32>, tensor<12x16xf32>) outs(%{{.*}} : tensor<12x16xf32>) attrs = {hfta.part_sum, {{.*}}} {
// CHECK: %[[REST:.*]] = arith.subf
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[REST]], %[[REST]]
// CHECK: arith.addf %{{.*}}, %[[SQUARE]]
func.func @part_sums(%x: tensor<4x9x6x16xf32>) -> tensor<12x16xf32> {
  %0 = hfta.part_sums %x of 18 along 3 {centered} : tensor<4x9x6x16xf32>
  return %0 : tensor<12x16xf32>
}

// Columns come last.
// CHECK-LABEL: func.func @part_sums_of_channels(
// CHECK-SAME: %[[X:.*]]: tensor<4x16x18xf32>
// CHECK: %[[LAST:.*]] = linalg.transpose ins(%[[X]] : tensor<4x16x18xf32>) outs(%{{.*}} : tensor<4x18x16xf32>) permutation = [0, 2, 1]
// CHECK: tensor.expand_shape %{{.*}} into tensor<8x9x16xf32>
func.func @part_sums_of_channels(%x: tensor<4x16x18xf32>) -> tensor<8x16xf32> {
  %0 = hfta.part_sums %x of 9 along 1 : tensor<4x16x18xf32>
  return %0 : tensor<8x16xf32>
}
