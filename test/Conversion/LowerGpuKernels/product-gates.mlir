// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-map-kernels-to-gpu), hfta-kernels-to-threads)' | FileCheck %s -enable-var-scope

// A gate that a product's elements are multiplied with is stored beside them, each
// of its elements with one of the product's, which is computed tile by tile.
// CHECK-LABEL: func.func private @gated(
// CHECK-SAME: %[[Z:[^:, ]+]]: memref<64x512xf32>, %[[GATE:[^:, ]+]]: memref<64x512xf32>, %[[H:[^:, ]+]]: memref<64x512xf32>, %{{.+}}: index
// CHECK: hfta_gpu.barrier
// CHECK: math.fma
// CHECK: %[[Z0:.+]] = memref.load %[[Z]][%[[I:.+]], %[[J:.+]]]
// CHECK: %[[G0:.+]] = math.absf %[[Z0]]
// CHECK: %[[H0:.+]] = arith.mulf %{{.+}}, %[[G0]]
// CHECK: memref.store %[[G0]], %[[GATE]][%[[I]], %[[J]]]
// CHECK: memref.store %[[H0]], %[[H]][%[[I]], %[[J]]]
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
#each = affine_map<(m, n) -> (m, n)>
func.func private @gated(%x: tensor<64x784xf32>, %w: tensor<512x784xf32>, %z: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf32>) attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x784xf32>, tensor<512x784xf32>) outs(%zeros : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %gate = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<64x512xf32>) outs(%empty : tensor<64x512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = math.absf %a : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %h = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]} ins(%product, %gate : tensor<64x512xf32>, tensor<64x512xf32>) outs(%empty : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = arith.mulf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  return %gate, %h : tensor<64x512xf32>, tensor<64x512xf32>
}
