// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$STRETCH:.*]] = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: func.func @reshape(
func.func @reshape(%x: tensor<64x1x28x28xf32>, %y: tensor<64x6x4xf32>) -> (tensor<64x784xf32>, tensor<64x4x6xf32>) {
  // CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2, 3]] : tensor<64x1x28x28xf32> into tensor<64x784xf32>
  %0 = hfta.reshape %x to [64, 784] : tensor<64x1x28x28xf32>
  // The leading axis stays whole.
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} : tensor<64x6x4xf32> into tensor<64x24xf32>
  // CHECK: tensor.expand_shape %[[FLAT]] {{.*}} : tensor<64x24xf32> into tensor<64x4x6xf32>
  %1 = hfta.reshape %y to [64, 4, 6] : tensor<64x6x4xf32>
  return %0, %1 : tensor<64x784xf32>, tensor<64x4x6xf32>
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$SWAP]], #[[$ID]]]
  %0 = hfta.transpose %x by [1, 0] : tensor<4x6xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%x: tensor<1x6xf32>) -> tensor<4x6xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$STRETCH]], #[[$ID]]]
  %0 = hfta.broadcast %x to [4, 6] along [0, 1] : tensor<1x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:.*]]: tensor<8x9xf32>
func.func @slice(%x: tensor<8x9xf32>) -> (tensor<2x4xf32>, tensor<2x9xf32>) {
  // CHECK: tensor.extract_slice %[[X]][1, 0] [2, 4] [3, 2]
  %0 = hfta.slice %x from [1, 0] size [2, 4] stride [3, 2] : tensor<8x9xf32>
  // CHECK: linalg.generic
  // CHECK: tensor.extract %[[X]]
  %1 = hfta.slice %x from [7, 0] size [2, 9] stride [-1, 1] : tensor<8x9xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x9xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[B:.*]]: tensor<4xi8>
func.func @pad(%x: tensor<4x6xf32>, %b: tensor<4xui8>) -> (tensor<7x6xf32>, tensor<9x7xf32>, tensor<5xui8>) {
  // CHECK: tensor.pad %[[X]] low[1, 0] high[2, 0]
  %0 = hfta.pad %x low [1, 0] high [2, 0] interior [0, 0] with 1.0 : f32 : tensor<4x6xf32>
  // CHECK: %[[FRAME:.*]] = linalg.fill
  // CHECK: tensor.insert_slice %[[X]] into %[[FRAME]][1, 0] [4, 6] [2, 1]
  %1 = hfta.pad %x low [1, 0] high [1, 1] interior [1, 0] with 0.0 : f32 : tensor<4x6xf32>
  // CHECK: arith.constant -1 : i8
  // CHECK: tensor.pad %[[B]]
  %2 = hfta.pad %b low [1] high [0] interior [0] with 255 : ui8 : tensor<4xui8>
  return %0, %1, %2 : tensor<7x6xf32>, tensor<9x7xf32>, tensor<5xui8>
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>, %[[Y:.*]]: tensor<4x3xf32>
func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x5xf32> {
  // CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0] [4, 2] [1, 1]
  // CHECK: tensor.insert_slice %[[Y]] into %[[FIRST]][0, 2] [4, 3] [1, 1]
  %0 = hfta.concat %x, %y along 1 : tensor<4x2xf32>, tensor<4x3xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @iota(
func.func @iota() -> tensor<4x6xf32> {
  // CHECK: %[[INDEX:.*]] = linalg.index 1
  // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[INDEX]] : index to i64
  // CHECK: arith.sitofp %[[NUMBER]] : i64 to f32
  %0 = hfta.iota [4, 6] along 1 : f32
  return %0 : tensor<4x6xf32>
}
