// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-block-rows | FileCheck %s -enable-var-scope

// A gradient and its sums of columns are computed for some rows at a time, and
// the rest of the rows at the end. The sums start before the loop.
// CHECK-LABEL: func.func @gradient(
// CHECK: linalg.fill {{.*}} outs(%arg2
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %[[STEP:.*]] {
// CHECK-DAG: %[[X:.*]] = memref.subview %arg0[%[[ROW]], 0] [8, 1024]
// CHECK-DAG: %[[D:.*]] = memref.subview %arg1[%[[ROW]], 0] [8, 1024]
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[D]] :
// CHECK: linalg.generic {{.*}} ins(%[[D]] : {{.*}}) outs(%arg2 :
// CHECK: } {hfta.term_loop}
// CHECK: memref.subview %arg0[2496, 0] [4, 1024]
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: return
func.func @gradient(%x: memref<2500x1024xf32>, %d: memref<2500x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2500x1024xf32>) outs(%d : memref<2500x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%d : memref<2500x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Memory that only these ops use shrinks to a block's. An index of a row is
// moved by the block's first row.
// CHECK-LABEL: func.func @scratch(
// CHECK: memref.alloc() {{.*}} : memref<8x1024xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[ROW:.*]] = 
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[I]], %[[ROW]]
// CHECK: return
func.func @scratch(%x: memref<2500x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %d = memref.alloc() {alignment = 64 : i64} : memref<2500x1024xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2500x1024xf32>) outs(%d : memref<2500x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i32
    %float = arith.sitofp %number : i32 to f32
    %0 = arith.mulf %in, %float : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%d : memref<2500x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// No loop: what the cache holds as a whole; an op that needs all sums before it
// visits the rows; and a sum along rows, whose lanes are combined at its end.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @centered(
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: }
// CHECK: linalg.generic {{.*}} outs(%arg1
// CHECK-LABEL: func.func @along_rows(
// CHECK-NOT: scf.for
func.func @small(%x: memref<32x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<32x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @centered(%x: memref<2500x1024xf32>, %d: memref<2500x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<2500x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<2500x1024xf32>, memref<1024xf32>) outs(%d : memref<2500x1024xf32>) {
  ^bb0(%in: f32, %mean: f32, %out: f32):
    %0 = arith.subf %in, %mean : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @along_rows(%x: memref<2500x1024xf32>, %sum: memref<2500xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<2500x1024xf32>) outs(%sum : memref<2500xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Nor for tensors without elements, or beside an op that reads the same memory
// along another axis: only the sum before it is in blocks.
// CHECK-LABEL: func.func @empty(
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @two_axes(
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg0
// CHECK-NOT: scf.for
func.func @empty(%x: memref<0x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<0x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @two_axes(%x: memref<1024x1024xf32>, %d: memref<1024x1024xf32>, %sum: memref<1024xf32>, %item: index, %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<1024x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : memref<1024x1024xf32>, memref<1024x1024xf32>) outs(%d : memref<1024x1024xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  return
}
