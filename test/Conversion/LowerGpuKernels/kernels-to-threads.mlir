// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-kernels-to-threads | FileCheck %s -enable-var-scope

// One element of each operand, and the memory of an argument that a result
// takes the place of.
// CHECK-LABEL: func.func private @elementwise(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x32xf32>, %[[Y:[^ ,:]+]]: memref<4x32xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>
// CHECK-SAME: hfta.items = 128 : i64
// CHECK: %[[A:.+]] = memref.load %[[X]]
// CHECK: %[[B:.+]] = memref.load %[[Y]]
// CHECK: %[[SUM:.+]] = arith.addf %[[A]], %[[B]]
// CHECK: memref.store %[[SUM]], %[[Y]]
func.func private @elementwise(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x32xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %empty = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x32xf32>, tensor<4x32xf32>) outs(%empty : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  return %sum : tensor<4x32xf32>
}

// -----

// The terms of a sum in their order, and before the loop what doesn't depend on
// it. Padding is a condition.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x30xf32>, %[[SCALE:[^ ,:]+]]: memref<4xf32>, %[[OUT:[^ ,:]+]]: memref<4xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 4 : i64
// CHECK: %[[SCALED:.+]] = memref.load %[[SCALE]][%[[ITEM]]]
// CHECK: %[[SUM:.+]] = scf.for %[[I:.+]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OLD:.+]] = %{{.*}}) -> (f32)
// CHECK: scf.if
// CHECK: memref.load %[[X]][%[[ITEM]],
// CHECK: } else {
// CHECK-NOT: memref.load
// CHECK: %[[TERM:.+]] = arith.mulf %{{.*}}, %[[SCALED]]
// CHECK: %[[NEW:.+]] = arith.addf %[[OLD]], %[[TERM]]
// CHECK: scf.yield %[[NEW]]
// CHECK: memref.store %[[SUM]], %[[OUT]][%{{.*}}]
func.func private @sum(%x: tensor<4x30xf32>, %scale: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x30xf32> to tensor<4x32xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%padded, %scale : tensor<4x32xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// Of two results the smaller one has fewer elements than there are threads.
// CHECK-LABEL: func.func private @two(
// CHECK-SAME: %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 8 : i64
// CHECK: %[[LAST:.+]] = arith.minui %[[ITEM]]
// CHECK: memref.load %{{.*}}[%[[LAST]]]
// CHECK: %[[OWN:.+]] = arith.cmpi ult, %[[ITEM]]
// CHECK: scf.if %[[OWN]]
func.func private @two(%x: tensor<2xf32>, %y: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %e = tensor.empty() : tensor<2xf32>
  %f = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%v: f32, %w: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%v: f32, %w: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %a, %b : tensor<2xf32>, tensor<8xf32>
}

// -----

func.func private @whole(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %0 = tensor.cast %x : tensor<4x4xf32> to tensor<?x?xf32>
  // expected-error @+1 {{isn't computed element by element}}
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// expected-error @+1 {{expected one entry of hfta.ties a result, -1 or an argument}}
func.func private @ties(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: 3>} {
  return %x : tensor<4xf32>
}

// -----

// Nothing is read of what has no elements.
// CHECK-LABEL: func.func private @empty(
// CHECK-SAME: memref<0xf32>, %{{.*}}: memref<20x3xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func private @empty(%x: tensor<0x3xf32>) -> tensor<20x3xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[20, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<0x3xf32> to tensor<20x3xf32>
  return %p : tensor<20x3xf32>
}
