// RUN: hfta-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(hfta-map-kernels-to-gpu))' | FileCheck %s -check-prefix=MAP
// RUN: hfta-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(hfta-map-kernels-to-gpu), hfta-kernels-to-threads)' | FileCheck %s -enable-var-scope

// A product's tile has whole parts, and adds terms as the tile without part
// sums does. The stored values are kept in shared memory, too; after a barrier,
// each thread sums a column of a part.
// MAP-LABEL: func.func private @product(
// MAP: hfta.tile = array<i64: 32, 32, 8, 2, 2, 4>
// MAP: hfta.part_sum
// MAP-NOT: hfta.sum_lanes
// MAP-LABEL: func.func private @product_alone(
// MAP: hfta.tile = array<i64: 16, 16, 8, 1, 1, 4>
// CHECK-LABEL: func.func private @product(
// CHECK: hfta_gpu.barrier
// CHECK: memref.store %{{.+}}, %{{.+}} : memref<64x24xf32>
// CHECK: memref.store %{{.+}}, %[[KEPT:.+]][%{{.+}}] : memref<1x32x36xf32, 3>
// CHECK: hfta_gpu.barrier
// CHECK: scf.for
// CHECK: %[[SUM:.+]] = scf.for %[[ROW:.+]] = {{.*}} iter_args(%[[BEFORE:.+]] = %{{.+}}) -> (f32)
// CHECK: %[[NEXT:.+]] = memref.load %[[KEPT]][%{{.+}}, %[[ROW]], %{{.+}}]
// CHECK: arith.addf %[[BEFORE]], %[[NEXT]]
// CHECK: memref.store %[[SUM]], %{{.+}} : memref<2x24xf32>
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<64x2048xf32>, %w: tensor<24x2048xf32>) -> (tensor<64x24xf32>, tensor<2x24xf32>) attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x24xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x24xf32>) -> tensor<64x24xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x2048xf32>, tensor<24x2048xf32>) outs(%zeros : tensor<64x24xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x24xf32>
  %rows = tensor.expand_shape %product [[0, 1], [2]] output_shape [2, 32, 24] : tensor<64x24xf32> into tensor<2x32x24xf32>
  %none = tensor.empty() : tensor<2x24xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%none : tensor<2x24xf32>) -> tensor<2x24xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(p, r, c) -> (p, r, c)>, affine_map<(p, r, c) -> (p, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%rows : tensor<2x32x24xf32>) outs(%begin : tensor<2x24xf32>) attrs = {hfta.part_sum} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2x24xf32>
  return %product, %sums : tensor<64x24xf32>, tensor<2x24xf32>
}

func.func private @product_alone(%x: tensor<64x2048xf32>, %w: tensor<24x2048xf32>) -> tensor<64x24xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x24xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x24xf32>) -> tensor<64x24xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x2048xf32>, tensor<24x2048xf32>) outs(%zeros : tensor<64x24xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x24xf32>
  return %product : tensor<64x24xf32>
}

// -----

// Elements are computed by tiles, too: 16 bytes of neighbouring columns at a time,
// whole parts of some columns a block, of which the last one has less.
// CHECK-LABEL: func.func private @elements(
// CHECK-SAME: %[[X:.+]]: memref<8x16x40xf32>, %[[Y:.+]]: memref<8x16x40xf32>, %[[S:.+]]: memref<4x40xf32>, %{{.+}}: index
// CHECK-SAME: hfta.block_threads = 256 : i64
// CHECK-SAME: hfta.items = 1024 : i64
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %[[READ:.+]] = vector.load %[[X]][%[[I:.+]]] {alignment = 16 : i64} : memref<8x16x40xf32>, vector<4xf32>
// CHECK: vector.store %{{.+}}, %[[Y]][%[[I]]] {alignment = 16 : i64}
// CHECK: vector.store %{{.+}}, %[[KEPT:.+]][%{{.+}}] {alignment = 16 : i64} : memref<2x32x32xf32, 3>, vector<4xf32>
// CHECK: hfta_gpu.barrier
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: memref.load %[[KEPT]]
// CHECK: memref.store %{{.+}}, %[[S]]
func.func private @elements(%x: tensor<8x16x40xf32>) -> (tensor<8x16x40xf32>, tensor<4x40xf32>) attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x16x40xf32>) outs(%empty : tensor<8x16x40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<8x16x40xf32>
  %all = tensor.collapse_shape %y [[0, 1], [2]] : tensor<8x16x40xf32> into tensor<128x40xf32>
  %rows = tensor.expand_shape %all [[0, 1], [2]] output_shape [4, 32, 40] : tensor<128x40xf32> into tensor<4x32x40xf32>
  %none = tensor.empty() : tensor<4x40xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%none : tensor<4x40xf32>) -> tensor<4x40xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(p, r, c) -> (p, r, c)>, affine_map<(p, r, c) -> (p, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%rows : tensor<4x32x40xf32>) outs(%begin : tensor<4x40xf32>) attrs = {hfta.part_sum} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x40xf32>
  return %y, %sums : tensor<8x16x40xf32>, tensor<4x40xf32>
}
