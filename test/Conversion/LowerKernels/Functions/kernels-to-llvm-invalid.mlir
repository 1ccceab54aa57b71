// RUN: hfta-opt %s -verify-diagnostics -convert-kernels-to-llvm

// Ops on memory must have become loops.
func.func private @k(%a: memref<8xf32>, %item: index, %scratch: memref<0xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64, hfta.scratch_bytes = 0 : i64} {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{failed to legalize operation 'linalg.fill' that was explicitly marked illegal}}
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  return
}
