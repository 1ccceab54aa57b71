// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-choose-gpu-kernels=warp-groups -hfta-kernels-to-threads
// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-choose-gpu-kernels -hfta-kernels-to-threads

// expected-error@+1 {{expected hfta.warp_groups_of to name another function of the same type, got @missing}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.warp_groups_of = @missing, hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.warp_groups_of to name another function of the same type, got @k}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.warp_groups_of = @k, hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.warp_groups_of to name another function of the same type, got @narrow}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.warp_groups_of = @narrow, hfta_gpu.entry}
llvm.func @narrow() attributes {hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.warp_groups_of to name another function of the same type, got "narrow"}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.warp_groups_of = "narrow", hfta_gpu.entry}

// -----

// expected-error@+1 {{expected a product that warp groups can compute because of hfta.warp_groups_of}}
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>, hfta.warp_groups_of = @other} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected a product that warp groups can compute because of hfta.warp_groups_of}}
func.func private @k(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>) -> tensor<32x128xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>, hfta.warp_groups_of = @other} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x128xf32>) -> tensor<32x128xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 32, 128, 32, 4, 4, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<32x64xf32>, tensor<128x64xf32>) outs(%zeros : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<32x128xf32>
  return %product : tensor<32x128xf32>
}

// -----

// expected-error@+1 {{expected hfta.map_count to be the number of tensor maps in the last parameter, and hfta.shared_bytes to be at most what chips have}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.map_count = 2 : i32, hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.map_count to be the number of tensor maps in the last parameter, and hfta.shared_bytes to be at most what chips have}}
llvm.func @k() attributes {hfta.map_count = 1 : i32, hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.map_count to be the number of tensor maps in the last parameter, and hfta.shared_bytes to be at most what chips have}}
llvm.func @k(%x: !llvm.ptr {llvm.byval = !llvm.array<320 x i8>}) attributes {hfta.map_count = "two", hfta_gpu.entry}

// -----

// expected-error@+1 {{expected hfta.map_count to be the number of tensor maps in the last parameter, and hfta.shared_bytes to be at most what chips have}}
llvm.func @k(%x: !llvm.ptr) attributes {hfta.shared_bytes = 1000000 : i64, hfta_gpu.entry}
