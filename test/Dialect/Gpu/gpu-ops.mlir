// RUN: hfta-opt %s | hfta-opt | FileCheck %s
// RUN: hfta-opt %s -mlir-print-op-generic | hfta-opt | FileCheck %s

// CHECK-LABEL: llvm.func @entry(
// CHECK-SAME: attributes {hfta_gpu.blocks_at_once = 2 : i32, hfta_gpu.entry, hfta_gpu.threads = 256 : i32}
llvm.func @entry() attributes {hfta_gpu.blocks_at_once = 2 : i32, hfta_gpu.entry, hfta_gpu.threads = 256 : i32} {
  // CHECK: hfta_gpu.position thread{{$}}
  %0 = hfta_gpu.position thread
  // CHECK: hfta_gpu.position block{{$}}
  %1 = hfta_gpu.position block
  // CHECK: hfta_gpu.position block_threads{{$}}
  %2 = hfta_gpu.position block_threads
  // CHECK: hfta_gpu.position copy{{$}}
  %3 = hfta_gpu.position copy
  // CHECK: hfta_gpu.barrier{{$}}
  hfta_gpu.barrier
  // CHECK: hfta_gpu.barrier number 1 threads 128{{$}}
  hfta_gpu.barrier number 1 threads 128
  llvm.return
}

// CHECK-LABEL: func.func @addresses(
// CHECK-SAME: %[[SHARED:[^ :]+]]: memref<8x8xi16, 3>, %[[GLOBAL:[^ :]+]]: memref<64xf32>, %[[I:[^ :]+]]: index
func.func @addresses(%shared: memref<8x8xi16, 3>, %global: memref<64xf32>, %i: index) {
  // CHECK: hfta_gpu.address %[[SHARED]][%[[I]], %[[I]]] : memref<8x8xi16, 3> -> !llvm.ptr<3>
  %0 = hfta_gpu.address %shared[%i, %i] : memref<8x8xi16, 3> -> !llvm.ptr<3>
  // CHECK: hfta_gpu.address %[[GLOBAL]] : memref<64xf32> -> !llvm.ptr{{$}}
  %1 = hfta_gpu.address %global : memref<64xf32> -> !llvm.ptr
  return
}

// CHECK-LABEL: llvm.func @copies(
// CHECK-SAME: %[[TO:[^ :]+]]: !llvm.ptr<3>, %[[FROM:[^ :]+]]: !llvm.ptr<1>, %[[COUNT:[^ :]+]]: i32
llvm.func @copies(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %count: i32) {
  // CHECK: hfta_gpu.begin_copy %[[TO]] from %[[FROM]]{{$}}
  hfta_gpu.begin_copy %to from %from
  // CHECK: hfta_gpu.begin_copy %[[TO]] from %[[FROM]] count %[[COUNT]]{{$}}
  hfta_gpu.begin_copy %to from %from count %count
  // CHECK: hfta_gpu.commit_copies{{$}}
  hfta_gpu.commit_copies
  // CHECK: hfta_gpu.wait_for_copies but 2{{$}}
  hfta_gpu.wait_for_copies but 2
  llvm.return
}

// CHECK-LABEL: llvm.func @products(
// CHECK-SAME: %[[ROW:[^ :]+]]: !llvm.ptr<3>, %[[SUM:[^ :]+]]: f32
llvm.func @products(%row: !llvm.ptr<3>, %sum: f32) {
  // CHECK: %[[LHS:.+]]:4 = hfta_gpu.load_matrices %[[ROW]] transposed : i32, i32, i32, i32
  %0:4 = hfta_gpu.load_matrices %row transposed : i32, i32, i32, i32
  // CHECK: %[[RHS:.+]]:2 = hfta_gpu.load_matrices %[[ROW]] : i32, i32
  %1:2 = hfta_gpu.load_matrices %row : i32, i32
  // CHECK: hfta_gpu.multiply bf16(%[[LHS]]#0, %[[LHS]]#1, %[[LHS]]#2, %[[LHS]]#3) (%[[RHS]]#0, %[[RHS]]#1) (%[[SUM]], %[[SUM]], %[[SUM]], %[[SUM]])
  %2:4 = hfta_gpu.multiply bf16 (%0#0, %0#1, %0#2, %0#3) (%1#0, %1#1) (%sum, %sum, %sum, %sum)
  llvm.return
}

// CHECK-LABEL: llvm.func @group_products(
// CHECK-SAME: %[[LHS:[^ :]+]]: i64, %[[RHS:[^ :]+]]: i64, %[[SUMS:[^ :]+]]: !llvm.struct<(f32, f32, f32, f32)>
llvm.func @group_products(%lhs: i64, %rhs: i64, %sums: !llvm.struct<(f32, f32, f32, f32)>) {
  // CHECK: hfta_gpu.publish_stores{{$}}
  hfta_gpu.publish_stores
  // CHECK: hfta_gpu.begin_products{{$}}
  hfta_gpu.begin_products
  // CHECK: %[[ONE:.+]] = hfta_gpu.multiply_shared tf32 %[[LHS]], %[[RHS]], %[[SUMS]] : !llvm.struct<(f32, f32, f32, f32)>
  %0 = hfta_gpu.multiply_shared tf32 %lhs, %rhs, %sums : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: %[[TWO:.+]] = hfta_gpu.multiply_shared f16 %[[LHS]], %[[RHS]], %[[ONE]] lhs_transposed rhs_transposed : !llvm.struct<(f32, f32, f32, f32)>
  %1 = hfta_gpu.multiply_shared f16 %lhs, %rhs, %0 lhs_transposed rhs_transposed : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: hfta_gpu.commit_products{{$}}
  hfta_gpu.commit_products
  // CHECK: hfta_gpu.wait_for_product_groups but 1{{$}}
  hfta_gpu.wait_for_product_groups but 1
  // CHECK: hfta_gpu.wait_for_products %[[TWO]] : !llvm.struct<(f32, f32, f32, f32)>
  %2 = hfta_gpu.wait_for_products %1 : !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// CHECK-LABEL: llvm.func @boxes(
// CHECK-SAME: %[[BARRIER:[^ :]+]]: !llvm.ptr<3>, %[[TO:[^ :]+]]: !llvm.ptr<3>, %[[MAPS:[^ :]+]]: !llvm.ptr, %[[I:[^ :]+]]: i32
llvm.func @boxes(%barrier: !llvm.ptr<3>, %to: !llvm.ptr<3>, %maps: !llvm.ptr, %i: i32) {
  // CHECK: hfta_gpu.init_mbarrier %[[BARRIER]] arrivals 8{{$}}
  hfta_gpu.init_mbarrier %barrier arrivals 8
  // CHECK: hfta_gpu.publish_mbarriers{{$}}
  hfta_gpu.publish_mbarriers
  // CHECK: hfta_gpu.arrive %[[BARRIER]]{{$}}
  hfta_gpu.arrive %barrier
  // CHECK: hfta_gpu.arrive_expecting %[[BARRIER]] bytes 16384{{$}}
  hfta_gpu.arrive_expecting %barrier bytes 16384
  // CHECK: hfta_gpu.begin_box_copy %[[TO]] from %[[MAPS]] map 1 at(%[[I]], %[[I]]) counts %[[BARRIER]]{{$}}
  hfta_gpu.begin_box_copy %to from %maps map 1 at (%i, %i) counts %barrier
  // CHECK: hfta_gpu.wait_for_phase %[[BARRIER]] parity %[[I]]{{$}}
  hfta_gpu.wait_for_phase %barrier parity %i
  llvm.return
}
