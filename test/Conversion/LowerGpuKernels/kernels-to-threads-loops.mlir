// RUN: hfta-opt %s -hfta-kernels-to-threads | FileCheck %s -enable-var-scope

// Each block's row is filled by a loop, then its last element is changed, which is
// read of what the loop has left of the tensor that all blocks are carried in.
// CHECK-LABEL: func.func private @rows_of_blocks(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x5xf32>, %[[Y:[^ ,:]+]]: memref<4x5xf32>
// CHECK-SAME: hfta.items = 20 : i64
// CHECK: %[[OLD:.+]] = memref.load %[[Y]]
// CHECK: scf.for
// CHECK-NOT: iter_args(%{{.+}} = %{{.+}}) -> (tensor
// CHECK: memref.store %{{.+}}, %[[Y]]
func.func private @rows_of_blocks(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  %blocks = scf.for %b = %c0 to %c4 step %c1 iter_args(%all = %y) -> (tensor<4x5xf32>) {
    %row = scf.for %i = %c0 to %c4 step %c1 iter_args(%own = %all) -> (tensor<4x5xf32>) {
      %from = tensor.extract %x[%b, %i] : tensor<4x5xf32>
      %to = tensor.extract %own[%b, %i] : tensor<4x5xf32>
      %sum = arith.addf %from, %to : f32
      %next = tensor.insert %sum into %own[%b, %i] : tensor<4x5xf32>
      scf.yield %next : tensor<4x5xf32>
    }
    %last = tensor.extract %row[%b, %c4] : tensor<4x5xf32>
    %twice = arith.mulf %last, %two : f32
    %changed = tensor.insert %twice into %row[%b, %c4] : tensor<4x5xf32>
    scf.yield %changed : tensor<4x5xf32>
  }
  return %blocks : tensor<4x5xf32>
}
