// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-emulate-gpu | FileCheck %s -enable-var-scope

// Threads that wait for each other call what the emulated driver says; what they
// share is one memory, as large as the largest.
// CHECK-DAG: llvm.mlir.global external @hfta_emulated_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<96 x i8>
// CHECK-DAG: llvm.mlir.global external constant @hfta_emulated_shared_bytes(96 : i64)
// CHECK-DAG: llvm.mlir.global external @hfta_emulated_barrier() {{.*}} : !llvm.ptr
// CHECK-NOT: @shared
llvm.mlir.global private @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8> {
  %0 = llvm.mlir.undef : !llvm.array<64 x i8>
  llvm.return %0 : !llvm.array<64 x i8>
}
llvm.mlir.global private @shared_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<96 x i8> {
  %0 = llvm.mlir.undef : !llvm.array<96 x i8>
  llvm.return %0 : !llvm.array<96 x i8>
}
// CHECK-LABEL: llvm.func internal @waits(
// CHECK: llvm.mlir.addressof @hfta_emulated_shared : !llvm.ptr<3>
// CHECK: %[[PLACE:.+]] = llvm.mlir.addressof @hfta_emulated_barrier
// CHECK: %[[WAIT:.+]] = llvm.load %[[PLACE]]
// CHECK: llvm.call %[[WAIT]]() : !llvm.ptr, () -> ()
// CHECK: llvm.func @waits$block(
llvm.func @waits(%x: !llvm.ptr) attributes {hfta_gpu.entry} {
  %0 = llvm.mlir.addressof @shared_0 : !llvm.ptr<3>
  %1 = llvm.load %x : !llvm.ptr -> f32
  llvm.store %1, %0 : f32, !llvm.ptr<3>
  hfta_gpu.barrier
  llvm.return
}
// Attributes about a kernel's registers have no effect here.
// CHECK-LABEL: llvm.func internal @alone(
// CHECK-NOT: hfta_gpu
// CHECK: llvm.func @alone$call(
llvm.func @alone(%x: !llvm.ptr) attributes {hfta_gpu.blocks_at_once = 4 : i32, hfta_gpu.entry, hfta_gpu.threads = 256 : i32} {
  llvm.return
}

// -----

// The threads of a warp multiply together; bf16 numbers are handled as bits.
// CHECK-LABEL: llvm.func internal @multiplies(
// CHECK: %[[BITS:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i16
// CHECK: %[[WORD:.+]] = llvm.zext %[[BITS]] : i16 to i32
// CHECK: %[[UPPER:.+]] = llvm.shl %[[WORD]]
// CHECK: %[[WIDE:.+]] = llvm.bitcast %[[UPPER]] : i32 to f32
// CHECK: %[[FACTORS:.+]] = llvm.mlir.constant(0 : i{{.+}}) : i32
// CHECK: %[[PLACE:.+]] = llvm.mlir.addressof @hfta_emulated_multiply
// CHECK: %[[MULTIPLY:.+]] = llvm.load %[[PLACE]]
// CHECK: %[[SUMS:.+]] = llvm.call %[[MULTIPLY]](%[[FACTORS]], {{.*}}%[[WIDE]], %[[WIDE]], %[[WIDE]], %[[WIDE]]) : !llvm.ptr, (i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.ptr
// CHECK: llvm.load %[[SUMS]] : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: llvm.func @multiplies$block(
llvm.func @multiplies(%x: !llvm.ptr, %word: i32) attributes {hfta_gpu.entry} {
  %0 = llvm.load %x : !llvm.ptr -> bf16
  %1 = llvm.fpext %0 : bf16 to f32
  %2:4 = hfta_gpu.multiply bf16 (%word, %word, %word, %word) (%word, %word) (%1, %1, %1, %1)
  llvm.store %2#0, %x : f32, !llvm.ptr
  llvm.return
}

// -----

// So do they read matrices, here transposed.
// CHECK-LABEL: llvm.func internal @reads(
// CHECK: %[[SHARED:.+]] = llvm.mlir.addressof @hfta_emulated_shared : !llvm.ptr<3>
// CHECK: %[[COUNT:.+]] = llvm.mlir.constant(2 : i{{.+}}) : i32
// CHECK: %[[TRANSPOSES:.+]] = llvm.mlir.constant(1 : i{{.+}}) : i32
// CHECK: %[[ROW:.+]] = llvm.addrspacecast %[[SHARED]] : !llvm.ptr<3> to !llvm.ptr
// CHECK: %[[PLACE:.+]] = llvm.mlir.addressof @hfta_emulated_read_matrices
// CHECK: %[[READ:.+]] = llvm.load %[[PLACE]]
// CHECK: %[[WORDS:.+]] = llvm.call %[[READ]](%[[COUNT]], %[[TRANSPOSES]], %[[ROW]]) : !llvm.ptr, (i32, i32, !llvm.ptr) -> !llvm.ptr
// CHECK: llvm.load %[[WORDS]] : !llvm.ptr -> !llvm.struct<(i32, i32)>
// CHECK: llvm.func @reads$block(
llvm.mlir.global private @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i8> {
  %0 = llvm.mlir.undef : !llvm.array<256 x i8>
  llvm.return %0 : !llvm.array<256 x i8>
}
llvm.func @reads(%x: !llvm.ptr) attributes {hfta_gpu.entry} {
  %0 = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %1:2 = hfta_gpu.load_matrices %0 transposed : i32, i32
  llvm.store %1#1, %x : i32, !llvm.ptr
  llvm.return
}

// -----

// The driver does the asynchronous copies of a thread.
// CHECK-LABEL: llvm.func internal @copies(
// CHECK-SAME: %[[FROM:[^ ,:]+]]: !llvm.ptr<1>, %[[TO:[^ ,:]+]]: !llvm.ptr<3>, %[[SOME:[^ ,:]+]]: i32
// CHECK: %[[TARGET:.+]] = llvm.addrspacecast %[[TO]] : !llvm.ptr<3> to !llvm.ptr
// CHECK: %[[SOURCE:.+]] = llvm.addrspacecast %[[FROM]] : !llvm.ptr<1> to !llvm.ptr
// CHECK: %[[PLACE:.+]] = llvm.mlir.addressof @hfta_emulated_begin_copy
// CHECK: %[[BEGIN:.+]] = llvm.load %[[PLACE]]
// CHECK: llvm.call %[[BEGIN]](%[[TARGET]], %[[SOURCE]], %[[SOME]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK: %[[ALL:.+]] = llvm.mlir.constant(16 : i{{.+}}) : i32
// CHECK: llvm.call %{{.+}}(%{{.+}}, %{{.+}}, %[[ALL]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK: llvm.mlir.addressof @hfta_emulated_commit_copies
// CHECK: llvm.call %{{.+}}() : !llvm.ptr, () -> ()
// CHECK: %[[LEFT:.+]] = llvm.mlir.constant(2 : i{{.+}}) : i32
// CHECK: llvm.mlir.addressof @hfta_emulated_wait_for_copies
// CHECK: llvm.call %{{.+}}(%[[LEFT]]) : !llvm.ptr, (i32) -> ()
// CHECK: llvm.func @copies$block(
llvm.func @copies(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>, %some: i32) attributes {hfta_gpu.entry} {
  hfta_gpu.begin_copy %to from %from count %some
  hfta_gpu.begin_copy %to from %from
  hfta_gpu.commit_copies
  hfta_gpu.wait_for_copies but 2
  llvm.return
}

// -----

// A warp group's products begin with its threads' sums, and get the addresses
// of both shared operands; the rows' operand is stored row by row, the columns'
// one with all columns of a term together.
// CHECK-LABEL: llvm.func internal @multiplies_shared(
// CHECK-SAME: %[[LHS:[^ ,:]+]]: i64, %[[RHS:[^ ,:]+]]: i64
// CHECK: %[[SUMS:.+]] = llvm.alloca %{{.+}} x !llvm.struct<(f32, f32, f32, f32)>
// CHECK: llvm.mlir.addressof @hfta_emulated_fence
// CHECK: llvm.call %{{.+}}() : !llvm.ptr, () -> ()
// CHECK-NOT: hfta_gpu
// CHECK: llvm.store %{{.+}}, %[[SUMS]]
// CHECK: %[[SHARED:.+]] = llvm.mlir.addressof @hfta_emulated_shared : !llvm.ptr<3>
// CHECK: %[[FACTORS:.+]] = llvm.mlir.constant(0 : i{{.+}}) : i32
// CHECK: %[[COLUMNS:.+]] = llvm.mlir.constant(8 : i{{.+}}) : i32
// CHECK: %[[TRANSPOSED:.+]] = llvm.mlir.constant(2 : i{{.+}}) : i32
// CHECK: %[[MEMORY:.+]] = llvm.addrspacecast %[[SHARED]] : !llvm.ptr<3> to !llvm.ptr
// CHECK: %[[PLACE:.+]] = llvm.mlir.addressof @hfta_emulated_multiply_shared
// CHECK: %[[MULTIPLY:.+]] = llvm.load %[[PLACE]]
// CHECK: llvm.call %[[MULTIPLY]](%[[FACTORS]], %[[COLUMNS]], %[[TRANSPOSED]], %[[MEMORY]], %[[LHS]], %[[RHS]], %[[SUMS]])
// CHECK: llvm.mlir.addressof @hfta_emulated_wait_for_products
// CHECK: %[[KNOWN:.+]] = llvm.call %{{.+}}() : !llvm.ptr, () -> !llvm.ptr
// CHECK: llvm.load %[[KNOWN]] : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: llvm.func @multiplies_shared$block(
llvm.func @multiplies_shared(%lhs: i64, %rhs: i64, %x: !llvm.ptr) attributes {hfta_gpu.entry} {
  %0 = llvm.load %x : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
  hfta_gpu.publish_stores
  hfta_gpu.begin_products
  %1 = hfta_gpu.multiply_shared bf16 %lhs, %rhs, %0 rhs_transposed : !llvm.struct<(f32, f32, f32, f32)>
  hfta_gpu.commit_products
  hfta_gpu.wait_for_product_groups but 1
  %2 = hfta_gpu.wait_for_products %1 : !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %2, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
  llvm.return
}

// -----

// Threads wait at a barrier in memory for each other and for boxes. The driver
// gets five coordinates, whatever the number of a box's dimensions, and the
// address of the box's own map.
// CHECK-LABEL: llvm.func internal @boxes(
// CHECK-SAME: %[[TO:[^ ,:]+]]: !llvm.ptr<3>, %[[BARRIER:[^ ,:]+]]: !llvm.ptr<3>, %[[I:[^ ,:]+]]: i32, %[[MAPS:[^ ,:]+]]: !llvm.ptr)
// CHECK: llvm.mlir.addressof @hfta_emulated_initialise_barrier
// CHECK: llvm.mlir.addressof @hfta_emulated_numbered_barrier
// CHECK: llvm.mlir.addressof @hfta_emulated_arrive_expecting
// CHECK: %[[MAP:.+]] = llvm.getelementptr %[[MAPS]][128]
// CHECK: %[[DIMENSIONS:.+]] = llvm.mlir.constant(2 : i{{.+}}) : i32
// CHECK: %[[NONE:.+]] = llvm.mlir.constant(0 : i{{.+}}) : i32
// CHECK: llvm.mlir.addressof @hfta_emulated_begin_bulk_copy
// CHECK: llvm.call %{{.+}}(%{{.+}}, %[[MAP]], %{{.+}}, %[[DIMENSIONS]], %[[I]], %[[I]], %[[NONE]], %{{.+}}, %{{.+}})
// CHECK: llvm.mlir.addressof @hfta_emulated_wait_for_phase
// CHECK: llvm.mlir.addressof @hfta_emulated_arrive
// CHECK: llvm.func @boxes$block(
llvm.func @boxes(%to: !llvm.ptr<3>, %barrier: !llvm.ptr<3>, %i: i32, %maps: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<320 x i8>}) attributes {hfta.map_count = 2 : i32, hfta_gpu.entry} {
  hfta_gpu.init_mbarrier %barrier arrivals 1
  hfta_gpu.publish_mbarriers
  hfta_gpu.barrier number 1 threads 64
  hfta_gpu.arrive_expecting %barrier bytes 1024
  hfta_gpu.begin_box_copy %to from %maps map 1 at (%i, %i) counts %barrier
  hfta_gpu.wait_for_phase %barrier parity %i
  hfta_gpu.arrive %barrier
  llvm.return
}

// -----

llvm.func @k(%x: !llvm.ptr) attributes {hfta_gpu.entry} {
  %memory = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf32>
  // expected-error @+1 {{isn't emulated}}
  %0 = hfta_gpu.address %memory : memref<4xf32> -> !llvm.ptr
  llvm.return
}
