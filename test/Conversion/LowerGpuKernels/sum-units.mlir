// RUN: hfta-opt %s -split-input-file -hfta-map-kernels-to-gpu | FileCheck %s --check-prefix=MAP
// RUN: hfta-opt %s -split-input-file -hfta-map-kernels-to-gpu -hfta-kernels-to-threads | FileCheck %s -enable-var-scope

// A lane takes four neighbouring terms at a time, which it reads at once and adds in
// their order: lane i begins with those from 4i on, then come those after all lanes'.
// MAP-LABEL: func.func private @rows(
// MAP: hfta.sum_lanes = 64 : i64, hfta.sum_unit = 4 : i64
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<8x512xf32>
// CHECK: %[[SUM:.+]] = scf.for {{.*}} iter_args(%[[OLD:.+]] = %{{.+}}) -> (f32) {
// CHECK: %[[FOUR:.+]] = vector.load %[[X]][{{.+}}] {alignment = 16 : i64} : memref<8x512xf32>, vector<4xf32>
// CHECK: %[[A:.+]] = vector.extract %[[FOUR]][0]
// CHECK: %[[B:.+]] = vector.extract %[[FOUR]][1]
// CHECK: %[[ONE:.+]] = arith.addf %[[OLD]], %[[A]]
// CHECK: %[[TWO:.+]] = arith.addf %[[ONE]], %[[B]]
// CHECK: %[[THREE:.+]] = arith.addf %[[TWO]], %{{.+}}
// CHECK: %[[LAST:.+]] = arith.addf %[[THREE]], %{{.+}}
// CHECK: scf.yield %[[LAST]] : f32
func.func private @rows(%x: tensor<8x512xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x512xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// Where a row ends within a unit, and where terms are no neighbours, it takes one.
// MAP-LABEL: func.func private @short_rows(
// MAP: hfta.sum_lanes = 32 : i64
// MAP-NOT: hfta.sum_unit
func.func private @short_rows(%x: tensor<8x511xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x511xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// MAP-LABEL: func.func private @columns(
// MAP: hfta.sum_lanes
// MAP-NOT: hfta.sum_unit
func.func private @columns(%x: tensor<512x8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// A thread takes four terms at a time, one of each of four neighbouring sums;
// the first of the threads that share these stores four sums at once.
// MAP-LABEL: func.func private @many_columns(
// MAP-SAME: hfta.run = 4 : i64
// MAP: hfta.sum_lanes = 128 : i64
// CHECK-LABEL: func.func private @many_columns(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4096x256xf32>, %[[Y:[^ ,:]+]]: memref<256xf32>
// CHECK: %[[SUMS:.+]]:4 = scf.for {{.*}} -> (f32, f32, f32, f32) {
// CHECK: vector.load %[[X]][{{.+}}] {alignment = 16 : i64} : memref<4096x256xf32>, vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK: }
// CHECK: hfta_gpu.barrier
// CHECK-COUNT-4: memref.store %[[SUMS]]#{{.}}
// CHECK: hfta_gpu.barrier
// CHECK: scf.if %{{.+}} {
// CHECK: vector.store %{{.+}}, %[[Y]][{{.+}}] {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
func.func private @many_columns(%x: tensor<4096x256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %sum = linalg.generic {indexing_maps = [affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x256xf32>) outs(%y : tensor<256xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  return %sum : tensor<256xf32>
}

// -----

// The values that use a row's sum are computed and written four at a time, too.
// MAP-LABEL: func.func private @quotients(
// MAP-SAME: hfta.row_axes = [array<i64: 0>], hfta.run = 4 : i64
// CHECK-LABEL: func.func private @quotients(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<64x1024xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK: hfta_gpu.barrier
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
// CHECK: %[[FOUR:.+]] = vector.load %[[X]][%[[ROW:.+]], %[[I]]] {alignment = 16 : i64} : memref<64x1024xf32>, vector<4xf32>
// CHECK-COUNT-4: arith.divf
// CHECK: vector.store %{{.+}}, %[[X]][%[[ROW]], %[[I]]] {alignment = 16 : i64}
func.func private @quotients(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> attributes {hfta.kernel, hfta.ties = array<i64: 0>} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %all = tensor.empty() : tensor<64x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %part = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x1024xf32>
  return %part : tensor<64x1024xf32>
}
