// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$GRADIENT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[X:.*]]: tensor<8x5xf32>, %[[W:.*]]: tensor<5x3xf32>
func.func @plain(%x: tensor<8x5xf32>, %w: tensor<5x3xf32>) -> tensor<8x3xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: %[[INIT:.*]] = linalg.fill
  // CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$RESULT]]], iterator_types = ["parallel", "reduction", "parallel"]}
  // CHECK-SAME: ins(%[[X]], %[[W]] : {{.*}}) outs(%[[INIT]]
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[SUM:.*]]: f32):
  // CHECK-NEXT: %[[NEXT:.*]] = math.fma %[[A]], %[[B]], %[[SUM]] : f32
  // CHECK-NEXT: linalg.yield %[[NEXT]]
  %0 = hfta.contract %x, %w maps [#mk, #kn, #mn] : tensor<8x5xf32>, tensor<5x3xf32>
  return %0 : tensor<8x3xf32>
}

// The innermost axis is made contiguous in the operand that has it elsewhere.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<8x5xf32>, %[[W:.*]]: tensor<3x5xf32>
func.func @linear(%x: tensor<8x5xf32>, %w: tensor<3x5xf32>) -> tensor<8x3xf32> {
  // CHECK: %[[PACKED:.*]] = linalg.transpose ins(%[[W]] : tensor<3x5xf32>) outs({{.*}} : tensor<5x3xf32>) permutation = [1, 0]
  // CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$RESULT]]]
  // CHECK-SAME: ins(%[[X]], %[[PACKED]]
  %0 = hfta.contract %x, %w maps [#mk, #nk, #mn] : tensor<8x5xf32>, tensor<3x5xf32>
  return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @weight_gradient(
func.func @weight_gradient(%g: tensor<8x3xf32>, %x: tensor<8x5xf32>) -> tensor<3x5xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: linalg.generic {indexing_maps = [#[[$GRADIENT]], #[[$RHS]], #[[$RESULT]]]
  %0 = hfta.contract %g, %x maps [#km, #kn, #mn] : tensor<8x3xf32>, tensor<8x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @dot(
func.func @dot(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<f32> {
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
  %0 = hfta.contract %x, %y maps [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>] : tensor<5xf32>, tensor<5xf32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @wider(
func.func @wider(%x: tensor<8x5xf32>, %w: tensor<5x3xf32>) -> tensor<8x3xf32> {
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[SUM:.*]]: f64):
  // CHECK-NEXT: %[[LEFT:.*]] = arith.extf %[[A]]
  // CHECK-NEXT: %[[RIGHT:.*]] = arith.extf %[[B]]
  // CHECK-NEXT: math.fma %[[LEFT]], %[[RIGHT]], %[[SUM]] : f64
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  %0 = hfta.contract %x, %w maps [#mk, #kn, #mn] {accumulate = f64} : tensor<8x5xf32>, tensor<5x3xf32>
  return %0 : tensor<8x3xf32>
}
