// RUN: hfta-opt %s -hfta-kernels-to-threads | FileCheck %s -enable-var-scope

// Factors of f16 are copied as they are; what a kernel has computed is rounded once more,
// which changes nothing.
// CHECK-LABEL: func.func private @half_factors(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<16x32xf16>, %[[W:[^ ,:]+]]: memref<16x32xf32>
// CHECK: hfta_gpu.address %{{.+}} : memref<512xf16, 3> -> !llvm.ptr<3>
// CHECK: hfta_gpu.address %[[X]][{{.+}}] : memref<16x32xf16> -> !llvm.ptr
// CHECK: hfta_gpu.begin_copy
// CHECK: arith.truncf %{{.+}} : f32 to f16
// CHECK: hfta_gpu.multiply f16
func.func private @half_factors(%x: tensor<16x32xf16>, %w: tensor<16x32xf32>) -> tensor<16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<16x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x32xf16>) outs(%we : tensor<16x32xf32>) {
  ^bb0(%a: f16, %b: f32):
    %e = arith.extf %a : f16 to f32
    linalg.yield %e : f32
  } -> tensor<16x32xf32>
  %empty = tensor.empty() : tensor<16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.generic {hfta.multiply = f16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%wide, %w : tensor<16x32xf32>, tensor<16x32xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %product : tensor<16x16xf32>
}
