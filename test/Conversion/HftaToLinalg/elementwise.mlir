// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>
func.func @exp(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[R:.*]] = linalg.generic
  // CHECK-SAME: indexing_maps = [#[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]
  // CHECK-SAME: ins(%[[X]] : tensor<4x3xf32>)
  // CHECK: math.exp %{{.*}} : f32
  // CHECK: return %[[R]]
  %0 = hfta.exp %x : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf64>, %[[Y:.*]]: tensor<4x3xf64>
func.func @add(%x: tensor<4x3xf64>, %y: tensor<4x3xf64>) -> tensor<4x3xf64> {
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[X]], %[[Y]] : tensor<4x3xf64>, tensor<4x3xf64>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %{{.*}}: f64):
  // CHECK-NEXT: arith.addf %[[A]], %[[B]] : f64
  %0 = hfta.add %x, %y : tensor<4x3xf64>, tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

// CHECK-LABEL: func.func @scalar(
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: linalg.generic {{.*}} iterator_types = []
  // CHECK: arith.negf
  %0 = hfta.neg %x : tensor<f32>
  return %0 : tensor<f32>
}

// Booleans stay i1 between ops of a kernel.
// CHECK-LABEL: func.func @masked(
func.func @masked(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[MASK:.*]] = linalg.generic
  // CHECK: arith.cmpf olt
  // CHECK: -> tensor<4x3xi1>
  %0 = hfta.compare less, %x, %y : tensor<4x3xf32>, tensor<4x3xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[MASK]],
  // CHECK: arith.select
  %1 = hfta.select %0, %x, %y : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
