// RUN: hfta-opt %s -split-input-file -verify-diagnostics -convert-gpu-to-nvvm | FileCheck %s -enable-var-scope

// An entry point, and where a thread is.
// CHECK-LABEL: llvm.func @entry(
// CHECK-SAME: {llvm.align = 64 : i64, llvm.byval = !llvm.array<320 x i8>, nvvm.grid_constant}) attributes {hfta.map_count = 2 : i32, nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 2 : i32}
llvm.func @entry(%x: !llvm.ptr, %maps: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<320 x i8>}) attributes {hfta.map_count = 2 : i32, hfta_gpu.blocks_at_once = 2 : i32, hfta_gpu.entry, hfta_gpu.threads = 256 : i32} {
  // CHECK: nvvm.read.ptx.sreg.tid.x
  %0 = hfta_gpu.position thread
  // CHECK: nvvm.read.ptx.sreg.ctaid.x
  %1 = hfta_gpu.position block
  // CHECK: nvvm.read.ptx.sreg.ntid.x
  %2 = hfta_gpu.position block_threads
  // CHECK: nvvm.read.ptx.sreg.ctaid.z
  %3 = hfta_gpu.position copy
  // CHECK: nvvm.barrier0
  hfta_gpu.barrier
  // CHECK-DAG: %[[NUMBER:.+]] = llvm.mlir.constant(1 : {{.+}}) : i32
  // CHECK-DAG: %[[THREADS:.+]] = llvm.mlir.constant(128 : {{.+}}) : i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%[[NUMBER]], %[[THREADS]])
  hfta_gpu.barrier number 1 threads 128
  llvm.return
}

// -----

// CHECK-LABEL: llvm.func internal @copies(
// CHECK-SAME: %[[FROM:[^ ,:]+]]: !llvm.ptr<1>, %[[TO:[^ ,:]+]]: !llvm.ptr<3>, %[[SOME:[^ ,:]+]]: i32
llvm.func internal @copies(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>, %some: i32) {
  // CHECK: nvvm.cp.async.shared.global %[[TO]], %[[FROM]], 16, cache = cg, %[[SOME]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
  hfta_gpu.begin_copy %to from %from count %some
  // CHECK: nvvm.cp.async.shared.global %[[TO]], %[[FROM]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  hfta_gpu.begin_copy %to from %from
  // CHECK: nvvm.cp.async.commit.group
  hfta_gpu.commit_copies
  // CHECK: nvvm.cp.async.wait.group 2
  hfta_gpu.wait_for_copies but 2
  llvm.return
}

// -----

// Words of two f16 are vectors to the instruction, other words are integers.
// CHECK-LABEL: llvm.func internal @products(
// CHECK-SAME: %[[ROW:[^ ,:]+]]: !llvm.ptr<3>, %[[SUM:[^ ,:]+]]: f32
llvm.func internal @products(%row: !llvm.ptr<3>, %sum: f32, %x: !llvm.ptr) {
  // CHECK: %[[LHS:.+]] = nvvm.ldmatrix %[[ROW]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
  // CHECK: %[[A:.+]] = llvm.extractvalue %[[LHS]][0]
  %0:4 = hfta_gpu.load_matrices %row transposed : i32, i32, i32, i32
  // CHECK: nvvm.ldmatrix %[[ROW]] {{.*}}layout = #nvvm.mma_layout<row>, num = 1 : i32
  %1 = hfta_gpu.load_matrices %row : i32
  // CHECK: nvvm.mma.sync A[%[[A]], {{.*}}] B[{{.*}}] C[%[[SUM]], %[[SUM]], %[[SUM]], %[[SUM]]] {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
  %2:4 = hfta_gpu.multiply bf16 (%0#0, %0#1, %0#2, %0#3) (%1, %1) (%sum, %sum, %sum, %sum)
  // CHECK: %[[PAIR:.+]] = llvm.bitcast %[[A]] : i32 to vector<2xf16>
  // CHECK: nvvm.mma.sync A[%[[PAIR]], {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>{{.*}} : (vector<2xf16>, vector<2xf16>, f32)
  %3:4 = hfta_gpu.multiply f16 (%0#0, %0#1, %0#2, %0#3) (%1, %1) (%2#0, %2#1, %2#2, %2#3)
  // CHECK: %[[LAST:.+]] = nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
  // CHECK: %[[THIRD:.+]] = llvm.extractvalue %[[LAST]][2]
  // CHECK: llvm.store %[[THIRD]]
  %4:4 = hfta_gpu.multiply tf32 (%0#0, %0#1, %0#2, %0#3) (%1, %1) (%3#0, %3#1, %3#2, %3#3)
  llvm.store %4#2, %x : f32, !llvm.ptr
  llvm.return
}

// -----

// The sums go through the wait.
// CHECK-LABEL: llvm.func internal @group_products(
// CHECK-SAME: %[[LHS:[^ ,:]+]]: i64, %[[RHS:[^ ,:]+]]: i64, %[[SUMS:[^ ,:]+]]: !llvm.struct
llvm.func internal @group_products(%lhs: i64, %rhs: i64, %sums: !llvm.struct<(f32, f32, f32, f32)>, %x: !llvm.ptr) {
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  hfta_gpu.publish_stores
  // CHECK: nvvm.wgmma.fence.aligned
  hfta_gpu.begin_products
  // CHECK: %[[ONE:.+]] = nvvm.wgmma.mma_async %[[LHS]], %[[RHS]], %[[SUMS]], <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
  %0 = hfta_gpu.multiply_shared bf16 %lhs, %rhs, %sums : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: %[[TWO:.+]] = nvvm.wgmma.mma_async %[[LHS]], %[[RHS]], %[[ONE]], <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
  %1 = hfta_gpu.multiply_shared f16 %lhs, %rhs, %0 lhs_transposed rhs_transposed : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  hfta_gpu.commit_products
  // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
  hfta_gpu.wait_for_product_groups but 1
  // CHECK: %[[FIRST:.+]] = llvm.extractvalue %[[TWO]][0]
  // CHECK: %[[KNOWN:.+]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[FIRST]],
  // CHECK: llvm.store %[[KNOWN]]
  %2 = hfta_gpu.wait_for_products %1 : !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %2, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
  llvm.return
}

// -----

// CHECK-LABEL: llvm.func internal @boxes(
// CHECK-SAME: %[[BARRIER:[^ ,:]+]]: !llvm.ptr<3>, %[[TO:[^ ,:]+]]: !llvm.ptr<3>, %[[MAPS:[^ ,:]+]]: !llvm.ptr, %[[I:[^ ,:]+]]: i32
llvm.func internal @boxes(%barrier: !llvm.ptr<3>, %to: !llvm.ptr<3>, %maps: !llvm.ptr, %i: i32) {
  // CHECK: %[[ARRIVALS:.+]] = llvm.mlir.constant(8 : {{.+}}) : i32
  // CHECK: nvvm.mbarrier.init %[[BARRIER]], %[[ARRIVALS]]
  hfta_gpu.init_mbarrier %barrier arrivals 8
  // CHECK: nvvm.fence.mbarrier.init
  hfta_gpu.publish_mbarriers
  // CHECK: nvvm.mbarrier.arrive %[[BARRIER]]
  hfta_gpu.arrive %barrier
  // CHECK: %[[BYTES:.+]] = llvm.mlir.constant(16384 : {{.+}}) : i32
  // CHECK: nvvm.mbarrier.arrive.expect_tx %[[BARRIER]], %[[BYTES]]
  hfta_gpu.arrive_expecting %barrier bytes 16384
  // CHECK: %[[CLUSTER:.+]] = llvm.addrspacecast %[[TO]] : !llvm.ptr<3> to !llvm.ptr<7>
  // CHECK: %[[MAP:.+]] = llvm.getelementptr %[[MAPS]][128]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[CLUSTER]], %[[MAP]], %[[BARRIER]], box[%[[I]], %[[I]]]
  hfta_gpu.begin_box_copy %to from %maps map 1 at (%i, %i) counts %barrier
  // CHECK: nvvm.mbarrier.try_wait.parity %[[BARRIER]], %[[I]]
  hfta_gpu.wait_for_phase %barrier parity %i
  llvm.return
}

// -----

llvm.func @k(%x: !llvm.ptr) attributes {hfta_gpu.entry} {
  %memory = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf32>
  // expected-error @+1 {{isn't known for NVIDIA's GPUs}}
  %0 = hfta_gpu.address %memory : memref<4xf32> -> !llvm.ptr
  llvm.return
}
