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

// Operands in other layouts are packed once.
// CHECK-LABEL: func.func @columns_first(
// CHECK: linalg.transpose
// CHECK-SAME: permutation = [0, 2, 3, 1]
// CHECK: hfta.sum_order<[240]
func.func @columns_first(%x: tensor<8x64x5x6xf32>) -> tensor<1x2080xf32> {
  %0 = hfta.second_moment %x blocks [] columns [1] scale 1.0 : tensor<8x64x5x6xf32>
  return %0 : tensor<1x2080xf32>
}

// -----

// Sums without terms.
// CHECK-LABEL: func.func @no_rows(
// CHECK-NOT: scf.for
// CHECK: return
func.func @no_rows(%x: tensor<0x5xf32>, %sum: tensor<1x21xf32>) -> tensor<1x21xf32> {
  %0 = hfta.second_moment %x, %sum blocks [] columns [1] scale 1.0 {ones}
      : tensor<0x5xf32>, tensor<1x21xf32>
  return %0 : tensor<1x21xf32>
}

// -----

// Along each axis the first element, the last, and those between them are met by
// other taps: nine pieces. In each all distances have a sum that goes over its
// elements, of which those of pairs of taps are made. The elements are read as
// they are stored.
// CHECK-LABEL: func.func @patches(
// CHECK-SAME: %[[X:.*]]: tensor<8x5x6x16xf32>
// CHECK-NOT: linalg.transpose
// CHECK: tensor.pad %[[X]] low[0, 0, 2, 0] high[0, 2, 2, 0]
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<8x1x1x16xf32>, tensor<8x3x5x16xf32>) outs(%{{.*}} : tensor<16x3x5x16xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[8, 1, 1],
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<8x1x4x16xf32>, tensor<8x3x8x16xf32>) outs(%{{.*}} : tensor<16x3x5x16xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[8, 1, 4],
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<8x3x4x16xf32>, tensor<8x5x8x16xf32>) outs(%{{.*}} : tensor<16x3x5x16xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[8, 3, 4],
// CHECK: tensor.empty() : tensor<9x16x9x16xf32>
// CHECK-NOT: 8x3x5x144
func.func @patches(%x: tensor<8x5x6x16xf32>, %sum: tensor<1x10585xf32>) -> tensor<1x10585xf32> {
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x5x6x16xf32>
  %1 = hfta.patch_moment %0, %sum scale 1.0 {kernel = array<i64: 3, 3>,
      strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, ones}
      : tensor<8x16x5x6xf32>, tensor<1x10585xf32>
  return %1 : tensor<1x10585xf32>
}

// -----

// Few channels: vectors run along the last spatial axis, whose sums are added
// then.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: linalg.transpose
// CHECK: outs(%{{.*}} : tensor<1x3x5x1x24xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[8, 26],
// CHECK: hfta.sum_order<[24]
func.func @few_channels(%x: tensor<8x1x28x26xf32>) -> tensor<1x45xf32> {
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3, 3>,
      strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x1x28x26xf32>
  return %0 : tensor<1x45xf32>
}

// -----

// With strides each pair of taps has its sum. On the diagonal are those whose
// second tap isn't above the first one; left of it, all. Tiles of channels are
// parts.
// CHECK-LABEL: func.func @strided(
// CHECK: linalg.transpose
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c16
// CHECK: outs(%{{.*}} : tensor<3x3x16x3x3x16xf32>) attrs = {hfta.sum_order = #hfta.sum_order<[8, 4, 4],
// CHECK: outs(%{{.*}} : tensor<1x3x16x3x3x16xf32>)
// CHECK: outs(%{{.*}} : tensor<1x3x16x2x3x16xf32>)
// CHECK: outs(%{{.*}} : tensor<1x3x16x1x3x16xf32>)
// CHECK: hfta.parts
func.func @strided(%x: tensor<8x32x8x8xf32>) -> tensor<1x41616xf32> {
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3, 3>,
      strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x32x8x8xf32>
  return %0 : tensor<1x41616xf32>
}

// -----

// One tap: rows of channels.
// CHECK-LABEL: func.func @pointwise(
// CHECK-NOT: tensor.pad
// CHECK: hfta.sum_order<[240]
func.func @pointwise(%x: tensor<8x5x6x64xf32>) -> tensor<2x528xf32> {
  %0 = hfta.transpose %x by [0, 3, 1, 2] : tensor<8x5x6x64xf32>
  %1 = hfta.patch_moment %0 scale 1.0 {kernel = array<i64: 1, 1>,
      strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<8x64x5x6xf32>
  return %1 : tensor<2x528xf32>
}

// -----

// Strips of 16 rows: tiles below the diagonal are transposed to where they are
// above it, then rows are copied up to the diagonal.
// CHECK-LABEL: func.func @unpack(
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1
// CHECK: tensor.empty() : tensor<16x16xf32>
// CHECK: ins(%{{.*}} : tensor<16x16xf32>) outs(%{{.*}} : tensor<16x16xf32>)
// CHECK: scf.for %{{.*}} step %c16
// CHECK: tensor.extract_slice %{{.*}} [1, 16] [1, 1] : tensor<2x820xf32> to tensor<16xf32>
// CHECK: hfta.parts = 12800 : i64
func.func @unpack(%p: tensor<2x820xf32>) -> tensor<2x40x40xf32> {
  %0 = hfta.unpack_symmetric %p : tensor<2x820xf32>
  return %0 : tensor<2x40x40xf32>
}
