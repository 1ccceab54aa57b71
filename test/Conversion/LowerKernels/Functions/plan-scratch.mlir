// RUN: hfta-opt %s -hfta-plan-scratch -split-input-file -verify-diagnostics | FileCheck %s -enable-var-scope

// The second buffer's life overlaps both others', the first and the third share
// bytes; all begin at multiples of 64.
// CHECK-LABEL: func.func private @lives(
// CHECK-SAME: %[[SCRATCH:[^ ,:#]+]]: memref<640xi8>)
// CHECK-SAME: hfta.scratch_bytes = 640 : i64
func.func private @lives(%x: memref<100xf32>, %out: memref<100xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  // CHECK: %[[FIRST:[^ ,:#]+]] = arith.constant 0 : index
  // CHECK: memref.view %[[SCRATCH]][%[[FIRST]]][] : memref<640xi8> to memref<100xf32>
  // CHECK: %[[SECOND:[^ ,:#]+]] = arith.constant 448 : index
  // CHECK: memref.view %[[SCRATCH]][%[[SECOND]]][] : memref<640xi8> to memref<10x4xf32>
  // CHECK: %[[THIRD:[^ ,:#]+]] = arith.constant 0 : index
  // CHECK: memref.view %[[SCRATCH]][%[[THIRD]]][] : memref<640xi8> to memref<7xi8>
  // CHECK-NOT: memref.alloc
  %c0 = arith.constant 0 : index
  %first = memref.alloc() {alignment = 64 : i64} : memref<100xf32>
  linalg.copy ins(%x : memref<100xf32>) outs(%first : memref<100xf32>)
  %second = memref.alloc() {alignment = 64 : i64} : memref<10x4xf32>
  %flat = memref.collapse_shape %second [[0, 1]] : memref<10x4xf32> into memref<40xf32>
  %a = memref.load %first[%c0] : memref<100xf32>
  memref.store %a, %flat[%c0] : memref<40xf32>
  %third = memref.alloc() {alignment = 64 : i64} : memref<7xi8>
  %b = arith.fptosi %a : f32 to i8
  memref.store %b, %third[%c0] : memref<7xi8>
  %c = memref.load %flat[%c0] : memref<40xf32>
  memref.store %c, %out[%c0] : memref<100xf32>
  return
}

// -----

// CHECK-LABEL: func.func private @none(
// CHECK-SAME: memref<0xi8>)
// CHECK-SAME: hfta.scratch_bytes = 0 : i64
func.func private @none(%x: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  return
}

// -----

func.func private @dynamic(%x: memref<8xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  // expected-error @below {{expected static size}}
  %0 = memref.alloc(%item) : memref<?xf32>
  return
}
