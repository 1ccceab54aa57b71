// RUN: hfta-opt %s -split-input-file -convert-hfta-to-runtime -verify-diagnostics | FileCheck %s

// A task calls hfta_launch for one kernel after the other, once for neighbours
// that each copy can run by itself; the launch's table names a kernel's entry
// point, its work items and where its operands lie.
// Segments of scalars start from the variables' initial values, every copy's at
// its place.

// CHECK-NOT: hfta.variable
// CHECK: llvm.func @hfta_launch(!llvm.ptr, !llvm.ptr, i64)
// CHECK: llvm.func internal @"hfta_task/infer"(%[[CONTEXT:.*]]: !llvm.ptr)
// CHECK-NEXT: %[[INFO:.*]] = llvm.mlir.addressof @[[LAUNCH:launch.*]] : !llvm.ptr
// CHECK-NEXT: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-NEXT: llvm.call @hfta_launch(%[[CONTEXT]], %[[INFO]], %[[TWO]])
// CHECK-NEXT: llvm.mlir.addressof @[[ALONE:launch.*]] : !llvm.ptr
// CHECK-NEXT: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT: llvm.call @hfta_launch(%[[CONTEXT]], %{{.*}}, %[[ONE]])
// CHECK-NEXT: llvm.mlir.addressof @[[SHARED:launch.*]] : !llvm.ptr
// CHECK-NEXT: llvm.mlir.constant(1 : i64)
// CHECK-NEXT: llvm.call @hfta_launch
// CHECK-NEXT: llvm.return
// CHECK: llvm.mlir.global internal constant @bindings
// CHECK: llvm.mlir.global internal constant @[[LAUNCH]]
// CHECK: llvm.mlir.addressof @"kernel/copy.0/entry"
// CHECK: llvm.mlir.global internal constant @image
// CHECK: llvm.mlir.global external constant @hfta_program
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, hyper_parameters = [], metric = "", micro_batches = 1 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>, #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.items = 1 : i64, hfta.scratch_bytes = 0 : i64} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  llvm.func @"kernel/copy.0/entry"(!llvm.ptr, i64, !llvm.ptr)
  func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 8, 0>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {hfta.reads_copies, per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
    return
  }
}

// -----

module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, hyper_parameters = [], metric = "", micro_batches = 1 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = []} {
  func.func private @"kernel/copy.0"(tensor<f64>) -> tensor<f64>
  func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
    // expected-error @+1 {{kernel @"kernel/copy.0" isn't lowered; run the kernel lowering first}}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1]
    return
  }
}

// -----

// expected-error @+1 {{module has no 'hfta.segments'; run hfta-plan-memory first}}
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, hyper_parameters = [], metric = "", micro_batches = 1 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}} {
}

// -----

module attributes {hfta.job = {name = "net", training = false, fuse = true, optimizer = "", optimizer_flags = [], hyper_parameters = [], schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  // expected-error @+1 {{programs don't store elements of type 'i4'}}
  hfta.variable @a {location = #hfta.binding<0, 0, 0>, role = #hfta.role<scalar>} : tensor<2xi4>
}
