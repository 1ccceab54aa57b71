// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected an attribute of the dialect, got 'hfta_gpu.blocks'}}
llvm.func @f() attributes {hfta_gpu.blocks = 1 : i32}

// -----

// expected-error @+1 {{'hfta_gpu.entry' belongs on a function}}
module attributes {hfta_gpu.entry} {
}

// -----

// expected-error @+1 {{expected 'hfta_gpu.entry' to be a unit, got 1 : i32}}
llvm.func @f() attributes {hfta_gpu.entry = 1 : i32}

// -----

// expected-error @+1 {{expected 'hfta_gpu.threads' to be an i32 from 1 to 1024, got 2048 : i32}}
llvm.func @f() attributes {hfta_gpu.threads = 2048 : i32}

// -----

// expected-error @+1 {{expected 'hfta_gpu.blocks_at_once' to be an i32 from 1 to 32, got 2}}
llvm.func @f() attributes {hfta_gpu.blocks_at_once = 2}

// -----

// hfta_gpu.address, C1.
func.func @f(%m: memref<8x8xi16, 3>, %i: index) {
  // expected-error @+1 {{has 1 indices, expected none or 2}}
  %0 = hfta_gpu.address %m[%i] : memref<8x8xi16, 3> -> !llvm.ptr<3>
  return
}

// -----

// hfta_gpu.address, C2.
func.func @f(%m: memref<8x8xi16, 3>) {
  // expected-error @+1 {{returns a pointer of address space 0 to memory of address space 3}}
  %0 = hfta_gpu.address %m : memref<8x8xi16, 3> -> !llvm.ptr
  return
}

// -----

// hfta_gpu.barrier, C1.
llvm.func @f() {
  // expected-error @+1 {{has number 16, expected 1 to 15}}
  hfta_gpu.barrier number 16 threads 128
  llvm.return
}

// -----

// hfta_gpu.barrier, C2.
llvm.func @f() {
  // expected-error @+1 {{is for 100 threads, expected whole warps of 32, at most 1024}}
  hfta_gpu.barrier number 1 threads 100
  llvm.return
}

// -----

// hfta_gpu.barrier, C3.
llvm.func @f() {
  // expected-error @+1 {{needs both 'number' and 'threads', or neither}}
  hfta_gpu.barrier number 1
  llvm.return
}

// -----

// hfta_gpu.wait_for_copies, C1.
llvm.func @f() {
  // expected-error @+1 {{waits for all groups but -1, expected 0 or more}}
  hfta_gpu.wait_for_copies but -1
  llvm.return
}

// -----

// hfta_gpu.load_matrices, C1.
llvm.func @f(%row: !llvm.ptr<3>) {
  // expected-error @+1 {{loads 3 matrices, expected 1, 2 or 4}}
  %0:3 = hfta_gpu.load_matrices %row : i32, i32, i32
  llvm.return
}

// -----

// hfta_gpu.multiply, C1.
llvm.func @f(%a: i32, %s: f32) {
  // expected-error @+1 {{has 4 and 4 words and 4 sums, expected 4 and 2 words and 4 sums}}
  %0:4 = hfta_gpu.multiply f16 (%a, %a, %a, %a) (%a, %a, %a, %a) (%s, %s, %s, %s)
  llvm.return
}

// -----

// hfta_gpu.multiply_shared, C1.
llvm.func @f(%lhs: i64, %rhs: i64, %sums: !llvm.struct<(f32, f32, f32, f64)>) {
  // expected-error @+1 {{expected sums in a struct of f32, got '!llvm.struct<(f32, f32, f32, f64)>'}}
  %0 = hfta_gpu.multiply_shared bf16 %lhs, %rhs, %sums : !llvm.struct<(f32, f32, f32, f64)>
  llvm.return
}

// -----

// hfta_gpu.multiply_shared, C1.
llvm.func @f(%lhs: i64, %rhs: i64, %sums: !llvm.struct<(f32, f32, f32)>) {
  // expected-error @+1 {{has sums of 6 columns, expected a multiple of 8, at most 256}}
  %0 = hfta_gpu.multiply_shared bf16 %lhs, %rhs, %sums : !llvm.struct<(f32, f32, f32)>
  llvm.return
}

// -----

// hfta_gpu.multiply_shared, C2.
llvm.func @f(%lhs: i64, %rhs: i64, %sums: !llvm.struct<(f32, f32, f32, f32)>) {
  // expected-error @+1 {{can't transpose a matrix of tf32}}
  %0 = hfta_gpu.multiply_shared tf32 %lhs, %rhs, %sums rhs_transposed : !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

// hfta_gpu.wait_for_product_groups, C1.
llvm.func @f() {
  // expected-error @+1 {{waits for all groups but -2, expected 0 or more}}
  hfta_gpu.wait_for_product_groups but -2
  llvm.return
}

// -----

// hfta_gpu.wait_for_products, C1.
llvm.func @f(%sums: !llvm.struct<()>) {
  // expected-error @+1 {{expected sums in a struct of f32, got '!llvm.struct<()>'}}
  %0 = hfta_gpu.wait_for_products %sums : !llvm.struct<()>
  llvm.return
}

// -----

// hfta_gpu.init_mbarrier, C1.
llvm.func @f(%barrier: !llvm.ptr<3>) {
  // expected-error @+1 {{expects 0 arrivals, expected 1 or more}}
  hfta_gpu.init_mbarrier %barrier arrivals 0
  llvm.return
}

// -----

// hfta_gpu.arrive_expecting, C1.
llvm.func @f(%barrier: !llvm.ptr<3>) {
  // expected-error @+1 {{expects 1048576 bytes, expected 1 to 1048575}}
  hfta_gpu.arrive_expecting %barrier bytes 1048576
  llvm.return
}

// -----

// hfta_gpu.begin_box_copy, C1.
llvm.func @f(%barrier: !llvm.ptr<3>, %maps: !llvm.ptr) {
  // expected-error @+1 {{has 0 coordinates, expected 1 to 5}}
  hfta_gpu.begin_box_copy %barrier from %maps map 0 at () counts %barrier
  llvm.return
}

// -----

// hfta_gpu.begin_box_copy, C2.
llvm.func @f(%barrier: !llvm.ptr<3>, %maps: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{names map -1, expected 0 or more}}
  hfta_gpu.begin_box_copy %barrier from %maps map -1 at (%i) counts %barrier
  llvm.return
}
