// RUN: hfta-opt %s -hfta-verify-sum-order="erase-marks=true" | FileCheck %s

// Loops that add the terms of their sums in order pass, and lose their marks.
// The loops of sum-order-refused.mlir differ from these in what is wrong there.

// CHECK-NOT: hfta.sums
// CHECK-NOT: hfta.term
// CHECK-NOT: hfta.combines
// CHECK-NOT: hfta.start_of

#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>

// CHECK-LABEL: @in_order
func.func private @in_order(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %b = %c0 to %c4 step %c1 iter_args(%t = %s) -> (vector<8xf32>) {
      %xr = memref.load %x[%a, %b] : memref<4x4xf32>
      %wr = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      %r = math.fma %vr, %wr, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  } {hfta.term_loop}
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// Two terms at a time.
// CHECK-LABEL: @unrolled
func.func private @unrolled(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %b = %c0 to %c4 step %c2 iter_args(%t = %s) -> (vector<8xf32>) {
      %next = affine.apply affine_map<(d) -> (d + 1)>(%b)
      %xq = memref.load %x[%a, %b] : memref<4x4xf32>
      %wq = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vq = vector.broadcast %xq : f32 to vector<8xf32>
      %q = math.fma %vq, %wq, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      %xr = memref.load %x[%a, %next] : memref<4x4xf32>
      %wr = vector.load %w[%a, %next, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      %r = math.fma %vr, %wr, %q {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  } {hfta.term_loop}
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// The sum waits in memory between blocks of its terms.
// CHECK-LABEL: @blocks
func.func private @blocks(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  vector.store %zero, %out[%c0] : memref<8xf32>, vector<8xf32>
  scf.for %a = %c0 to %c4 step %c1 {
    %s = vector.load %out[%c0] {hfta.start_of = 0 : i64} : memref<8xf32>, vector<8xf32>
    %row = scf.for %b = %c0 to %c4 step %c1 iter_args(%t = %s) -> (vector<8xf32>) {
      %xr = memref.load %x[%a, %b] : memref<4x4xf32>
      %wr = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      %r = math.fma %vr, %wr, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    vector.store %row, %out[%c0] : memref<8xf32>, vector<8xf32>
  } {hfta.term_loop}
  return
}

// CHECK-LABEL: @lanes
func.func private @lanes(%x: memref<32xf32>, %out: memref<f32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#hfta.sum_order<[32], reads[(d) -> (d)], 16 lanes, 1 vectors>]} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %start = arith.constant {hfta.start_of = 0 : i64} 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %0 = scf.for %i = %c0 to %c32 step %c16 iter_args(%s = %zero) -> (vector<16xf32>) {
    %v = vector.load %x[%i] : memref<32xf32>, vector<16xf32>
    %t = arith.addf %s, %v {hfta.term_of = array<i64: 0, 0>} : vector<16xf32>
    scf.yield %t : vector<16xf32>
  } {hfta.term_loop}
  %l0 = vector.shuffle %0, %0 [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>, vector<16xf32>
  %h0 = vector.shuffle %0, %0 [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>, vector<16xf32>
  %p0 = arith.addf %l0, %h0 {hfta.combines = 0 : i64} : vector<8xf32>
  %l1 = vector.shuffle %p0, %p0 [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
  %h1 = vector.shuffle %p0, %p0 [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
  %p1 = arith.addf %l1, %h1 {hfta.combines = 0 : i64} : vector<4xf32>
  %l2 = vector.shuffle %p1, %p1 [0, 1] : vector<4xf32>, vector<4xf32>
  %h2 = vector.shuffle %p1, %p1 [2, 3] : vector<4xf32>, vector<4xf32>
  %p2 = arith.addf %l2, %h2 {hfta.combines = 0 : i64} : vector<2xf32>
  %l3 = vector.shuffle %p2, %p2 [0] : vector<2xf32>, vector<2xf32>
  %h3 = vector.shuffle %p2, %p2 [1] : vector<2xf32>, vector<2xf32>
  %p3 = arith.addf %l3, %h3 {hfta.combines = 0 : i64} : vector<1xf32>
  %last = vector.extract %p3[0] : f32 from vector<1xf32>
  %sum = arith.addf %start, %last {hfta.combines = 0 : i64} : f32
  memref.store %sum, %out[] : memref<f32>
  return
}

// CHECK-LABEL: @tensors
// CHECK: hfta.sum_order = #hfta.sum_order<[4, 4], reads[(d0, d1) -> (0, d0, d1)]>
func.func private @tensors(%x: tensor<8x4x4xf32>, %s: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<8x4x4xf32>) outs(%s : tensor<8xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[4, 4], reads[(a, b) -> (0, a, b)]>} {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
