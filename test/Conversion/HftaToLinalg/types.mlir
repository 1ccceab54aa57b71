// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi8>)
func.func @unsigned(%x: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xui8>) {
  // CHECK: arith.uitofp %{{.*}} : i8 to f32
  %0 = hfta.cast %x : tensor<4xui8> to f32
  // CHECK: return %{{.*}}, %[[X]]
  return %0, %x : tensor<4xf32>, tensor<4xui8>
}

// CHECK-LABEL: func.func @signed(
// CHECK-SAME: tensor<4xi8>
func.func @signed(%x: tensor<4xsi8>) -> tensor<4xf32> {
  // CHECK: arith.sitofp %{{.*}} : i8 to f32
  %0 = hfta.cast %x : tensor<4xsi8> to f32
  return %0 : tensor<4xf32>
}

// Booleans are bytes at the border.
// CHECK-LABEL: func.func @booleans(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>, %[[Y:.*]]: tensor<4xi8>) -> tensor<4xi8>
func.func @booleans(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]]
  // CHECK: arith.cmpi ne, %{{.*}} : i8
  // CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[Y]]
  // CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>)
  // CHECK: arith.andi
  %0 = hfta.and %x, %y : tensor<4xi1>, tensor<4xi1>
  // CHECK: %[[R:.*]] = linalg.generic
  // CHECK: arith.extui %{{.*}} : i1 to i8
  // CHECK: return %[[R]] : tensor<4xi8>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func.func @constants(
func.func @constants() -> (tensor<2xui8>, tensor<2xf32>) {
  // CHECK-DAG: arith.constant dense<[1, -6]> : tensor<2xi8>
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = hfta.constant dense<[1, 250]> : tensor<2xui8>
  %1 = hfta.constant dense<1.0> : tensor<2xf32>
  return %0, %1 : tensor<2xui8>, tensor<2xf32>
}

// Tasks are no kernels.
// CHECK-LABEL: func.func @task(
func.func @task() attributes {hfta.task = #hfta.task<forward, 0>} {
  // CHECK: hfta.read
  %0 = hfta.read @x : tensor<4xf32>
  return
}

hfta.variable @x {role = #hfta.role<input>} : tensor<4xf32>

// Types of 16 bits meet in one that holds both.
// CHECK-LABEL: func.func @halves(
func.func @halves(%x: tensor<4xf16>, %y: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf16>) {
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.truncf %[[WIDE]] : f32 to bf16
  %0 = hfta.cast %x : tensor<4xf16> to bf16
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.truncf %[[WIDE]] : f32 to f16
  %1 = hfta.cast %y : tensor<4xbf16> to f16
  return %0, %1 : tensor<4xbf16>, tensor<4xf16>
}
