// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

// A matrix whose rows are far apart is copied, a block of columns after the
// other, before all rows of the result use it. Rows that follow are prefetched.
// CHECK-DAG: #[[$LATER:.*]] = affine_map<(d0) -> (d0 + 128)>
// CHECK-LABEL: func.func private @far_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<128x2000xf32>, %[[W:[^ ,:#]+]]: memref<2000x1024xf32>, %[[OUT:[^ ,:#]+]]: memref<128x1024xf32>
// CHECK: %[[PANEL:.*]] = memref.alloc() : memref<2000x16xf32>
// CHECK: scf.for %[[N:[^ ,:#]+]] = %c0 to %c1024 step %c16 {
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c1872 step %c1 {
// CHECK: %[[AHEAD:.*]] = affine.apply #[[$LATER]](%[[K]])
// CHECK: memref.prefetch %[[W]][%[[AHEAD]], %[[N]]], read, locality<2>, data
// CHECK: %[[PART:.*]] = vector.load %[[W]][%[[K]], %[[N]]]
// CHECK: vector.store %[[PART]], %[[PANEL]][%[[K]], %c0]
// CHECK: scf.for %{{.*}} = %c1872 to %c2000 step %c1 {
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %{{.*}} = %c0 to %c126 step %c6 {
// CHECK: scf.for %[[K2:[^ ,:#]+]] = %c0 to %c2000 step %c1 iter_args
// CHECK-NOT: vector.load %[[W]]{{\[}}
// CHECK: vector.load %[[PANEL]][%[[K2]], %c0]
#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>
func.func private @far_rows(%x: memref<128x2000xf32>, %w: memref<2000x1024xf32>, %out: memref<128x1024xf32>,
                             %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<128x1024xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<128x2000xf32>, memref<2000x1024xf32>) outs(%out : memref<128x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, k, n) -> (k, m)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>

// Operands that the cache can't hold are read in blocks of terms. The sums wait
// in memory, where they also start; the last block is smaller.
// CHECK-LABEL: func.func private @long_sums(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<20000x64xf32>, %[[W:[^ ,:#]+]]: memref<20000x64xf32>, %[[OUT:[^ ,:#]+]]: memref<64x64xf32>
// CHECK: vector.store %cst
// CHECK: scf.for %[[BEGIN:[^ ,:#]+]] = %c0 to %c19650 step %c393 {
// CHECK: vector.load %[[OUT]]
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c393 step %c1 iter_args
// CHECK: %[[TERM:.*]] = affine.apply #{{.*}}(%[[BEGIN]], %[[K]])
// CHECK: vector.load %[[W]][%[[TERM]],
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK: scf.for %{{.*}} = %c0 to %c350 step %c1 iter_args
func.func private @long_sums(%x: memref<20000x64xf32>, %w: memref<20000x64xf32>, %out: memref<64x64xf32>,
                             %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<20000x64xf32>, memref<20000x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}
