// RUN: hfta-opt %s -convert-kernels-to-llvm | FileCheck %s -enable-var-scope

// CHECK: llvm.mlir.global private constant @table(
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>

// CHECK: llvm.func @exp(f64) -> f64
func.func private @exp(f64) -> f64

// CHECK-LABEL: llvm.func internal @"kernel/add.0"(
// CHECK-SAME: %[[X:[^ ,:#]+]]: !llvm.ptr {llvm.noalias}, %[[OUT:[^ ,:#]+]]: !llvm.ptr {llvm.noalias}, %[[ITEM:[^ ,:#]+]]: i64, %{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK-SAME: attributes {hfta.items = 2 : i64, hfta.kernel, hfta.operand_bytes = array<i64: 64, 64>, hfta.scratch_bytes = 64 : i64
func.func private @"kernel/add.0"(%x: memref<8xf64>, %out: memref<8xf64>, %item: index, %scratch: memref<64xi8>)
    attributes {hfta.kernel, hfta.items = 2 : i64, hfta.scratch_bytes = 64 : i64} {
  // CHECK: llvm.mlir.addressof @table
  // CHECK: llvm.call @exp(
  // CHECK: llvm.cond_br
  // CHECK: llvm.intr.fma
  // CHECK: llvm.store {{.*}} : vector<4xf64>, !llvm.ptr
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %table = memref.get_global @table : memref<4xf32>
  %a = memref.load %x[%item] : memref<8xf64>
  %e = func.call @exp(%a) : (f64) -> f64
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %e) -> f64 {
    %b = memref.load %table[%i] : memref<4xf32>
    %w = arith.extf %b : f32 to f64
    %n = math.fma %w, %w, %s : f64
    scf.yield %n : f64
  }
  %v = vector.broadcast %sum : f64 to vector<4xf64>
  vector.store %v, %out[%item] : memref<8xf64>, vector<4xf64>
  return
}

// CHECK-LABEL: llvm.func @"kernel/add.0/entry"(
// CHECK-SAME: %[[BUFFERS:[^ ,:#]+]]: !llvm.ptr, %[[ITEM:[^ ,:#]+]]: i64, %[[SCRATCH:[^ ,:#]+]]: !llvm.ptr)
// CHECK: %[[P0:[^ ,:#]+]] = llvm.getelementptr %[[BUFFERS]][0]
// CHECK: %[[X:[^ ,:#]+]] = llvm.load %[[P0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[P1:[^ ,:#]+]] = llvm.getelementptr %[[BUFFERS]][1]
// CHECK: %[[OUT:[^ ,:#]+]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.call @"kernel/add.0"(%[[X]], %[[OUT]], %[[ITEM]], %[[SCRATCH]])
// CHECK: llvm.return

// A function that isn't a kernel stays.
// CHECK: func.func @task()
func.func @task() {
  return
}

// A kernel with lanes has a list of buffers for each lane, which may be the
// same memory, and a list of items.
// CHECK-LABEL: llvm.func internal @"kernel/lanes"(
// CHECK-SAME: %{{[^ ,:#]+}}: !llvm.ptr, %{{[^ ,:#]+}}: !llvm.ptr, %{{[^ ,:#]+}}: i64, %{{[^ ,:#]+}}: i64, %{{[^ ,:#]+}}: !llvm.ptr {llvm.noalias})
// CHECK-SAME: hfta.operand_bytes = array<i64: 64>
// CHECK-LABEL: llvm.func @"kernel/lanes/entry"(
// CHECK-SAME: %[[BUFFERS:[^ ,:#]+]]: !llvm.ptr, %[[ITEMS:[^ ,:#]+]]: !llvm.ptr, %[[SCRATCH:[^ ,:#]+]]: !llvm.ptr)
// CHECK: %[[P1:[^ ,:#]+]] = llvm.getelementptr %[[BUFFERS]][1]
// CHECK: %[[X1:[^ ,:#]+]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[P3:[^ ,:#]+]] = llvm.getelementptr %[[ITEMS]][1]
// CHECK: %[[I1:[^ ,:#]+]] = llvm.load %[[P3]] : !llvm.ptr -> i64
// CHECK: llvm.call @"kernel/lanes"(%{{.*}}, %[[X1]], %{{.*}}, %[[I1]], %[[SCRATCH]])
func.func private @"kernel/lanes"(%x0: memref<8xf64>, %x1: memref<8xf64>, %i0: index, %i1: index, %scratch: memref<64xi8>)
    attributes {hfta.kernel, hfta.items = 8 : i64, hfta.lanes = 2 : i64, hfta.scratch_bytes = 64 : i64} {
  %a = memref.load %x0[%i0] : memref<8xf64>
  memref.store %a, %x1[%i1] : memref<8xf64>
  return
}
