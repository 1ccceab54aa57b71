// RUN: hfta-opt %s -hfta-collect-gpu-code | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-collect-gpu-code,builtin.module(hfta-emulate-gpu))' | FileCheck %s -enable-var-scope --check-prefix=EMULATED

// Entry points with what they call and read, in the module's order; what the
// host has stays.
// CHECK: llvm.mlir.global internal constant @host
// CHECK-NOT: llvm.func
// CHECK: module @hfta.gpu
// CHECK: llvm.mlir.global internal constant @table
// CHECK: llvm.func internal @"kernel/k.0"
// CHECK: llvm.func @k$0
// CHECK-SAME: hfta_gpu.entry

// EMULATED: llvm.mlir.global external @hfta_emulated_registers() {{.*}} : !llvm.array<4 x i32>
// EMULATED: llvm.func internal @k$0(%{{[^ ,:]+}}: !llvm.ptr, %[[N:[^ ,:]+]]: i64)
// EMULATED-NOT: hfta_gpu
// EMULATED: %[[REGISTERS:.+]] = llvm.mlir.addressof @hfta_emulated_registers
// EMULATED: %[[PLACE:.+]] = llvm.getelementptr %[[REGISTERS]][2]
// EMULATED: llvm.load %[[PLACE]]
// EMULATED: llvm.func @k$0$call(%[[PARAMETERS:[^ ,:]+]]: !llvm.ptr)
// EMULATED: %[[FIRST:.+]] = llvm.getelementptr %[[PARAMETERS]][0]
// EMULATED: %[[ADDRESS:.+]] = llvm.load %[[FIRST]]
// EMULATED: %[[A:.+]] = llvm.load %[[ADDRESS]] : !llvm.ptr -> !llvm.ptr
// EMULATED: %[[B:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i64
// EMULATED: llvm.call @k$0(%[[A]], %[[B]])
llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
llvm.mlir.global internal constant @host(1 : i32) : i32
llvm.func internal @"kernel/k.0"(%x: !llvm.ptr) {
  %0 = llvm.mlir.addressof @table : !llvm.ptr
  llvm.return
}
llvm.func @k$0(%x: !llvm.ptr, %n: i64) attributes {hfta_gpu.entry, hfta_gpu.threads = 32 : i32} {
  %0 = hfta_gpu.position block
  llvm.call @"kernel/k.0"(%x) : (!llvm.ptr) -> ()
  llvm.return
}
