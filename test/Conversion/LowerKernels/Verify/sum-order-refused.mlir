// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-sum-order

// Each kernel of sum-order.mlir, with one thing wrong.

// Two reduction loops of one length were exchanged.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @swapped(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %b = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %a = %c0 to %c4 step %c1 iter_args(%t = %s) -> (vector<8xf32>) {
      %xr = memref.load %x[%a, %b] : memref<4x4xf32>
      %wr = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      // expected-error@+1 {{adds a wrong term to sum 0, expected term 1 of its order}}
      %r = math.fma %vr, %wr, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  } {hfta.term_loop}
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// Each work item, and so each thread, has a part of the sum.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
// expected-error@+1 {{stores sum 0 with 8 of the 16 terms of its order}}
func.func private @split_by_threads(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %begin = affine.apply affine_map<(d) -> (d * 2)>(%item)
  %end = affine.apply affine_map<(d) -> (d * 2 + 2)>(%item)
  %sum = scf.for %a = %begin to %end step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
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

// -----

// A loop over terms goes backwards.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @backwards(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %b = %c0 to %c4 step %c1 iter_args(%t = %s) -> (vector<8xf32>) {
      %back = affine.apply affine_map<(d) -> (3 - d)>(%b)
      %xr = memref.load %x[%a, %back] : memref<4x4xf32>
      %wr = vector.load %w[%a, %back, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      // expected-error@+1 {{adds a wrong term to sum 0, expected term 1 of its order}}
      %r = math.fma %vr, %wr, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  } {hfta.term_loop}
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// A tile adds its second term first.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @tile_turned(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %b = %c0 to %c4 step %c2 iter_args(%t = %s) -> (vector<8xf32>) {
      %next = affine.apply affine_map<(d) -> (d + 1)>(%b)
      %xq = memref.load %x[%a, %next] : memref<4x4xf32>
      %wq = vector.load %w[%a, %next, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vq = vector.broadcast %xq : f32 to vector<8xf32>
      %q = math.fma %vq, %wq, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      %xr = memref.load %x[%a, %b] : memref<4x4xf32>
      %wr = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      // expected-error@+1 {{adds a wrong term to sum 0, expected term 1 of its order}}
      %r = math.fma %vr, %wr, %q {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  } {hfta.term_loop}
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// Even and odd terms are added up side by side.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @reassociated(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %two:2 = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero, %o = %zero) -> (vector<8xf32>, vector<8xf32>) {
    %row:2 = scf.for %b = %c0 to %c4 step %c2 iter_args(%t = %s, %u = %o) -> (vector<8xf32>, vector<8xf32>) {
      %next = affine.apply affine_map<(d) -> (d + 1)>(%b)
      %xq = memref.load %x[%a, %b] : memref<4x4xf32>
      %wq = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vq = vector.broadcast %xq : f32 to vector<8xf32>
      // expected-error@+1 {{adds a wrong term to sum 0, expected term 1 of its order}}
      %q = math.fma %vq, %wq, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      %xr = memref.load %x[%a, %next] : memref<4x4xf32>
      %wr = vector.load %w[%a, %next, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      %r = math.fma %vr, %wr, %u {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %q, %r : vector<8xf32>, vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row#0, %row#1 : vector<8xf32>, vector<8xf32>
  } {hfta.term_loop}
  %sum = arith.addf %two#0, %two#1 {hfta.combines = 0 : i64} : vector<8xf32>
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// This one adds up at the end, too, by an op that adds a term.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @reassociated_rows(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s0 = arith.constant dense<0.0> : vector<8xf32>
  %h0 = scf.for %a0 = %c0 to %c2 step %c1 iter_args(%s0x = %zero) -> (vector<8xf32>) {
    %row0 = scf.for %b0 = %c0 to %c4 step %c1 iter_args(%t0 = %s0x) -> (vector<8xf32>) {
      %xr0 = memref.load %x[%a0, %b0] : memref<4x4xf32>
      %wr0 = vector.load %w[%a0, %b0, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr0 = vector.broadcast %xr0 : f32 to vector<8xf32>
      %r0 = math.fma %vr0, %wr0, %t0 {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r0 : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row0 : vector<8xf32>
  } {hfta.term_loop}
  %h1 = scf.for %a1 = %c2 to %c4 step %c1 iter_args(%s1x = %zero) -> (vector<8xf32>) {
    %row1 = scf.for %b1 = %c0 to %c4 step %c1 iter_args(%t1 = %s1x) -> (vector<8xf32>) {
      %xr1 = memref.load %x[%a1, %b1] : memref<4x4xf32>
      %wr1 = vector.load %w[%a1, %b1, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr1 = vector.broadcast %xr1 : f32 to vector<8xf32>
      %r1 = math.fma %vr1, %wr1, %t1 {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r1 : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row1 : vector<8xf32>
  } {hfta.term_loop}
  // expected-error@+1 {{combines parts of sum 0 that its order doesn't combine}}
  %sum = arith.addf %h0, %h1 {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// The last term is left out.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
// expected-error@+1 {{stores sum 0 with 12 of the 16 terms of its order}}
func.func private @too_few(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %a = %c1 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
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

// -----

// A loop over no terms carries the sum: over work items, for example.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
func.func private @carried(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#order]} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{carries values, but isn't a loop over the terms of a sum}}
  %sum = scf.for %a = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %row = scf.for %b = %c0 to %c4 step %c1 iter_args(%t = %s) -> (vector<8xf32>) {
      %xr = memref.load %x[%a, %b] : memref<4x4xf32>
      %wr = vector.load %w[%a, %b, %c0] : memref<4x4x8xf32>, vector<8xf32>
      %vr = vector.broadcast %xr : f32 to vector<8xf32>
      %r = math.fma %vr, %wr, %t {hfta.term_of = array<i64: 0, 0>} : vector<8xf32>
      scf.yield %r : vector<8xf32>
    } {hfta.term_loop}
    scf.yield %row : vector<8xf32>
  }
  vector.store %sum, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// The sum is lost.
#order = #hfta.sum_order<[4, 4], reads[(a, b) -> (a * 4 + b), (a, b) -> (a * 32 + b * 8)]>
// expected-error@+1 {{doesn't store sum 0}}
func.func private @lost(%x: memref<4x4xf32>, %w: memref<4x4x8xf32>, %out: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
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
  vector.store %zero, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// Neighbouring lanes are added first.
// expected-error@+1 {{stores sum 0 with other lanes than its order has}}
func.func private @other_tree(%x: memref<32xf32>, %out: memref<f32>, %item: index, %scratch: memref<?xi8>)
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
  %l0 = vector.shuffle %0, %0 [0, 2, 4, 6, 8, 10, 12, 14] : vector<16xf32>, vector<16xf32>
  %h0 = vector.shuffle %0, %0 [1, 3, 5, 7, 9, 11, 13, 15] : vector<16xf32>, vector<16xf32>
  %p0 = arith.addf %l0, %h0 {hfta.combines = 0 : i64} : vector<8xf32>
  %l1 = vector.shuffle %p0, %p0 [0, 2, 4, 6] : vector<8xf32>, vector<8xf32>
  %h1 = vector.shuffle %p0, %p0 [1, 3, 5, 7] : vector<8xf32>, vector<8xf32>
  %p1 = arith.addf %l1, %h1 {hfta.combines = 0 : i64} : vector<4xf32>
  %l2 = vector.shuffle %p1, %p1 [0, 2] : vector<4xf32>, vector<4xf32>
  %h2 = vector.shuffle %p1, %p1 [1, 3] : vector<4xf32>, vector<4xf32>
  %p2 = arith.addf %l2, %h2 {hfta.combines = 0 : i64} : vector<2xf32>
  %l3 = vector.shuffle %p2, %p2 [0] : vector<2xf32>, vector<2xf32>
  %h3 = vector.shuffle %p2, %p2 [1] : vector<2xf32>, vector<2xf32>
  %p3 = arith.addf %l3, %h3 {hfta.combines = 0 : i64} : vector<1xf32>
  %last = vector.extract %p3[0] : f32 from vector<1xf32>
  %sum = arith.addf %start, %last {hfta.combines = 0 : i64} : f32
  memref.store %sum, %out[] : memref<f32>
  return
}

// -----

// Lanes that follow from a target's vectors.
// expected-error@+1 {{sum 0 has 8 lanes and 1 vectors along a row of 32, but the rule for all targets has others}}
func.func private @other_lanes(%x: memref<32xf32>, %out: memref<f32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#hfta.sum_order<[32], reads[(d) -> (d)], 8 lanes, 1 vectors>]} {
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

// -----

// Only orders of addresses can be followed.
// expected-error@+1 {{'hfta.sums' must list orders of addresses}}
func.func private @places(%x: memref<32xf32>, %out: memref<f32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.sums = [#hfta.sum_order<[32], reads[(d) -> (0, d)], 16 lanes, 1 vectors>]} {
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

// -----

// An op's loops were exchanged.
func.func private @exchanged(%x: tensor<8x4x4xf32>, %s: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  // expected-error@+1 {{reads its terms in another order than it states: affine_map<(d0, d1) -> (0, d1, d0)>}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<8x4x4xf32>) outs(%s : tensor<8xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[4, 4], reads[(a, b) -> (0, a, b)]>} {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A reduced axis was cut.
func.func private @cut(%x: tensor<8x2x4xf32>, %s: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  // expected-error@+1 {{goes through other terms than it states: #hfta.sum_order<[2, 4], reads}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<8x2x4xf32>) outs(%s : tensor<8xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[4, 4], reads[(a, b) -> (0, a, b)]>} {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An op states no order.
func.func private @silent(%x: tensor<8x4x4xf32>, %s: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  // expected-error@+1 {{has reduction loops, but no 'hfta.sum_order'}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<8x4x4xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// So does one whose order is its name's.
func.func private @named(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {hfta.kernel} {
  // expected-error@+1 {{has reduction loops, but no 'hfta.sum_order'}}
  %r = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
