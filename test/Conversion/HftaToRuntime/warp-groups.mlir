// RUN: hfta-opt %s -split-input-file -convert-hfta-to-runtime -verify-diagnostics | FileCheck %s

// In images for warp groups a kernel may be launched otherwise: its threads, the memory that is
// asked for, and tensor maps, dimension by dimension.
// CHECK: llvm.mlir.global internal constant @map_dimensions
// CHECK-SAME: !llvm.array<2 x struct<(i64, i64, i32, i32)>>
// CHECK: llvm.mlir.constant(64 : i64)
// CHECK: llvm.mlir.constant(256 : i64)
// CHECK: llvm.mlir.constant(8589934592 : i64)
// CHECK: llvm.mlir.constant(15 : i32)
// CHECK: llvm.mlir.global internal constant @maps
// CHECK-SAME: !llvm.array<1 x struct<(i32, i32, i32, i32, ptr)>>
// CHECK: llvm.mlir.addressof @map_dimensions
// CHECK: llvm.mlir.global internal constant @warp_groups
// CHECK-SAME: !llvm.array<1 x struct<(ptr, i32, i32, i32, i32)>>
// CHECK: llvm.mlir.addressof @maps
// CHECK: llvm.mlir.constant(288 : i32)
// CHECK: llvm.mlir.constant(98368 : i32)
// CHECK: llvm.mlir.global internal constant @launches
// CHECK: llvm.mlir.addressof @warp_groups
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 98368 : i64, hfta.tensor_maps = [{argument = 1 : i64, element_bytes = 2 : i64, sizes = array<i64: 64, 256>, strides = array<i64: 2, 8589934592>, box = array<i64: 64, 15>, steps = array<i64: 1, 2>}]}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = "often"} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 98368 : i64}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 98368 : i64, hfta.tensor_maps = ["one"]}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 98368 : i64, hfta.tensor_maps = [{argument = 1 : i64, element_bytes = 2 : i64, sizes = array<i64: 64, 256>, strides = array<i64: 2, 8589934592>, box = array<i64: 64, 15>, steps = array<i64: 1>}]}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288.0, hfta.shared_bytes = 98368 : i64, hfta.tensor_maps = [{argument = 1 : i64, element_bytes = 2 : i64, sizes = array<i64: 64, 256>, strides = array<i64: 2, 8589934592>, box = array<i64: 64, 15>, steps = array<i64: 1, 2>}]}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}

// -----

module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    hyper_parameters = [{name = "period", values = array<f64: 1.0, 2.0>}], name = "net",
    training = false}, hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<output, -1, 64 bytes, 1 instances>]} {
  hfta.variable @rate {role = #hfta.role<scalar>, initial = dense<[0.5, 0.25]> : tensor<2xf64>, location = #hfta.binding<0, 0, 8>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.output/y" {purpose = #hfta.purpose<output "y">, role = #hfta.role<output>, location = #hfta.binding<1, 0, 8>} : tensor<f64, #hfta.copies<2>>
  // expected-error @+1 {{expected hfta.warp_group_launch to have hfta.block_threads, hfta.shared_bytes and hfta.tensor_maps, got}}
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.gpu_entry = "copy$0", hfta.block_threads = 256 : i64, hfta.items = 512 : i64, hfta.operand_bytes = array<i64: 8, 8>, hfta.scratch_bytes = 0 : i64, hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 98368 : i64, hfta.tensor_maps = [{argument = 1 : i64, element_bytes = 2 : i64, sizes = array<i64: 64, 256>, strides = array<i64: 2, 8589934592>, box = array<i64: 64, 8589934592>, steps = array<i64: 1, 2>}]}} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  hfta.task @"task/infer" part "infer" block -1 reads [0] writes [1] {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 8>, #hfta.binding<1, 0, 8>] inputs 1 written [1] {per_copy}
  }
}
