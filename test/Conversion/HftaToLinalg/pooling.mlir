// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// Iteration n, c, y, ky, kx, x.
// CHECK-DAG: #[[$INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d3, d5 * 2 + d4)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// Iteration n, c, y, ry, candidate, candidate, x, rx.
// CHECK-DAG: #[[$WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2 + d4, d5 + d6)>
// CHECK-DAG: #[[$ELEMENTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d6, d7)>

// CHECK-LABEL: func.func @values(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x14x14xf32>
func.func @values(%x: tensor<8x16x14x14xf32>) -> tensor<8x16x7x7xf32> {
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: linalg.generic {indexing_maps = [#[[$INPUT]], #{{.*}}, #[[$RESULT]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
  // CHECK: arith.maximumf
  %0, %1 = hfta.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x16x14x14xf32>
  return %0 : tensor<8x16x7x7xf32>
}

// The first of equal elements, or the first NaN, wins.
// CHECK-LABEL: func.func @indices(
func.func @indices(%x: tensor<8x16x14x14xf32>) -> (tensor<8x16x7x7xf32>, tensor<8x16x7x7xi32>) {
  // CHECK: linalg.generic {indexing_maps = [#[[$INPUT]], #{{.*}}, #[[$RESULT]], #[[$RESULT]]]
  // CHECK: ^bb0(%[[NEXT:.*]]: f32, %{{.*}}: i8, %[[BEST:.*]]: f32, %[[WHERE:.*]]: i32):
  // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[WHERE]]
  // CHECK: %[[GREATER:.*]] = arith.cmpf ugt, %[[NEXT]], %[[BEST]]
  // CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[BEST]], %[[BEST]]
  // CHECK: %[[BEATS:.*]] = arith.andi %[[GREATER]], %[[NUMBER]]
  // CHECK: %[[TAKES:.*]] = arith.ori %[[FIRST]], %[[BEATS]]
  // CHECK: arith.select %[[TAKES]], %[[NEXT]], %[[BEST]]
  // CHECK: arith.select %[[TAKES]], %{{.*}}, %[[WHERE]]
  %0, %1 = hfta.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x16x14x14xf32>
  return %0, %1 : tensor<8x16x7x7xf32>, tensor<8x16x7x7xi32>
}

// Padding is never chosen: taps are tested against the input's bounds.
// CHECK-LABEL: func.func @padded(
func.func @padded(%x: tensor<8x16x14xf32>) -> (tensor<8x16x7xf32>, tensor<8x16x7xi32>) {
  // CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 0]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult
  // CHECK: %[[BEATS:.*]] = arith.ori
  // CHECK: arith.andi %[[INSIDE]], %[[BEATS]]
  %0, %1 = hfta.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 0>} : tensor<8x16x14xf32>
  return %0, %1 : tensor<8x16x7xf32>, tensor<8x16x7xi32>
}

// CHECK-LABEL: func.func @max_gradient(
// CHECK-SAME: %[[G:.*]]: tensor<8x16x7x7xf32>, %[[I:.*]]: tensor<8x16x7x7xi32>
func.func @max_gradient(%g: tensor<8x16x7x7xf32>, %i: tensor<8x16x7x7xi32>) -> tensor<8x16x14x14xf32> {
  // CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[$WINDOWS]], #[[$WINDOWS]], #{{.*}}, #[[$ELEMENTS]]]
  // CHECK-SAME: ins(%[[G]], %[[I]],
  // CHECK: ^bb0(%[[NEXT:.*]]: f32, %[[INDEX:.*]]: i32, %{{.*}}: i8, %[[SUM:.*]]: f32):
  // CHECK: %[[HERE:.*]] = arith.cmpi eq, %[[INDEX]]
  // CHECK: %[[ADDED:.*]] = arith.addf %[[SUM]], %[[NEXT]]
  // CHECK: arith.select %[[HERE]], %[[ADDED]], %[[SUM]]
  // CHECK: tensor.collapse_shape %[[SUMS]]
  %0 = hfta.max_pool_gradient %g, %i {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x16x7x7xf32>, tensor<8x16x7x7xi32>
  return %0 : tensor<8x16x14x14xf32>
}

// CHECK-LABEL: func.func @average(
func.func @average(%x: tensor<8x16x14x14xf32>) -> tensor<8x16x7x7xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$INPUT]], #{{.*}}, #[[$RESULT]]]
  // CHECK: arith.addf
  // CHECK: linalg.generic
  // CHECK: %[[COUNT:.*]] = arith.constant 4.000000e+00 : f32
  // CHECK: arith.divf %{{.*}}, %[[COUNT]]
  %0 = hfta.average_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, ceil_padding = array<i64: 0, 0>} : tensor<8x16x14x14xf32>
  return %0 : tensor<8x16x7x7xf32>
}

// Windows at the border have fewer taps.
// CHECK-LABEL: func.func @counts(
func.func @counts(%x: tensor<8x16x6xf32>) -> tensor<8x16x3xf32> {
  // CHECK: %[[COUNTS:.*]] = arith.constant dense<[2.000000e+00, 3.000000e+00, 3.000000e+00]> : tensor<3xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[COUNTS]]
  %0 = hfta.average_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 0>, ceil_padding = array<i64: 0>} : tensor<8x16x6xf32>
  return %0 : tensor<8x16x3xf32>
}

// CHECK-LABEL: func.func @average_gradient(
func.func @average_gradient(%g: tensor<8x16x7x7xf32>) -> tensor<8x16x14x14xf32> {
  // CHECK: %[[SHARES:.*]] = linalg.generic
  // CHECK: arith.divf
  // CHECK: linalg.generic {indexing_maps = [#[[$WINDOWS]], #{{.*}}, #[[$ELEMENTS]]]
  // CHECK-SAME: ins(%[[SHARES]],
  %0 = hfta.average_pool_gradient %g {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, ceil_padding = array<i64: 0, 0>, input_shape = array<i64: 8, 16, 14, 14>} : tensor<8x16x7x7xf32>
  return %0 : tensor<8x16x14x14xf32>
}
