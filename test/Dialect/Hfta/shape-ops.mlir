// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @reshape(
func.func @reshape(%x: tensor<4x3xf32, #hfta.copies<2>>) -> tensor<2x6xf32, #hfta.copies<2>> {
  // CHECK: hfta.reshape %{{.*}} to [2, 6] : tensor<4x3xf32, #hfta.copies<2>>
  %0 = hfta.reshape %x to [2, 6] : tensor<4x3xf32, #hfta.copies<2>>
  return %0 : tensor<2x6xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @reshape_to_scalar(
func.func @reshape_to_scalar(%x: tensor<1x1xf32>) -> tensor<f32> {
  // CHECK: hfta.reshape %{{.*}} to [] : tensor<1x1xf32>
  %0 = hfta.reshape %x to [] : tensor<1x1xf32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<4x3x2xi64>) -> tensor<2x4x3xi64> {
  // CHECK: hfta.transpose %{{.*}} by [2, 0, 1] : tensor<4x3x2xi64>
  %0 = hfta.transpose %x by [2, 0, 1] : tensor<4x3x2xi64>
  return %0 : tensor<2x4x3xi64>
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%x: tensor<1x3xf32>, %s: tensor<f32>) -> (tensor<4x5x3xf32>, tensor<2xf32>) {
  // CHECK: hfta.broadcast %{{.*}} to [4, 5, 3] along [1, 2] : tensor<1x3xf32>
  %0 = hfta.broadcast %x to [4, 5, 3] along [1, 2] : tensor<1x3xf32>
  // CHECK: hfta.broadcast %{{.*}} to [2] along [] : tensor<f32>
  %1 = hfta.broadcast %s to [2] along [] : tensor<f32>
  return %0, %1 : tensor<4x5x3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%x: tensor<6x7xf32>) -> tensor<3x4xf32> {
  // CHECK: hfta.slice %{{.*}} from [1, 6] size [3, 4] stride [2, -2] : tensor<6x7xf32>
  %0 = hfta.slice %x from [1, 6] size [3, 4] stride [2, -2] : tensor<6x7xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%x: tensor<3x4xf32>) -> tensor<6x12xf32> {
  // CHECK: hfta.pad %{{.*}} low [1, 0] high [0, 2] interior [1, 2] with 1.500000e+00 : f32 : tensor<3x4xf32>
  %0 = hfta.pad %x low [1, 0] high [0, 2] interior [1, 2] with 1.5 : f32 : tensor<3x4xf32>
  return %0 : tensor<6x12xf32>
}

// CHECK-LABEL: func.func @concat(
func.func @concat(%x: tensor<3x4xf32>, %y: tensor<3x1xf32, #hfta.copies<2>>) -> tensor<3x5xf32, #hfta.copies<2>> {
  // CHECK: hfta.concat %{{.*}}, %{{.*}} along 1 : tensor<3x4xf32>, tensor<3x1xf32, #hfta.copies<2>>
  %0 = hfta.concat %x, %y along 1 : tensor<3x4xf32>, tensor<3x1xf32, #hfta.copies<2>>
  return %0 : tensor<3x5xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @iota(
func.func @iota() -> tensor<4x3xi64> {
  // CHECK: hfta.iota [4, 3] along 1 : i64
  %0 = hfta.iota [4, 3] along 1 : i64
  return %0 : tensor<4x3xi64>
}

// CHECK-LABEL: func.func @cumulative_sum(
func.func @cumulative_sum(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: hfta.cumulative_sum %{{.*}} along 1 : tensor<4x3xf32>
  %0 = hfta.cumulative_sum %x along 1 : tensor<4x3xf32>
  // CHECK: hfta.cumulative_sum %{{.*}} along 0 {exclusive, falling, reverse} : tensor<4x3xf32>
  %1 = hfta.cumulative_sum %0 along 0 {exclusive, falling, reverse} : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @reduce(
func.func @reduce(%x: tensor<4x3x2xf32>) -> (tensor<3xf32>, tensor<f32>) {
  // CHECK: hfta.reduce sum %{{.*}} over [0, 2] {accumulate = f64} : tensor<4x3x2xf32>
  %0 = hfta.reduce sum %x over [0, 2] {accumulate = f64} : tensor<4x3x2xf32>
  // CHECK: hfta.reduce max %{{.*}} over [1] : tensor<4x3x2xf32>
  %1 = hfta.reduce max %x over [1] : tensor<4x3x2xf32>
  // CHECK: hfta.reduce min %{{.*}} over [1] : tensor<4x3x2xf32>
  %2 = hfta.reduce min %x over [1] : tensor<4x3x2xf32>
  // CHECK: hfta.reduce product %{{.*}} over [0, 1, 2] : tensor<4x3x2xf32>
  %3 = hfta.reduce product %x over [0, 1, 2] : tensor<4x3x2xf32>
  return %0, %3 : tensor<3xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @gather(
func.func @gather(%x: tensor<6x4x3xf32, #hfta.copies<2>>, %i: tensor<2x5xi64>) -> tensor<6x2x5x3xf32, #hfta.copies<2>> {
  // CHECK: hfta.gather %{{.*}}[%{{.*}}] along 1 : tensor<6x4x3xf32, #hfta.copies<2>>, tensor<2x5xi64>
  %0 = hfta.gather %x[%i] along 1 : tensor<6x4x3xf32, #hfta.copies<2>>, tensor<2x5xi64>
  return %0 : tensor<6x2x5x3xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @gather_one(
func.func @gather_one(%x: tensor<6x4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // CHECK: hfta.gather %{{.*}}[%{{.*}}] along 0 : tensor<6x4xf32>, tensor<i32>
  %0 = hfta.gather %x[%i] along 0 : tensor<6x4xf32>, tensor<i32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatter_add(
func.func @scatter_add(%g: tensor<6x2x5x3xf32>, %i: tensor<2x5xi64>) -> tensor<6x4x3xf32> {
  // CHECK: hfta.scatter_add %{{.*}} at %{{.*}} along 1 size 4 : tensor<6x2x5x3xf32>, tensor<2x5xi64>
  %0 = hfta.scatter_add %g at %i along 1 size 4 : tensor<6x2x5x3xf32>, tensor<2x5xi64>
  return %0 : tensor<6x4x3xf32>
}

// CHECK-LABEL: func.func @scatter_reduce(
func.func @scatter_reduce(%u: tensor<6x2x5x3xf32>, %i: tensor<2x5xi64>, %x: tensor<6x4x3xf32, #hfta.copies<2>>) -> tensor<6x4x3xf32, #hfta.copies<2>> {
  // CHECK: hfta.scatter_reduce max %{{.*}} at %{{.*}} into %{{.*}} along 1 : tensor<6x2x5x3xf32>, tensor<2x5xi64>, tensor<6x4x3xf32, #hfta.copies<2>>
  %0 = hfta.scatter_reduce max %u at %i into %x along 1 : tensor<6x2x5x3xf32>, tensor<2x5xi64>, tensor<6x4x3xf32, #hfta.copies<2>>
  return %0 : tensor<6x4x3xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @segment_sum(
func.func @segment_sum(%g: tensor<6x10x3xf32, #hfta.copies<2>>, %o: tensor<10xi32>, %s: tensor<5xi64>) -> tensor<6x4x3xf32, #hfta.copies<2>> {
  // CHECK: hfta.segment_sum %{{.*}} at %{{.*}} in %{{.*}} along 1 : tensor<6x10x3xf32, #hfta.copies<2>>, tensor<10xi32>, tensor<5xi64>
  %0 = hfta.segment_sum %g at %o in %s along 1 : tensor<6x10x3xf32, #hfta.copies<2>>, tensor<10xi32>, tensor<5xi64>
  return %0 : tensor<6x4x3xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @part_sums(
func.func @part_sums(%x: tensor<8x16x14x14xf32, #hfta.copies<2>>) -> (tensor<49x16xf32, #hfta.copies<2>>, tensor<98x16xf32, #hfta.copies<2>>) {
  // CHECK: hfta.part_sums %{{.*}} of 32 along 1 : tensor<8x16x14x14xf32, #hfta.copies<2>>
  %0 = hfta.part_sums %x of 32 along 1 : tensor<8x16x14x14xf32, #hfta.copies<2>>
  // CHECK: hfta.part_sums %{{.*}} of 16 along 1 {centered} : tensor<8x16x14x14xf32, #hfta.copies<2>>
  %1 = hfta.part_sums %x of 16 along 1 {centered} : tensor<8x16x14x14xf32, #hfta.copies<2>>
  return %0, %1 : tensor<49x16xf32, #hfta.copies<2>>, tensor<98x16xf32, #hfta.copies<2>>
}
