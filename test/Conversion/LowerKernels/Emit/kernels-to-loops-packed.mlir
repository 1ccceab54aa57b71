// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>

// Panels of a matrix that is stored transposed are packed directly: squares of
// the matrix are transposed in registers, and the transposed copy isn't made.
// The rest of 4 terms and of 4 columns has smaller squares.
// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<32x100xf32>, %[[W:[^ ,:#]+]]: memref<20x100xf32>, %[[OUT:[^ ,:#]+]]: memref<32x20xf32>
// CHECK: %[[PANEL:.*]] = memref.alloc() : memref<100x20xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c96 step %c8 {
// CHECK: vector.load %[[W]][%c0, %[[K]]] : memref<20x100xf32>, vector<8xf32>
// CHECK: vector.load %[[W]][%c7, %[[K]]] : memref<20x100xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[PANEL]][%[[K]], %c0]
// CHECK-COUNT-8: vector.load %[[W]][%c{{[0-9]+}}, %c96] : memref<20x100xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[PANEL]][%c99, %c0]
// CHECK: scf.for %[[K2:[^ ,:#]+]] = %c0 to %c96 step %c8 {
// CHECK: vector.load %[[W]][%c8, %[[K2]]] : memref<20x100xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[PANEL]][%[[K2]], %c8]
// CHECK: scf.for %[[K3:[^ ,:#]+]] = %c0 to %c96 step %c8 {
// CHECK-COUNT-4: vector.load %[[W]][%c{{[0-9]+}}, %[[K3]]] : memref<20x100xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[PANEL]][%[[K3]], %c16]
// CHECK: scf.for %{{.*}} = %c0 to %c30 step %c3 {
// CHECK: scf.for %[[TERM:[^ ,:#]+]] = %c0 to %c100 step %c1 iter_args
// CHECK-NOT: %[[W]][
// CHECK: vector.load %[[PANEL]][%[[TERM]], %c0]
// CHECK: vector.load %[[PANEL]][%[[TERM]], %c8]
// CHECK: vector.load %[[PANEL]][%[[TERM]], %c16]
// CHECK: return
func.func private @transposed(%x: memref<32x100xf32>, %w: memref<20x100xf32>, %out: memref<32x20xf32>,
                              %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %copy = memref.alloc() : memref<100x20xf32>
  linalg.transpose ins(%w : memref<20x100xf32>) outs(%copy : memref<100x20xf32>) permutation = [1, 0]
  linalg.fill ins(%zero : f32) outs(%out : memref<32x20xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %copy : memref<32x100xf32>, memref<100x20xf32>) outs(%out : memref<32x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(b, m, k, n) -> (b, m, k)>
#rhs = affine_map<(b, m, k, n) -> (b, k, n)>
#out = affine_map<(b, m, k, n) -> (b, m, n)>

// Each of several matrices has panels of its own.
// CHECK-LABEL: func.func private @several(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<3x32x64xf32>, %[[W:[^ ,:#]+]]: memref<3x16x64xf32>
// CHECK: %[[PANEL:.*]] = memref.alloc() : memref<64x16xf32>
// CHECK: scf.for %[[B:[^ ,:#]+]] = %c0 to %c3 step %c1 {
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c64 step %c8 {
// CHECK: vector.load %[[W]][%[[B]], %c0, %[[K]]]
// CHECK: vector.store %{{.*}}, %[[PANEL]][%[[K]], %c0]
// CHECK: scf.for %{{.*}} = %c0 to %c30 step %c6 {
// CHECK: vector.load %[[PANEL]]
func.func private @several(%x: memref<3x32x64xf32>, %w: memref<3x16x64xf32>, %out: memref<3x32x16xf32>,
                           %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %copy = memref.alloc() : memref<3x64x16xf32>
  linalg.transpose ins(%w : memref<3x16x64xf32>) outs(%copy : memref<3x64x16xf32>) permutation = [0, 2, 1]
  linalg.fill ins(%zero : f32) outs(%out : memref<3x32x16xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %copy : memref<3x32x64xf32>, memref<3x64x16xf32>) outs(%out : memref<3x32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// The copy is made where the matrix changes before the product reads it, and
// where another op reads it, too.
// CHECK-LABEL: func.func private @changed(
// CHECK: memref.alloc() : memref<64x16xf32>
// CHECK-LABEL: func.func private @shared(
// CHECK: memref.alloc() : memref<64x16xf32>
// CHECK-NOT: memref.alloc
func.func private @changed(%x: memref<32x64xf32>, %w: memref<16x64xf32>, %out: memref<32x16xf32>,
                           %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %copy = memref.alloc() : memref<64x16xf32>
  linalg.transpose ins(%w : memref<16x64xf32>) outs(%copy : memref<64x16xf32>) permutation = [1, 0]
  linalg.fill ins(%zero : f32) outs(%w : memref<16x64xf32>)
  linalg.fill ins(%zero : f32) outs(%out : memref<32x16xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %copy : memref<32x64xf32>, memref<64x16xf32>) outs(%out : memref<32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @shared(%x: memref<32x64xf32>, %w: memref<16x64xf32>, %out: memref<32x16xf32>,
                          %other: memref<64x16xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %copy = memref.alloc() : memref<64x16xf32>
  linalg.transpose ins(%w : memref<16x64xf32>) outs(%copy : memref<64x16xf32>) permutation = [1, 0]
  linalg.fill ins(%zero : f32) outs(%out : memref<32x16xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %copy : memref<32x64xf32>, memref<64x16xf32>) outs(%out : memref<32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%copy : memref<64x16xf32>) outs(%other : memref<64x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, k, n) -> (k, m)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>

// The rows that tiles read as numbers are packed for all tiles, one term after
// the other, if their terms fall into so few sets of the first-level cache that
// they don't stay there. Terms that follow are prefetched. Tiles have space for
// an odd number of terms.
// CHECK-DAG: #[[$PLACE:.*]] = affine_map<(d0, d1) -> (d0 * 129 + d1 * 6)>
// CHECK-DAG: #[[$NEXT:.*]] = affine_map<(d0, d1) -> (d0 * 129 + d1 * 6 + 1)>
// CHECK-DAG: #[[$LATER:.*]] = affine_map<(d0) -> (d0 + 21)>
// CHECK-LABEL: func.func private @far_terms(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<128x100xf32,
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<13158xf32>
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c107 step %c1 {
// CHECK: scf.for %[[M:[^ ,:#]+]] = %c0 to %c96 step %c6 {
// CHECK: %[[AHEAD:.*]] = affine.apply #[[$LATER]](%[[K]])
// CHECK: memref.prefetch %[[X]][%[[AHEAD]], %[[M]]], read, locality<2>, data
// CHECK: %[[FOUR:.*]] = vector.load %[[X]][%[[K]], %[[M]]] : {{.*}}, vector<4xf32>
// CHECK: %[[TO:.*]] = affine.apply #[[$PLACE]](%[[M]], %[[K]])
// CHECK: vector.store %[[FOUR]], %[[ROWS]][%[[TO]]]
// CHECK: vector.load %[[X]][%[[K]], %{{.*}}] : {{.*}}, vector<2xf32>
// CHECK: vector.load %[[X]][%[[K]], %c96] : {{.*}}, vector<4xf32>
// CHECK: scf.for %[[K2:[^ ,:#]+]] = %c107 to %c128 step %c1 {
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[X]][%[[K2]], %c96] : {{.*}}, vector<4xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c16 {
// CHECK: scf.for %[[M2:[^ ,:#]+]] = %c0 to %c96 step %c6 {
// CHECK: scf.for %[[TERM:[^ ,:#]+]] = %c0 to %c128 step %c1 iter_args
// CHECK: %[[FIRST:.*]] = affine.apply #[[$PLACE]](%[[M2]], %[[TERM]])
// CHECK: memref.load %[[ROWS]][%[[FIRST]]]
// CHECK: %[[SECOND:.*]] = affine.apply #[[$NEXT]](%[[M2]], %[[TERM]])
// CHECK: memref.load %[[ROWS]][%[[SECOND]]]
// CHECK-LABEL: func.func private @spread_terms(
// CHECK-NOT: memref<13158xf32>
// CHECK: return
func.func private @far_terms(%x: memref<128x100xf32, strided<[1024, 1]>>, %w: memref<128x256xf32>, %out: memref<100x256xf32>,
                            %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<100x256xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<128x100xf32, strided<[1024, 1]>>, memref<128x256xf32>) outs(%out : memref<100x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @spread_terms(%x: memref<128x100xf32, strided<[1000, 1]>>, %w: memref<128x256xf32>, %out: memref<100x256xf32>,
                            %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<100x256xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<128x100xf32, strided<[1000, 1]>>, memref<128x256xf32>) outs(%out : memref<100x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, k, n) -> (k, m)>
#rhs = affine_map<(m, k, n) -> (n, k)>
#out = affine_map<(m, k, n) -> (m, n)>

// Rows aren't packed beside an input that is transposed in registers.
// CHECK-LABEL: func.func private @beside_transposed(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @beside_transposed(%x: memref<128x3xf32, strided<[1024, 1]>>, %w: memref<512x128xf32>, %out: memref<3x512xf32>,
                                     %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<3x512xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<128x3xf32, strided<[1024, 1]>>, memref<512x128xf32>) outs(%out : memref<3x512xf32>) {
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

// Rows whose terms are on more pages than the TLB has entries are packed even
// for few columns. If the cache can't hold them, blocks of rows and of terms are
// packed; the last block of rows is smaller.
// CHECK-DAG: #[[$PLACE:.*]] = affine_map<(d0, d1) -> (d0 * 201 + d1 * 6)>
// CHECK-DAG: #[[$SUM:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func private @many_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<600x1000xf32,
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<50652xf32>
// CHECK: scf.for %[[BLOCK:[^ ,:#]+]] = %c0 to %c756 step %c252 {
// CHECK: scf.for %[[FIRST:[^ ,:#]+]] = %c0 to %c600 step %c200 {
// CHECK: scf.for %[[K:[^ ,:#]+]] = %c0 to %c191 step %c1 {
// CHECK: scf.for %[[M:[^ ,:#]+]] = %c0 to %c252 step %c6 {
// CHECK-DAG: %[[TERM:.*]] = affine.apply #[[$SUM]](%[[FIRST]], %[[K]])
// CHECK-DAG: %[[ROW:.*]] = affine.apply #[[$SUM]](%[[BLOCK]], %[[M]])
// CHECK: %[[FOUR:.*]] = vector.load %[[X]][%[[TERM]], %[[ROW]]]
// CHECK: %[[TO:.*]] = affine.apply #[[$PLACE]](%[[M]], %[[K]])
// CHECK: vector.store %[[FOUR]], %[[ROWS]][%[[TO]]]
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 {
// CHECK: scf.for %[[M2:[^ ,:#]+]] = %c0 to %c252 step %c6 {
// CHECK: scf.for %[[K2:[^ ,:#]+]] = %c0 to %c200 step %c1 iter_args
// CHECK: %[[FROM:.*]] = affine.apply #[[$PLACE]](%[[M2]], %[[K2]])
// CHECK: memref.load %[[ROWS]][%[[FROM]]]
// CHECK: scf.for %{{.*}} = %c0 to %c600 step %c200 {
// CHECK: scf.for %{{.*}} = %c0 to %c191 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c240 step %c6 {
// CHECK: vector.load %[[X]][%{{.*}}, %c996] : {{.*}}, vector<4xf32>
func.func private @many_rows(%x: memref<600x1000xf32, strided<[2000, 1]>>, %w: memref<600x32xf32>, %out: memref<1000x32xf32>,
                             %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1000x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<600x1000xf32, strided<[2000, 1]>>, memref<600x32xf32>) outs(%out : memref<1000x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}
