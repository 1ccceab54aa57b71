// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @uniform(
// CHECK-SAME: %[[SEED:.*]]: tensor<i64>, %[[STEP:.*]]: tensor<i64>, %[[FIRST:.*]]: tensor<i64>
func.func @uniform(%seed: tensor<i64>, %step: tensor<i64>, %first: tensor<i64>) -> (tensor<64x10xf32>, tensor<8xf64>) {
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[SEED]], %[[STEP]], %[[FIRST]] :
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %{{.*}}: i64, %[[POSITION:.*]]: i64,
  // CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : index to i64
  // CHECK: arith.addi %[[POSITION]], %[[ROW]] : i64
  // CHECK-COUNT-20: arith.mului_extended
  // CHECK-NOT: arith.mului_extended
  // CHECK: %[[BITS:.*]] = arith.shrui %{{.*}} : i32
  // CHECK: %[[NUMBER:.*]] = arith.sitofp %[[BITS]] : i32 to f32
  // CHECK: arith.constant 5.96046448E-8 : f32
  // CHECK: arith.mulf %[[NUMBER]]
  %0 = hfta.random_uniform %seed, %step, %first [64, 10] stream 7 {per_sample} : f32, tensor<i64>, tensor<i64>, tensor<i64>
  // CHECK: linalg.generic
  // CHECK: arith.sitofp %{{.*}} : i64 to f64
  %1 = hfta.random_uniform %seed, %step, %first [8] stream 7 : f64, tensor<i64>, tensor<i64>, tensor<i64>
  return %0, %1 : tensor<64x10xf32>, tensor<8xf64>
}

// Each sample has a step and a number of its own.
// CHECK-LABEL: func.func @keys_of_samples(
// CHECK-SAME: %[[SEED:.*]]: tensor<i64>, %[[STEPS:.*]]: tensor<64xi64>, %[[SAMPLES:.*]]: tensor<64xi64>
func.func @keys_of_samples(%seed: tensor<i64>, %steps: tensor<64xi64>, %samples: tensor<64xi64>) -> tensor<64x10xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[SEED]], %[[STEPS]], %[[SAMPLES]] :
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %[[STEP:.*]]: i64, %[[SAMPLE:.*]]: i64,
  // CHECK-DAG: arith.trunci %[[STEP]] : i64 to i32
  // CHECK-DAG: arith.trunci %[[SAMPLE]] : i64 to i32
  %0 = hfta.random_uniform %seed, %steps, %samples [64, 10] stream 7 {per_sample} : f32, tensor<i64>, tensor<64xi64>, tensor<64xi64>
  return %0 : tensor<64x10xf32>
}
