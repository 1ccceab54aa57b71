// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-fuse-sum-loops,cse))' | FileCheck %s -enable-var-scope

// Sums of the same terms are added up in one loop, which reads them once, though
// threads wait for each other between them.
// CHECK-LABEL: func.func @two(
// CHECK: %[[SUMS:.+]]:2 = scf.for %{{.+}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (f32, f32) {
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: scf.yield
// CHECK: memref.store %[[SUMS]]#{{.}}
// CHECK: memref.store %[[SUMS]]#{{.}}
// CHECK-NOT: scf.for
func.func @two(%x: memref<64xf32>, %lane: index) {
  %shared = memref.alloc() : memref<4xf32, 3>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %a = scf.for %i = %lane to %c64 step %c4 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  memref.store %a, %shared[%lane] : memref<4xf32, 3>
  hfta_gpu.barrier
  %start = arith.negf %one : f32
  %b = scf.for %i = %lane to %c64 step %c4 iter_args(%sum = %start) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %p = arith.mulf %e, %e : f32
    %s = arith.addf %sum, %p : f32
    scf.yield %s : f32
  }
  memref.store %b, %shared[%lane] : memref<4xf32, 3>
  return
}

// Sums stay apart if one needs the other, reads a tensor written in between, or
// has other terms.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-4: scf.for
func.func @apart(%x: memref<64xf32>, %lane: index) {
  %shared = memref.alloc() : memref<4xf32, 3>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %a = scf.for %i = %lane to %c64 step %c4 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  %b = scf.for %i = %lane to %c64 step %c4 iter_args(%sum = %a) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.mulf %sum, %e : f32
    scf.yield %s : f32
  }
  memref.store %b, %shared[%lane] : memref<4xf32, 3>
  %c = scf.for %i = %lane to %c64 step %c4 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %shared[%c1] : memref<4xf32, 3>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  memref.store %c, %shared[%c0] : memref<4xf32, 3>
  %d = scf.for %i = %c0 to %c64 step %c4 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  memref.store %d, %shared[%c0] : memref<4xf32, 3>
  return
}

// They also do if an argument is stored to in between, or one counts without signs.
// CHECK-LABEL: func.func @stored(
// CHECK-COUNT-3: scf.for
func.func @stored(%x: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  memref.store %a, %x[%c0] : memref<64xf32>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %sum, %e : f32
    scf.yield %s : f32
  }
  %c = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%sum = %b) -> f32 {
    %s = arith.addf %sum, %sum : f32
    scf.yield %s : f32
  }
  memref.store %c, %x[%c1] : memref<64xf32>
  return
}

// Loops inside of loops that were fused are fused, too.
// CHECK-LABEL: func.func @nested(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @nested(%x: memref<8x8xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %a = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%inner = %sum) -> f32 {
      %e = memref.load %x[%i, %j] : memref<8x8xf32>
      %t = arith.addf %inner, %e : f32
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%inner = %sum) -> f32 {
      %e = memref.load %x[%i, %j] : memref<8x8xf32>
      %t = arith.mulf %e, %e : f32
      %u = arith.addf %inner, %t : f32
      scf.yield %u : f32
    }
    scf.yield %s : f32
  }
  memref.store %a, %y[%c0] : memref<2xf32>
  memref.store %b, %y[%c1] : memref<2xf32>
  return
}
