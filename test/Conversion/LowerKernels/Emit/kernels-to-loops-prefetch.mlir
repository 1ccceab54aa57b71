// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v4 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The second pass over an item's rows prefetches the next item's, a line for
// each vector; the last item prefetches its own. Operands that all items share,
// and those that the first pass reads, aren't prefetched.
// CHECK-LABEL: func.func private @centered(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<64x256xf32>, %[[SCALE:[^ ,:#]+]]: memref<256xf32>, %{{.*}}, %[[ITEM:[^ ,:#]+]]: index,
// CHECK-DAG: %[[LAST:[^ ,:#]+]] = arith.constant 15 : index
// CHECK-DAG: %[[ROWS:[^ ,:#]+]] = arith.constant 4 : index
// CHECK: %[[BEGIN:[^ ,:#]+]] = arith.muli %[[ITEM]], %[[ROWS]]
// CHECK: %[[PART:[^ ,:#]+]] = memref.subview %[[X]][%[[BEGIN]], 0]
// CHECK: %[[AFTER:[^ ,:#]+]] = arith.addi %[[ITEM]], %{{.*}} : index
// CHECK: %[[NEXT:[^ ,:#]+]] = arith.minui %[[AFTER]], %[[LAST]]
// CHECK: %[[NEXT_BEGIN:[^ ,:#]+]] = arith.muli %[[NEXT]], %[[ROWS]]
// CHECK: %[[AHEAD:[^ ,:#]+]] = memref.subview %[[X]][%[[NEXT_BEGIN]], 0]
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %[[I:[^ ,:#]+]] = {{.*}} to %[[ROWS]]
// CHECK: scf.for %[[J:[^ ,:#]+]] =
// CHECK-NOT: memref.prefetch %[[SCALE]]
// CHECK: memref.prefetch %[[AHEAD]][%[[I]], %[[J]]], read, locality<3>, data
// CHECK: vector.load %[[PART]][%[[I]], %[[J]]]
// CHECK-COUNT-3: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func private @centered(%x: memref<64x256xf32>, %scale: memref<256xf32>, %out: memref<64x256xf32>, %item: index,
                            %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 16 : i64} {
  %zero = arith.constant 0.0 : f32
  %rows = arith.constant 4 : index
  %begin = arith.muli %item, %rows : index
  %part = memref.subview %x[%begin, 0] [4, 256] [1, 1]
      : memref<64x256xf32> to memref<4x256xf32, strided<[256, 1], offset: ?>>
  %sums = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<4xf32>)
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d1)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%part, %scale : memref<4x256xf32, strided<[256, 1], offset: ?>>, memref<256xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %result = memref.subview %out[%begin, 0] [4, 256] [1, 1]
      : memref<64x256xf32> to memref<4x256xf32, strided<[256, 1], offset: ?>>
  linalg.generic {indexing_maps = [#all, #row, affine_map<(d0, d1) -> (d1)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%part, %sums, %scale : memref<4x256xf32, strided<[256, 1], offset: ?>>, memref<4xf32>, memref<256xf32>)
      outs(%result : memref<4x256xf32, strided<[256, 1], offset: ?>>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %e = arith.mulf %d, %c : f32
    linalg.yield %e : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A part that fills the cache is gone before the next item comes.
// CHECK-LABEL: func.func private @large_part(
// CHECK-NOT: memref.prefetch
func.func private @large_part(%x: memref<64x65536xf32>, %out: memref<64x65536xf32>, %item: index,
                              %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 64 : i64} {
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %x[%item, 0] [1, 65536] [1, 1]
      : memref<64x65536xf32> to memref<1x65536xf32, strided<[65536, 1], offset: ?>>
  %sums = memref.alloc() : memref<1xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<1xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%part : memref<1x65536xf32, strided<[65536, 1], offset: ?>>) outs(%sums : memref<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  %result = memref.subview %out[%item, 0] [1, 65536] [1, 1]
      : memref<64x65536xf32> to memref<1x65536xf32, strided<[65536, 1], offset: ?>>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%part, %sums : memref<1x65536xf32, strided<[65536, 1], offset: ?>>, memref<1xf32>)
      outs(%result : memref<1x65536xf32, strided<[65536, 1], offset: ?>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  }
  return
}
