// RUN: hfta-opt %s -split-input-file -verify-diagnostics -convert-kernels-to-gpu | FileCheck %s -enable-var-scope

// An address and a distance from copy to copy for each operand, then scratch
// memory. Threads beyond the last element do nothing.
// CHECK-LABEL: llvm.func internal @"kernel/forward.0"(
// CHECK-SAME: hfta.block_threads = 256 : i64, hfta.gpu_entry = "forward$0"
// CHECK-SAME: hfta.operand_bytes = array<i64: 1200, 4>
// CHECK-LABEL: llvm.func @forward$0(
// CHECK-SAME: %[[X:[^ ,:]+]]: !llvm.ptr, %[[XS:[^ ,:]+]]: i64, %[[Y:[^ ,:]+]]: !llvm.ptr, %[[YS:[^ ,:]+]]: i64, %[[SCRATCH:[^ ,:]+]]: !llvm.ptr
// CHECK-SAME: hfta_gpu.entry, hfta_gpu.threads = 256 : i32
// CHECK-DAG: hfta_gpu.position block{{$}}
// CHECK-DAG: hfta_gpu.position block_threads{{$}}
// CHECK-DAG: hfta_gpu.position thread{{$}}
// CHECK: %[[END:.+]] = llvm.mlir.constant(300 : i32)
// CHECK: %[[IS:.+]] = llvm.icmp "ult" %[[ITEM:.+]], %[[END]]
// CHECK: llvm.cond_br %[[IS]]
// CHECK: %[[Z:.+]] = hfta_gpu.position copy
// CHECK: %[[COPY:.+]] = llvm.zext %[[Z]]
// CHECK: %[[OFFSET:.+]] = llvm.mul %[[COPY]], %[[XS]]
// CHECK: %[[OWN:.+]] = llvm.getelementptr %[[X]][%[[OFFSET]]]
// CHECK: llvm.mul %[[COPY]], %[[YS]]
// CHECK: llvm.call @"kernel/forward.0"(%[[OWN]], %{{.+}}, %[[ITEM]], %[[SCRATCH]])
func.func private @"kernel/forward.0"(%x: memref<300xf32>, %y: memref<1xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.items = 300 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %y[%c0] : memref<1xf32>
  memref.store %0, %x[%element] : memref<300xf32>
  return
}

// -----

// Indices of 32 bits may not be enough for a kernel; others have them.
// CHECK-LABEL: llvm.func internal @"kernel/narrow.0"(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %{{[^ ]+}}: i32,
// CHECK-LABEL: llvm.func internal @"kernel/wide.0"(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %{{[^ ]+}}: i64,
// CHECK: %[[TID:.+]] = hfta_gpu.position thread{{$}}
// CHECK: llvm.zext %[[TID]] : i32 to i64
// CHECK: llvm.mlir.constant(300 : i64)
func.func private @"kernel/narrow.0"(%x: memref<300xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.items = 300 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  return
}
func.func private @"kernel/wide.0"(%x: memref<300xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.items = 300 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64, hfta.wide_indices} {
  return
}

// -----

// Nor may they be enough for that number of threads.
// CHECK-LABEL: llvm.func internal @"kernel/many.0"(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %{{[^ ]+}}: i64,
func.func private @"kernel/many.0"(%x: memref<2147483647xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.items = 2147483647 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  return
}

// -----

// As few warps as there is work for; each thread has its scratch memory.
// CHECK-LABEL: llvm.func internal @"kernel/few.0"(
// CHECK-SAME: hfta.block_threads = 64 : i64
// CHECK-LABEL: llvm.func @few$0(
// CHECK-SAME: hfta_gpu.threads = 64 : i32
// CHECK: llvm.mlir.constant(64 : i64)
// CHECK: llvm.mlir.constant(48 : i64)
// CHECK: %[[OWN:.+]] = llvm.getelementptr %{{.+}}[%{{.+}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.call @"kernel/few.0"(%{{.+}}, %{{.+}}, %[[OWN]])
func.func private @"kernel/few.0"(%x: memref<40xf32>, %element: index, %scratch: memref<48xi8>) attributes {hfta.items = 40 : i64, hfta.kernel, hfta.scratch_bytes = 48 : i64} {
  return
}

// -----

// Where threads share sums, a division of wide numbers, which is a call of the
// assembler's, has the registers that two blocks at once leave it.
// CHECK-LABEL: llvm.func @divides$0(
// CHECK-SAME: hfta_gpu.blocks_at_once = 2 : i32
func.func private @"kernel/divides.0"(%x: memref<256xf64>, %element: index, %scratch: memref<0xi8>) attributes {hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64, hfta.shares_sums} {
  %0 = memref.load %x[%element] : memref<256xf64>
  %1 = arith.divf %0, %0 : f64
  memref.store %1, %x[%element] : memref<256xf64>
  return
}
// A square root is such a call, too.
// CHECK-LABEL: llvm.func @root$0(
// CHECK-SAME: hfta_gpu.blocks_at_once = 2 : i32
func.func private @"kernel/root.0"(%x: memref<256xf64>, %element: index, %scratch: memref<0xi8>) attributes {hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64, hfta.shares_sums} {
  %0 = memref.load %x[%element] : memref<256xf64>
  %1 = math.sqrt %0 : f64
  memref.store %1, %x[%element] : memref<256xf64>
  return
}
// A thread of several elements has that many registers, too.
// CHECK-LABEL: llvm.func @several$0(
// CHECK-SAME: hfta_gpu.blocks_at_once = 2 : i32
func.func private @"kernel/several.0"(%x: memref<256xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel, hfta.run = 4 : i64, hfta.scratch_bytes = 0 : i64, hfta.shares_sums} {
  return
}
// Others have as many as the assembler likes.
// CHECK-LABEL: llvm.func @narrow$0(
// CHECK-NOT: hfta_gpu.blocks_at_once
// CHECK-LABEL: llvm.func @apart$0(
// CHECK-NOT: hfta_gpu.blocks_at_once
func.func private @"kernel/narrow.0"(%x: memref<256xf32>, %element: index, %scratch: memref<0xi8>) attributes {hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64, hfta.shares_sums} {
  %0 = memref.load %x[%element] : memref<256xf32>
  %1 = arith.divf %0, %0 : f32
  memref.store %1, %x[%element] : memref<256xf32>
  return
}
func.func private @"kernel/apart.0"(%x: memref<256xf64>, %element: index, %scratch: memref<0xi8>) attributes {hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  %0 = memref.load %x[%element] : memref<256xf64>
  %1 = arith.divf %0, %0 : f64
  memref.store %1, %x[%element] : memref<256xf64>
  return
}

// -----

// The address of an element becomes a pointer; its index has as many bits as the
// kernel's indices have. Without indices it is the memory's pointer.
// CHECK-LABEL: llvm.func internal @"kernel/addresses.0"(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %[[I:[^ ,:]+]]: i32,
// CHECK: %[[TO:.+]] = llvm.getelementptr{{.*}} %{{.+}}[%[[I]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, bf16
// CHECK: %[[PLACE:.+]] = llvm.getelementptr{{.*}} %{{.+}}[%[[I]]] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
// CHECK: %[[FROM:.+]] = llvm.addrspacecast %[[PLACE]] : !llvm.ptr to !llvm.ptr<1>
// CHECK: hfta_gpu.begin_copy %[[TO]] from %[[FROM]]
// CHECK: hfta_gpu.arrive %{{.+}}
// CHECK-LABEL: llvm.func internal @"kernel/wide_addresses.0"(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %[[I:[^ ,:]+]]: i64,
// CHECK: llvm.getelementptr{{.*}} %{{.+}}[%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
// CHECK-NOT: hfta_gpu.address
memref.global "private" @shared : memref<64xbf16, 3> = uninitialized {alignment = 16 : i64}
func.func private @"kernel/addresses.0"(%x: memref<64xbf16>, %i: index, %scratch: memref<0xi8>) attributes {hfta.items = 40 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  %0 = memref.get_global @shared : memref<64xbf16, 3>
  %1 = hfta_gpu.address %0[%i] : memref<64xbf16, 3> -> !llvm.ptr<3>
  %2 = hfta_gpu.address %x[%i] : memref<64xbf16> -> !llvm.ptr
  %3 = llvm.addrspacecast %2 : !llvm.ptr to !llvm.ptr<1>
  hfta_gpu.begin_copy %1 from %3
  %4 = hfta_gpu.address %0 : memref<64xbf16, 3> -> !llvm.ptr<3>
  hfta_gpu.arrive %4
  return
}
func.func private @"kernel/wide_addresses.0"(%x: memref<64xbf16>, %i: index, %scratch: memref<0xi8>) attributes {hfta.items = 40 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64, hfta.wide_indices} {
  %0 = hfta_gpu.address %x[%i] : memref<64xbf16> -> !llvm.ptr
  %1 = llvm.addrspacecast %0 : !llvm.ptr to !llvm.ptr<1>
  %2 = llvm.mlir.zero : f32
  llvm.store %2, %1 : f32, !llvm.ptr<1>
  return
}

// -----

// expected-error @+1 {{computes several items at once, but a thread of a GPU computes one}}
func.func private @"kernel/lanes.0"(%x: memref<40xf32>, %y: memref<40xf32>, %i: index, %j: index, %scratch: memref<0xi8>) attributes {hfta.items = 40 : i64, hfta.kernel, hfta.lanes = 2 : i64, hfta.scratch_bytes = 0 : i64} {
  return
}

// -----

func.func private @atanf(f32) -> f32
func.func private @"kernel/library.0"(%x: memref<40xf32>, %i: index, %scratch: memref<0xi8>) attributes {hfta.items = 40 : i64, hfta.kernel, hfta.scratch_bytes = 0 : i64} {
  %0 = memref.load %x[%i] : memref<40xf32>
  // expected-error @+1 {{calls 'atanf' of the C library, which doesn't exist on a GPU}}
  %1 = func.call @atanf(%0) : (f32) -> f32
  memref.store %1, %x[%i] : memref<40xf32>
  return
}
