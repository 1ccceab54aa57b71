// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-add-warp-group-kernels)' | FileCheck %s -enable-var-scope --check-prefix=ADD
// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-add-warp-group-kernels,hfta-kernels-to-threads,canonicalize,cse)' | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-add-warp-group-kernels,hfta-kernels-to-threads,func.func(hfta-plan-scratch,lower-affine,expand-strided-metadata,lower-affine,canonicalize,cse),convert-kernels-to-gpu,hfta-collect-gpu-code)' -o %t.mlir
// RUN: FileCheck %s -input-file=%t.mlir -enable-var-scope --check-prefix=ENTRY
// RUN: hfta-opt %t.mlir -pass-pipeline='builtin.module(builtin.module(hfta-choose-gpu-kernels))' | FileCheck %s -enable-var-scope --check-prefix=WARPS
// RUN: hfta-opt %t.mlir -pass-pipeline='builtin.module(builtin.module(hfta-choose-gpu-kernels{warp-groups}))' | FileCheck %s -enable-var-scope --check-prefix=GROUPS

// A product whose columns are neighbours in memory, in tiles of 64 rows; the
// rows of an operand are too far apart to be copied as one box. There is
// another kernel for chips with warp groups, which isn't launched separately.
// ADD: func.func private @"kernel/product"(
// ADD-NOT: hfta.warp_groups_of
// ADD: func.func private @"kernel/product/warp_groups"(
// ADD-SAME: hfta.kernel, hfta.ties = array<i64: -1>, hfta.warp_groups_of = @"kernel/product"
// ADD: hfta.tile = array<i64: 64, 128, 32, 4, 8, 1>
// There is none if a tile has 32 rows, or if f32 has its columns in memory so.
// ADD: func.func private @"kernel/small"(
// ADD: func.func private @"kernel/turned"(
// ADD-NOT: hfta.warp_groups_of
// There is none if too much of a tile would have to be kept for part sums.
// ADD: func.func private @"kernel/kept"(
// ADD-NOT: hfta.warp_groups_of

// Each of two warp groups has all rows and half of the columns. In the rows'
// operand, a row has 64 bytes; the columns' operand has two parts of 128 bytes,
// the second of which is the second group's.
// CHECK: func.func private @"kernel/product"(
// CHECK-NOT: wgmma
// CHECK: func.func private @"kernel/product/warp_groups"(
// CHECK-SAME: hfta.block_threads = 256 : i64, hfta.items = 256 : i64
// CHECK-DAG: %[[COLUMNS:.+]] = arith.constant 4611686293322072064 : i64
// CHECK-DAG: %[[ROWS:.+]] = arith.constant -9223371899415756800 : i64
// CHECK-DAG: %[[MASK:.+]] = arith.constant 16383 : i64
// CHECK: hfta_gpu.wait_for_copies
// CHECK-NEXT: hfta_gpu.publish_stores
// CHECK-NEXT: hfta_gpu.barrier
// CHECK: %{{.+}}:32 = scf.for
// CHECK: %[[MEMORY:.+]] = memref.extract_aligned_pointer_as_index
// CHECK: %[[UNITS:.+]] = arith.divui %[[MEMORY]]
// CHECK: %[[BEGIN:.+]] = arith.addi %[[UNITS]]
// CHECK: hfta_gpu.begin_products
// CHECK: %[[PLACE:.+]] = arith.index_castui %[[BEGIN]] : index to i64
// CHECK-NEXT: %[[ADDRESS:.+]] = arith.andi %[[PLACE]], %[[MASK]]
// CHECK-NEXT: %[[LHS:.+]] = arith.ori %[[ADDRESS]], %[[ROWS]]
// CHECK: %[[RHS:.+]] = arith.ori %{{.+}}, %[[COLUMNS]]
// CHECK: %[[FIRST:.+]] = hfta_gpu.multiply_shared bf16 %[[LHS]], %[[RHS]], %{{[^ ]+}} rhs_transposed
// CHECK: %[[SECOND:.+]] = hfta_gpu.multiply_shared bf16 %{{.+}}, %{{.+}}, %[[FIRST]] rhs_transposed
// CHECK-NOT: hfta_gpu.multiply_shared
// CHECK: hfta_gpu.commit_products
// The next copies begin before any thread waits.
// CHECK: hfta_gpu.begin_copy
// CHECK: hfta_gpu.commit_copies
// CHECK: %[[SUMS:.+]] = hfta_gpu.wait_for_products %[[SECOND]]
// CHECK: llvm.extractvalue %[[SUMS]][0]
// CHECK: hfta_gpu.wait_for_copies
// CHECK-NEXT: hfta_gpu.publish_stores
// CHECK-NEXT: hfta_gpu.barrier
// CHECK-NEXT: scf.yield

// ENTRY: module @hfta.gpu
// ENTRY: llvm.func @product({{.*}} attributes {hfta_gpu.entry
// ENTRY: alignment = 1024 : i64
// ENTRY: llvm.func @product$warp_groups({{.*}} attributes {hfta.warp_groups_of = @product, hfta_gpu.entry

// WARPS: llvm.func internal @"kernel/product"
// WARPS: llvm.func @product(
// WARPS-NOT: warp_groups

// GROUPS-NOT: llvm.func internal @"kernel/product"(
// GROUPS: llvm.func internal @"kernel/product/warp_groups"
// GROUPS: llvm.func @product(
// GROUPS-SAME: attributes {hfta_gpu.entry
// GROUPS: llvm.call @"kernel/product/warp_groups"
#same = affine_map<(a, b) -> (a, b)>
func.func private @"kernel/product"(%x: tensor<568x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<64x128xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %xe = tensor.empty() : tensor<568x64xf32>
  %rows = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<568x64xbf16>) outs(%xe : tensor<568x64xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<568x64xf32>
  %we = tensor.empty() : tensor<64x128xf32>
  %columns = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x128xbf16>) outs(%we : tensor<64x128xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<64x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%we : tensor<64x128xf32>) -> tensor<64x128xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 64, 128, 32, 4, 8, 1>, indexing_maps = [affine_map<(m, n, k) -> (m * 9, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%rows, %columns : tensor<568x64xf32>, tensor<64x128xf32>) outs(%zeros : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<64x128xf32>
  return %product : tensor<64x128xf32>
}

func.func private @"kernel/small"(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>) -> tensor<32x128xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
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

func.func private @"kernel/turned"(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>) -> tensor<64x128xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  %product = linalg.generic {hfta.multiply = tf32, hfta.tile = array<i64: 64, 128, 16, 4, 8, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x128xf32>) outs(%zeros : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<64x128xf32>
  return %product : tensor<64x128xf32>
}

func.func private @"kernel/kept"(%x: tensor<128x64xf32>, %w: tensor<128x64xf32>) -> (tensor<128x128xf32>, tensor<4x128xf32>, tensor<4x128xf32>) attributes {hfta.kernel, hfta.ties = array<i64: -1, -1, -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 128, 128, 32, 8, 8, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x64xf32>, tensor<128x64xf32>) outs(%zeros : tensor<128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<128x128xf32>
  %square = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<128x128xf32>) outs(%empty : tensor<128x128xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.mulf %a, %a : f32
    linalg.yield %n : f32
  } -> tensor<128x128xf32>
  %none = tensor.empty() : tensor<4x128xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%none : tensor<4x128xf32>) -> tensor<4x128xf32>
  %rows = tensor.expand_shape %product [[0, 1], [2]] output_shape [4, 32, 128] : tensor<128x128xf32> into tensor<4x32x128xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(p, r, c) -> (p, r, c)>, affine_map<(p, r, c) -> (p, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%rows : tensor<4x32x128xf32>) outs(%begin : tensor<4x128xf32>) attrs = {hfta.part_sum} {
  ^bb0(%a: f32, %s: f32):
    %n = arith.addf %s, %a : f32
    linalg.yield %n : f32
  } -> tensor<4x128xf32>
  %others = tensor.expand_shape %square [[0, 1], [2]] output_shape [4, 32, 128] : tensor<128x128xf32> into tensor<4x32x128xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(p, r, c) -> (p, r, c)>, affine_map<(p, r, c) -> (p, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%others : tensor<4x32x128xf32>) outs(%begin : tensor<4x128xf32>) attrs = {hfta.part_sum} {
  ^bb0(%a: f32, %s: f32):
    %n = arith.addf %s, %a : f32
    linalg.yield %n : f32
  } -> tensor<4x128xf32>
  return %product, %sums, %squares : tensor<128x128xf32>, tensor<4x128xf32>, tensor<4x128xf32>
}
