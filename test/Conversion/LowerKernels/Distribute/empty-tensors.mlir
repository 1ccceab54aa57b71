// Tensors without elements are neither cut into items nor without a pointer.
// RUN: hfta-opt %s -hfta-distribute-kernels | FileCheck %s
// RUN: hfta-opt %s -hfta-lower-kernels | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: memref<3x4x0xf32, strided<[1, 1, 1]>>
// CHECK-SAME: hfta.items = 1 : i64
// LLVM-LABEL: llvm.func internal @copy(
// LLVM-SAME: !llvm.ptr
// LLVM-SAME: !llvm.ptr
// LLVM-SAME: i64
func.func private @copy(%x: tensor<3x4x0xf32>) -> tensor<3x4x0xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  return %x : tensor<3x4x0xf32>
}

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>

// The sum of nothing.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: memref<3x0xf32, strided<[1, 1]>>
// CHECK-SAME: memref<3xf32>
// LLVM-LABEL: llvm.func internal @sum(
// LLVM: llvm.store
func.func private @sum(%x: tensor<3x0xf32>) -> tensor<3xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x0xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %b, %a : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
