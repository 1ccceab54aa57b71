// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// Zero is added to the sums of a product before they are stored, right where
// they belong.
// CHECK-LABEL: func.func private @stored(
// CHECK-SAME: %[[OUT:[^ ,:#]+]]: memref<4x6x8xf32>, %[[ITEM:[^ ,:#]+]]: index
// CHECK-NOT: memref.alloc
// CHECK: %[[PART:.*]] = memref.subview %[[OUT]][%[[ITEM]], 0, 0]
// CHECK: %[[SUMS:.*]]:6 = scf.for
// CHECK: %[[FIRST:.*]] = arith.addf %[[SUMS]]#0, %cst : vector<8xf32>
// CHECK-NEXT: vector.store %[[FIRST]], %[[PART]][%c0, %c0]
// CHECK: %[[LAST:.*]] = arith.addf %[[SUMS]]#5, %cst : vector<8xf32>
// CHECK-NEXT: vector.store %[[LAST]], %[[PART]][%c5, %c0]
// CHECK-NOT: vector.store
// CHECK: return
func.func private @stored(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %out: memref<4x6x8xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  %part = memref.subview %out[%item, 0, 0] [1, 6, 8] [1, 1, 1] : memref<4x6x8xf32> to memref<6x8xf32, strided<[8, 1], offset: ?>>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%part : memref<6x8xf32, strided<[8, 1], offset: ?>>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// The sums stay apart if another op reads them, or if the product, or an op
// between, reads the memory of the result. Adding -0 changes nothing.
// CHECK-LABEL: func.func private @read_twice(
// CHECK: memref.alloc() : memref<6x8xf32>
// CHECK-LABEL: func.func private @negative(
// CHECK-NOT: memref.alloc
// CHECK: %[[SUMS:.*]]:6 = scf.for
// CHECK: vector.store %[[SUMS]]#0
// CHECK-LABEL: func.func private @in_place(
// CHECK: memref.alloc() : memref<6x8xf32>
// CHECK-LABEL: func.func private @gathered(
// CHECK: memref.alloc() : memref<6x8xf32>
func.func private @read_twice(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %out: memref<6x8xf32>, %other: memref<6x8xf32>,
                              %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%out : memref<6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %zero : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%other : memref<6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @negative(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %out: memref<6x8xf32>,
                            %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%out : memref<6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %minus, %a : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @in_place(%x: memref<6x40xf32>, %w: memref<40x8xf32>,
                            %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %out = memref.subview %x[0, 0] [6, 8] [1, 1] : memref<6x40xf32> to memref<6x8xf32, strided<[40, 1]>>
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%out : memref<6x8xf32, strided<[40, 1]>>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @gathered(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %out: memref<6x8xf32>, %indices: memref<8xi64>,
                            %other: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%indices : memref<8xi64>) outs(%other : memref<8xf32>) {
  ^bb0(%i: i64, %o: f32):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 0 : index
    %s = memref.load %out[%row, %column] : memref<6x8xf32>
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<6x8xf32>) outs(%out : memref<6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}
