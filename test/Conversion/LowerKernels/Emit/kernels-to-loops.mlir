// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>

// Sums stay in registers, start from the fill's scalar and keep the order of
// their terms; a row's element is read once for all vectors.
// CHECK-LABEL: func.func private @contract(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<4x100xf32>, %[[W:[^ ,:#]+]]: memref<100x16xf32>, %[[OUT:[^ ,:#]+]]: memref<4x16xf32>
// CHECK: %[[ZERO:[^ ,:#]+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-NOT: store
// CHECK: %[[SUMS:[^ ,:#]+]]:8 = scf.for %[[K:[^ ,:#]+]] = %{{.*}} to %c100 step %c1 iter_args(%[[FIRST:[^ ,:#]+]] = %[[ZERO]], %[[SECOND:[^ ,:#]+]] = %[[ZERO]], %{{.*}} = %[[ZERO]], {{.*}})
// CHECK: %[[A:[^ ,:#]+]] = memref.load %[[X]][%c0, %[[K]]]
// CHECK: %[[B:[^ ,:#]+]] = vector.load %[[W]][%[[K]], %c0] : memref<100x16xf32>, vector<8xf32>
// CHECK: %[[WIDE:[^ ,:#]+]] = vector.broadcast %[[A]]
// CHECK: %[[NEXT:[^ ,:#]+]] = math.fma %[[WIDE]], %[[B]], %[[FIRST]] : vector<8xf32>
// CHECK: %[[B2:[^ ,:#]+]] = vector.load %[[W]][%[[K]], %c8]
// CHECK: %[[NEXT2:[^ ,:#]+]] = math.fma %[[WIDE]], %[[B2]], %[[SECOND]] : vector<8xf32>
// CHECK-COUNT-3: memref.load %[[X]]
// CHECK-NOT: load
// CHECK: scf.yield %[[NEXT]], %[[NEXT2]],
// CHECK: vector.store %[[SUMS]]#0, %[[OUT]][%c0, %c0]
// CHECK: vector.store %[[SUMS]]#1, %[[OUT]][%c0, %c8]
// CHECK-COUNT-6: vector.store
// CHECK-NOT: store
func.func private @contract(%x: memref<4x100xf32>, %w: memref<100x16xf32>, %out: memref<4x16xf32>,
                            %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<4x100xf32>, memref<100x16xf32>) outs(%out : memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The remainder at the end is one vector that overlaps the one before.
// CHECK-LABEL: func.func private @join_axes(
// CHECK: %[[X:[^ ,:#]+]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1]] : memref<3x7xf32> into memref<21xf32>
// CHECK: vector.load %[[X]][%c0] : memref<21xf32>, vector<8xf32>
// CHECK: vector.load %[[X]][%c8] : memref<21xf32>, vector<8xf32>
// CHECK: vector.load %[[X]][%c13] : memref<21xf32>, vector<8xf32>
// CHECK-NOT: load
func.func private @join_axes(%x: memref<3x7xf32>, %out: memref<3x7xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<3x7xf32>) outs(%out : memref<3x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Nothing may be computed twice: powers of two at the end.
// CHECK-LABEL: func.func private @overwrite(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<21xf32>
// CHECK: vector.load %[[X]][%c0] : memref<21xf32>, vector<8xf32>
// CHECK: vector.load %[[X]][%c8] : memref<21xf32>, vector<8xf32>
// CHECK: vector.load %[[X]][%c16] : memref<21xf32>, vector<4xf32>
// CHECK: memref.load %[[X]][%c20] : memref<21xf32>
// CHECK: memref.store %{{.*}}, %[[X]][%c20]
func.func private @overwrite(%x: memref<21xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<21xf32>) outs(%x : memref<21xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Squares are transposed in registers.
// CHECK-LABEL: func.func private @transpose(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<16x8xf32>, %[[OUT:[^ ,:#]+]]: memref<8x16xf32>
// CHECK: scf.for %[[I:[^ ,:#]+]] = %c0 to %c16 step %c8
// CHECK: vector.load %[[X]][%[[I]], %c0] : memref<16x8xf32>, vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[OUT]][%c0, %[[I]]]
// CHECK: vector.store %{{.*}}, %[[OUT]][%c1, %[[I]]]
func.func private @transpose(%x: memref<16x8xf32>, %out: memref<8x16xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.transpose ins(%x : memref<16x8xf32>) outs(%out : memref<8x16xf32>) permutation = [1, 0]
  return
}

// -----

#in = affine_map<(d0) -> (d0 * 2)>
#id = affine_map<(d0) -> (d0)>

// Whole vectors are read, but nothing beyond the last element.
// CHECK-LABEL: func.func private @strided(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<15xf32>
// CHECK: %[[LOW:[^ ,:#]+]] = vector.load %[[X]][%c0]
// CHECK: %[[HIGH:[^ ,:#]+]] = vector.load %[[X]][%c7]
// CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 9, 11, 13, 15]
func.func private @strided(%x: memref<15xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel"]}
      ins(%x : memref<15xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A lane a row; terms are read along the rows and transposed.
// CHECK-LABEL: func.func private @products_of_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8x32xf32>
// CHECK: scf.for %[[J:[^ ,:#]+]] = %c0 to %c32 step %c8 iter_args(%[[SUM:[^ ,:#]+]] = %{{.*}}) -> (vector<8xf32>)
// CHECK: vector.load %[[X]][%c0, %[[J]]] : memref<8x32xf32>, vector<8xf32>
// CHECK: vector.load %[[X]][%c7, %[[J]]]
// CHECK: vector.shuffle
// CHECK: %[[S0:[^ ,:#]+]] = math.fma %{{.*}}, %{{.*}}, %[[SUM]] : vector<8xf32>
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[S0]]
func.func private @products_of_rows(%x: memref<8x32xf32>, %y: memref<32xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d1)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<8x32xf32>, memref<32xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The remaining rows are transposed too, in smaller squares side by side.
// CHECK-LABEL: func.func private @products_of_longer_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8x20xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK: vector.load %[[X]][%c0, %c16] : memref<8x20xf32>, vector<4xf32>
// CHECK: vector.load %[[X]][%c7, %c16] : memref<8x20xf32>, vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NOT: memref.load %[[X]]
// CHECK-NOT: vector.from_elements
// CHECK: return
func.func private @products_of_longer_rows(%x: memref<8x20xf32>, %y: memref<20xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d1)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<8x20xf32>, memref<20xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Vectors along the rows, 16 lanes whatever the target, four rows at a time;
// lanes are combined in halves.
// CHECK-LABEL: func.func private @sum_of_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8x41xf32>
// CHECK: scf.for %[[I:[^ ,:#]+]] = %c0 to %c8 step %c4
// CHECK: %[[SUMS:[^ ,:#]+]]:4 = scf.for %[[J:[^ ,:#]+]] = %c0 to %c32 step %c16
// CHECK: %[[T:[^ ,:#]+]] = vector.load %[[X]][%[[I]], %[[J]]] : memref<8x41xf32>, vector<16xf32>
// CHECK: math.exp %[[T]] : vector<16xf32>
// CHECK: vector.load %[[X]][%[[I]], %c32] : memref<8x41xf32>, vector<8xf32>
// CHECK: memref.load %[[X]][%[[I]], %c40]
// CHECK: %[[LOW:[^ ,:#]+]] = vector.shuffle %[[SUMS]]#0, %[[SUMS]]#0 [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: %[[HIGH:[^ ,:#]+]] = vector.shuffle %[[SUMS]]#0, %[[SUMS]]#0 [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
func.func private @sum_of_rows(%x: memref<8x41xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x41xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A long row has four sums, which are added up in halves.
// CHECK-LABEL: func.func private @sum_of_long_rows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8x150xf32>
// CHECK: scf.for %[[I:[^ ,:#]+]] = %c0 to %c8 step %c1
// CHECK: %[[SUMS:[^ ,:#]+]]:4 = scf.for %[[J:[^ ,:#]+]] = %c0 to %c128 step %c64 iter_args(%[[A:[^ ,:#]+]] = %{{[^ ,]+}}, %[[B:[^ ,:#]+]] =
// CHECK: %[[T:[^ ,:#]+]] = vector.load %[[X]][%[[I]], %[[J]]] : memref<8x150xf32>, vector<16xf32>
// CHECK: arith.addf %[[A]], %[[T]] : vector<16xf32>
// CHECK: %[[U:[^ ,:#]+]] = vector.load %[[X]][%[[I]], %{{[^ ,]+}}] : memref<8x150xf32>, vector<16xf32>
// CHECK: arith.addf %[[B]], %[[U]] : vector<16xf32>
// CHECK: %[[LAST:[^ ,:#]+]] = vector.load %[[X]][%[[I]], %c128] : memref<8x150xf32>, vector<16xf32>
// CHECK: %[[FIRST:[^ ,:#]+]] = arith.addf %[[SUMS]]#0, %[[LAST]] : vector<16xf32>
// CHECK: vector.load %[[X]][%[[I]], %c144] : memref<8x150xf32>, vector<4xf32>
// CHECK: vector.load %[[X]][%[[I]], %c148] : memref<8x150xf32>, vector<2xf32>
// CHECK: %[[EVEN:[^ ,:#]+]] = arith.addf %[[FIRST]], %[[SUMS]]#2 : vector<16xf32>
// CHECK: %[[ODD:[^ ,:#]+]] = arith.addf %[[SUMS]]#1, %[[SUMS]]#3 : vector<16xf32>
// CHECK: arith.addf %[[EVEN]], %[[ODD]] : vector<16xf32>
func.func private @sum_of_long_rows(%x: memref<8x150xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x150xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func private @index_and_lookup(
// CHECK-SAME: %[[TABLE:[^ ,:#]+]]: memref<100x8xf32>
// CHECK: %[[ROW:[^ ,:#]+]] = arith.index_cast
// CHECK: vector.load %[[TABLE]][%[[ROW]], %c0] : memref<100x8xf32>, vector<4xf32>
func.func private @index_and_lookup(%table: memref<100x8xf32>, %rows: memref<4xi64>, %out: memref<4x8xf32>,
                                    %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%rows : memref<4xi64>) outs(%out : memref<4x8xf32>) {
  ^bb0(%r: i64, %o: f32):
    %row = arith.index_cast %r : i64 to index
    %column = linalg.index 1 : index
    %e = memref.load %table[%row, %column] : memref<100x8xf32>
    linalg.yield %e : f32
  }
  return
}

// -----

// A tile of sums holds what it reads of the input with fewer values: two
// vectors, not five numbers.
// CHECK-LABEL: func.func private @held(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<65x8xf32>, %[[G:[^ ,:#]+]]: memref<64x15xf32>
// CHECK: scf.for %[[O:[^ ,:#]+]] =
// CHECK: scf.for %[[P:[^ ,:#]+]] = %c0 to %c64
// CHECK: vector.load %[[X]]
// CHECK: memref.load %[[G]]
// CHECK: vector.load %[[X]]
// CHECK-COUNT-4: memref.load %[[G]]
// CHECK-NOT: vector.load %[[X]]
// CHECK: scf.yield
func.func private @held(%x: memref<65x8xf32>, %g: memref<64x15xf32>, %out: memref<15x2x8xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<15x2x8xf32>)
  linalg.generic {indexing_maps = [affine_map<(o, p, t, c) -> (p + t, c)>, affine_map<(o, p, t, c) -> (p, o)>,
                                   affine_map<(o, p, t, c) -> (o, t, c)>],
                  iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%x, %g : memref<65x8xf32>, memref<64x15xf32>) outs(%out : memref<15x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  return
}
