// RUN: hfta-opt %s -split-input-file -convert-hfta-to-linalg -canonicalize -cse | FileCheck %s -enable-var-scope

// Two strips of 64 rows, the last one first: of the latter's rows 28 have been
// computed in vain. Its tile left of the diagonal is a square; on the diagonal
// are pieces of 32 rows. The input is read where it lies, and each sum goes over
// all of its rows. The row of the ones is the last strip's.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[X:.*]]: tensor<300x100xf32>, %[[SUM:.*]]: tensor<1x5151xf32>
func.func @dense(%x: tensor<300x100xf32>, %sum: tensor<1x5151xf32>) -> tensor<1x5151xf32> {
  // CHECK-DAG: %[[MOST:.*]] = arith.constant 36 : index
  // CHECK: %[[ROWS:.*]] = tensor.expand_shape %[[X]]
  // CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(%{{.*}} = %[[SUM]]) -> (tensor<1x5151xf32>)
  // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c64 : index
  // CHECK: %[[BEGIN:.*]] = arith.minui %[[FIRST]], %[[MOST]] : index
  // CHECK: %[[HIDDEN:.*]] = arith.subi %[[FIRST]], %[[BEGIN]] : index
  // CHECK: tensor.extract_slice %[[ROWS]][0, %{{.*}}, 0, %[[BEGIN]]] [1, 1, 300, 64]
  // CHECK: scf.for %[[COLUMN:.*]] = %c0 to %[[FIRST]] step %c64
  // CHECK: tensor.extract_slice %[[ROWS]][0, %{{.*}}, 0, %[[COLUMN]]] [1, 1, 300, 64]
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
  // CHECK-SAME: outs(%{{.*}} : tensor<64x64xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[300], reads[(d0) -> (d0, 0)]>}
  // CHECK: scf.for %{{.*}} = %[[HIDDEN]] to %c64 step %c1
  // CHECK: math.fma
  // CHECK: outs(%{{.*}} : tensor<32x32xf32>) attrs = {hfta.sum_order
  // CHECK: outs(%{{.*}} : tensor<32x64xf32>) attrs = {hfta.sum_order
  // CHECK: iterator_types = ["reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<100xf32>)
  // CHECK: arith.addf
  // CHECK: hfta.parts = 1545300 : i64
  %0 = hfta.second_moment %x, %sum blocks [] columns [1] scale 0.5 {ones}
      : tensor<300x100xf32>, tensor<1x5151xf32>
  return %0 : tensor<1x5151xf32>
}

// -----

// Rows on both sides of the blocks: nothing is copied.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT: linalg.transpose
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0, 0] [6, 1, 5, 8]
// CHECK: hfta.sum_order<[6, 5]
func.func @heads(%x: tensor<6x2x5x8xf32>) -> tensor<2x36xf32> {
  %0 = hfta.second_moment %x blocks [1] columns [3] scale 1.0 : tensor<6x2x5x8xf32>
  return %0 : tensor<2x36xf32>
}

// -----

// An activation with channels last is read as it is stored.
// CHECK-LABEL: func.func @channels_last(
// CHECK-SAME: %[[X:.*]]: tensor<8x5x6x64xf32>
// CHECK-NOT: linalg.transpose
// CHECK: tensor.expand_shape
// CHECK-NOT: linalg.transpose
// CHECK: hfta.sum_order<[240]
func.func @channels_last(%x: tensor<8x5x6x64xf32>) -> tensor<1x2080xf32> {
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x5x6x64xf32>
  %1 = hfta.second_moment %0 blocks [] columns [1] scale 1.0 : tensor<8x64x5x6xf32>
  return %1 : tensor<1x2080xf32>
}

// -----

// Others are packed once.
// CHECK-LABEL: func.func @columns_first(
// CHECK: linalg.transpose
// CHECK-SAME: permutation = [0, 2, 3, 1]
// CHECK: hfta.sum_order<[240]
func.func @columns_first(%x: tensor<8x64x5x6xf32>) -> tensor<1x2080xf32> {
  %0 = hfta.second_moment %x blocks [] columns [1] scale 1.0 : tensor<8x64x5x6xf32>
  return %0 : tensor<1x2080xf32>
}

// -----

// Sums of no terms.
// CHECK-LABEL: func.func @no_rows(
// CHECK-NOT: scf.for
// CHECK: return
func.func @no_rows(%x: tensor<0x5xf32>, %sum: tensor<1x21xf32>) -> tensor<1x21xf32> {
  %0 = hfta.second_moment %x, %sum blocks [] columns [1] scale 1.0 {ones}
      : tensor<0x5xf32>, tensor<1x21xf32>
  return %0 : tensor<1x21xf32>
}
