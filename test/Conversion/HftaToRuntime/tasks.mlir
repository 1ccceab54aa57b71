// RUN: hfta-opt %s -split-input-file -convert-hfta-to-runtime -verify-diagnostics | FileCheck %s

// A task is a table of launches: each has a kernel's entry point, name, operands and
// their number, whether it runs for each copy, whose own it is, whether it joins
// others, items, lanes and scratch. Schedules are tables of commands. Scalars'
// segments start from the variables' initial values, each copy's in its place.

// CHECK-NOT: {{hfta.(variable|task|schedule) @}}
// CHECK: llvm.mlir.global internal constant @bindings
// CHECK-SAME: !llvm.array<2 x struct<(i32, i32, i64, i64, i64, i32, i32)>>
// CHECK: llvm.mlir.global internal constant @places(dense<[-1, 0]> : tensor<2xi32>)
// CHECK: llvm.mlir.global internal constant @launches
// CHECK-SAME: !llvm.array<5 x struct<(ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32, i64, i64, i64, i32, i32, ptr)>>
// CHECK: llvm.mlir.addressof @"kernel/copy.0/entry"
// CHECK: llvm.mlir.constant(3 : i64)
// CHECK: llvm.mlir.global internal constant @tasks
// CHECK-SAME: !llvm.array<1 x struct<(ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)>>
// CHECK: llvm.mlir.global internal constant @commands
// CHECK-SAME: !llvm.array<7 x struct<(i32, i32, i32, i32, i32, i32, struct<(i32, i32, i64, i64)>, struct<(i32, i32, i64, i64)>, i64, struct<(i32, i32, i32, i32)>, struct<(i32, i32, i32, i32)>)>>
// CHECK: llvm.mlir.global internal constant @schedules
// CHECK: llvm.mlir.global internal constant @image
// CHECK: llvm.mlir.global external constant @hfta_program
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.items = 1 : i64, hfta.lanes = 3 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  llvm.func @"kernel/copy.0/entry"(!llvm.ptr, i64, !llvm.ptr)
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {joins, per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8, 1>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {hfta.reads_copies, per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8, 1>, #hfta.binding<1, 0, 8, 1>] inputs 1 written [1] {copy = 1 : i64}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {only = array<i64: 1>, per_copy}
  }
  hfta.schedule @infer keeps [1] {
    hfta.transfer 16 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0>
    hfta.fill 16 at #hfta.place<segment, 1, 0> {queue = 1 : i64}
    hfta.record 0 {queue = 1 : i64}
    hfta.await 0
    hfta.repeat micro_batches {
      hfta.every "period" {
        hfta.run @"task/infer"
      }
    }
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  func.func private @"kernel/copy.0"(tensor<f64>) -> tensor<f64>
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    // expected-error @+1 {{kernel @"kernel/copy.0" isn't lowered; run the kernel lowering first}}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1]
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.items = 1 : i64, hfta.operand_bytes = array<i64: 8>, hfta.scratch_bytes = 0 : i64} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    // expected-error @+1 {{kernel @"kernel/copy.0" has 1 operands, the launch binds 2}}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1]
  }
}

// -----

// expected-error @+1 {{module has no 'hfta.segments'; run hfta-plan-memory first}}
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false}} {
}

// -----

module attributes {hfta.job = {name = "net", training = false},
    hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  // expected-error @+1 {{programs don't store elements of type 'i4'}}
  hfta.variable @a {location = #hfta.binding<0, 0, 0>, role = #hfta.role<scalar>} : tensor<2xi4>
}
