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
llvm.func @waits(%x: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.mlir.addressof @shared_0 : !llvm.ptr<3>
  %1 = llvm.load %x : !llvm.ptr -> f32
  llvm.store %1, %0 : f32, !llvm.ptr<3>
  nvvm.barrier0
  llvm.return
}
// Attributes about a kernel's registers have no effect here.
// CHECK-LABEL: llvm.func internal @alone(
// CHECK-NOT: nvvm
// CHECK: llvm.func @alone$call(
llvm.func @alone(%x: !llvm.ptr) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
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
llvm.func @multiplies(%x: !llvm.ptr, %word: i32) attributes {nvvm.kernel} {
  %0 = llvm.load %x : !llvm.ptr -> bf16
  %1 = llvm.fpext %0 : bf16 to f32
  %2 = nvvm.mma.sync A[%word, %word, %word, %word] B[%word, %word] C[%1, %1, %1, %1] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %3 = llvm.extractvalue %2[0] : !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %3, %x : f32, !llvm.ptr
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
llvm.func @reads(%x: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %1 = nvvm.ldmatrix %0 {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  %2 = llvm.extractvalue %1[1] : !llvm.struct<(i32, i32)>
  llvm.store %2, %x : i32, !llvm.ptr
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
llvm.func @copies(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>, %some: i32) attributes {nvvm.kernel} {
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %some : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 2
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
// CHECK-NOT: nvvm
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
llvm.func @multiplies_shared(%lhs: i64, %rhs: i64, %x: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.load %x : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.wgmma.fence.aligned
  %1 = nvvm.wgmma.mma_async %lhs, %rhs, %0, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<bf16>, <one>, <row>], B [<bf16>, <one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  nvvm.wgmma.commit.group.sync.aligned
  %2 = llvm.extractvalue %1[0] : !llvm.struct<(f32, f32, f32, f32)>
  %3 = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3" %2, %2, %2, %2 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %3, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
  llvm.return
}

// -----

llvm.func @overwrites(%lhs: i64, %rhs: i64, %x: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.load %x : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
  // expected-error @+1 {{isn't emulated}}
  %1 = nvvm.wgmma.mma_async %lhs, %rhs, %0, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, <zero>], A [<bf16>, <one>, <row>], B [<bf16>, <one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @copies_words(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>) attributes {nvvm.kernel} {
  // expected-error @+1 {{isn't emulated}}
  nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @reads_bytes(%row: !llvm.ptr<3>) attributes {nvvm.kernel} {
  // expected-error @+1 {{isn't emulated}}
  %0 = nvvm.ldmatrix %row {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  llvm.return
}

// -----

llvm.func @k(%x: !llvm.ptr, %id: i32) attributes {nvvm.kernel} {
  // expected-error @+1 {{isn't emulated}}
  nvvm.barrier id = %id
  llvm.return
}
