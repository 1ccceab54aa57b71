// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: hfta.model @net copies [0, 2] {
hfta.model @net copies [0, 2] {
  // CHECK: hfta.variable @weight {initial = #hfta.uniform<-1.000000e-01 : f32, 1.000000e-01 : f32>, role = #hfta.role<parameter>, trained} : tensor<4xf32>
  hfta.variable @weight {role = #hfta.role<parameter>, trained,
      initial = #hfta.uniform<-0.1 : f32, 0.1 : f32>} : tensor<4xf32>
  // CHECK: hfta.variable @"running mean" {initial = dense<1.000000e+00> : tensor<4xf32>, role = #hfta.role<statistics>} : tensor<4xf32>
  hfta.variable @"running mean" {role = #hfta.role<statistics>,
      initial = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
  // CHECK: func.func @forward
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[W:.*]] = hfta.read @weight : tensor<4xf32>
    %w = hfta.read @weight : tensor<4xf32>
    // CHECK: hfta.write %[[W]], @"running mean" : tensor<4xf32>
    hfta.write %w, @"running mean" : tensor<4xf32>
    return %x : tensor<4xf32>
  }
}

// CHECK: hfta.variable @stacked {initial = dense<{{.*}}> : tensor<2x2xf32>, role = #hfta.role<parameter>} : tensor<2xf32, #hfta.copies<2>>
hfta.variable @stacked {role = #hfta.role<parameter>,
    initial = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : tensor<2xf32, #hfta.copies<2>>

// CHECK: hfta.variable @drawn {block = 1 : i64, initial = #hfta.normal<0.000000e+00 : f32, 1.000000e+00 : f32>, instances = 4 : i64
hfta.variable @drawn {role = #hfta.role<saved>, block = 1 : i64, instances = 4 : i64,
    initial = #hfta.normal<0.0 : f32, 1.0 : f32>} : tensor<2xf32, #hfta.copies<2>>

// CHECK-LABEL: func.func @constant(
func.func @constant() -> tensor<2xf32> {
  // CHECK: hfta.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = hfta.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @stack(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>
func.func @stack(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = hfta.stack %[[A]], %[[B]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  %0 = hfta.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  // CHECK: hfta.unstack %[[S]][1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %1 = hfta.unstack %0[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @kernel(%x: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK: hfta.kernel "relu"(%[[X]]) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>):
  // CHECK: %[[R:.*]] = hfta.relu %[[A]] : tensor<4xf32>
  // CHECK: hfta.yield %[[R]] : tensor<4xf32>
  %0 = hfta.kernel "relu"(%x) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  ^bb0(%a: tensor<4xf32>):
    %1 = hfta.relu %a : tensor<4xf32>
    hfta.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32, #hfta.copies<2>>
}
