// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @contract(
func.func @contract(%x: tensor<64x784xf32>, %w: tensor<10x784xf32, #hfta.copies<2>>)
    -> tensor<64x10xf32, #hfta.copies<2>> {
  // CHECK: hfta.contract %{{.*}}, %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<64x784xf32>, tensor<10x784xf32, #hfta.copies<2>>
  %0 = hfta.contract %x, %w maps [#mk, #nk, #mn]
      : tensor<64x784xf32>, tensor<10x784xf32, #hfta.copies<2>>
  return %0 : tensor<64x10xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @contract_weight_gradient(
func.func @contract_weight_gradient(%x: tensor<784x64xf32>, %g: tensor<10x64xf32>) -> tensor<784x10xf32> {
  // CHECK: {accumulate = f64}
  %0 = hfta.contract %x, %g maps [#mk, #nk, #mn]
      {accumulate = f64}
      : tensor<784x64xf32>, tensor<10x64xf32>
  return %0 : tensor<784x10xf32>
}

// CHECK-LABEL: func.func @conv(
func.func @conv(%x: tensor<8x4x9x8xf32>, %w: tensor<6x2x3x3xf32>, %g: tensor<8x6x5x6xf32, #hfta.copies<2>>)
    -> (tensor<8x6x5x6xf32>, tensor<8x4x9x8xf32, #hfta.copies<2>>, tensor<6x2x3x3xf32, #hfta.copies<2>>) {
  // CHECK: hfta.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, padding = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : tensor<8x4x9x8xf32>, tensor<6x2x3x3xf32>
  %0 = hfta.conv %x, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 0, 1, 0>, groups = 2 : i64}
      : tensor<8x4x9x8xf32>, tensor<6x2x3x3xf32>
  // CHECK: hfta.conv_input_gradient %{{.*}}, %{{.*}} {{.*}} input_shape = array<i64: 8, 4, 9, 8>
  %1 = hfta.conv_input_gradient %g, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 0, 1, 0>, groups = 2 : i64, input_shape = array<i64: 8, 4, 9, 8>}
      : tensor<8x6x5x6xf32, #hfta.copies<2>>, tensor<6x2x3x3xf32>
  // CHECK: hfta.conv_weight_gradient %{{.*}}, %{{.*}} {{.*}} weight_shape = array<i64: 6, 2, 3, 3>
  %2 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>,
      padding = array<i64: 1, 0, 1, 0>, groups = 2 : i64, weight_shape = array<i64: 6, 2, 3, 3>}
      : tensor<8x4x9x8xf32>, tensor<8x6x5x6xf32, #hfta.copies<2>>
  return %0, %1, %2 : tensor<8x6x5x6xf32>, tensor<8x4x9x8xf32, #hfta.copies<2>>, tensor<6x2x3x3xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @max_pool(
func.func @max_pool(%x: tensor<2x3x7x6xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x4x5xi32>) {
  // CHECK: %[[V:.*]], %[[I:.*]] = hfta.max_pool %{{.*}} {{.*}} : tensor<2x3x7x6xf32>
  %v, %i = hfta.max_pool %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>,
      dilations = array<i64: 1, 2>, padding = array<i64: 1, 0, 1, 1>} : tensor<2x3x7x6xf32>
  // CHECK: hfta.max_pool_gradient %[[V]], %[[I]] {{.*}} : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi32>
  %g = hfta.max_pool_gradient %v, %i {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>,
      dilations = array<i64: 1, 2>, padding = array<i64: 1, 0, 1, 1>,
      input_shape = array<i64: 2, 3, 7, 6>} : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi32>
  return %g, %i : tensor<2x3x7x6xf32>, tensor<2x3x4x5xi32>
}

// CHECK-LABEL: func.func @average_pool(
func.func @average_pool(%x: tensor<2x3x7xf32, #hfta.copies<2>>) -> tensor<2x3x7xf32, #hfta.copies<2>> {
  // CHECK: hfta.average_pool %{{.*}} {ceil_padding = array<i64: 1>, dilations = array<i64: 1>, include_padding, kernel = array<i64: 3>, padding = array<i64: 1, 2>, strides = array<i64: 2>}
  %0 = hfta.average_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>,
      padding = array<i64: 1, 2>, ceil_padding = array<i64: 1>, include_padding}
      : tensor<2x3x7xf32, #hfta.copies<2>>
  // CHECK: hfta.average_pool_gradient %{{.*}} {{.*}} input_shape = array<i64: 2, 3, 7>
  %1 = hfta.average_pool_gradient %0 {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>,
      padding = array<i64: 1, 2>, ceil_padding = array<i64: 1>, include_padding,
      input_shape = array<i64: 2, 3, 7>} : tensor<2x3x4xf32, #hfta.copies<2>>
  return %1 : tensor<2x3x7xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @softmax(
func.func @softmax(%x: tensor<64x10xf32>) -> tensor<64x10xf32> {
  // CHECK: hfta.softmax %{{.*}} along 1 : tensor<64x10xf32>
  %0 = hfta.softmax %x along 1 : tensor<64x10xf32>
  // CHECK: hfta.log_softmax %{{.*}} along 0 : tensor<64x10xf32>
  %1:3 = hfta.log_softmax %0 along 0 : tensor<64x10xf32>
  return %1 : tensor<64x10xf32>
}

// CHECK-LABEL: func.func @batch_norm(
func.func @batch_norm(%x: tensor<8x4x5xf32>, %s: tensor<4xf32, #hfta.copies<2>>, %b: tensor<4xf32>,
    %m: tensor<4xf64>, %v: tensor<4xf64>) -> (tensor<8x4x5xf32, #hfta.copies<2>>, tensor<4xf64, #hfta.copies<2>>) {
  // CHECK: hfta.batch_norm %{{.*}} {epsilon = 1.000000e-05 : f64, momentum = 9.000000e-01 : f64, training, unbiased} : tensor<8x4x5xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf64>, tensor<4xf64>
  %0:5 = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training, unbiased}
      : tensor<8x4x5xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf64>, tensor<4xf64>
  // The batch's own statistics have the input's type.
  // CHECK: hfta.batch_norm %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {{{.*}}training} : tensor<8x4x5xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
  %1:5 = hfta.batch_norm %x, %s, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training}
      : tensor<8x4x5xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
  %2 = hfta.neg %1#2 : tensor<4xf32, #hfta.copies<2>>
  return %0#0, %0#1 : tensor<8x4x5xf32, #hfta.copies<2>>, tensor<4xf64, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @dropout(
func.func @dropout(%x: tensor<64x10xf32>, %rate: tensor<f32, #hfta.copies<2>>, %seed: tensor<i64, #hfta.copies<2>>,
    %step: tensor<i64>, %first: tensor<i64>) -> tensor<64x10xf32, #hfta.copies<2>> {
  // CHECK: %[[U:.*]] = hfta.random_uniform %{{.*}}, %{{.*}}, %{{.*}} [64, 10] stream 7 {per_sample} : f32, tensor<i64, #hfta.copies<2>>, tensor<i64>, tensor<i64>
  %u = hfta.random_uniform %seed, %step, %first [64, 10] stream 7 {per_sample}
      : f32, tensor<i64, #hfta.copies<2>>, tensor<i64>, tensor<i64>
  // CHECK: hfta.dropout %{{.*}}, %{{.*}}, %[[U]] {training} : tensor<64x10xf32>, tensor<f32, #hfta.copies<2>>, tensor<64x10xf32, #hfta.copies<2>>
  %0 = hfta.dropout %x, %rate, %u {training}
      : tensor<64x10xf32>, tensor<f32, #hfta.copies<2>>, tensor<64x10xf32, #hfta.copies<2>>
  return %0 : tensor<64x10xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @augmentation(
func.func @augmentation(%x: tensor<64x10xf32>, %seed: tensor<i64>, %steps: tensor<64xi64>,
    %samples: tensor<64xi64>) -> tensor<64x10xf32> {
  // CHECK: %[[U:.*]] = hfta.random_uniform %{{.*}}, %{{.*}}, %{{.*}} [64, 10] stream 7 {per_sample} : f32, tensor<i64>, tensor<64xi64>, tensor<64xi64>
  %u = hfta.random_uniform %seed, %steps, %samples [64, 10] stream 7 {per_sample}
      : f32, tensor<i64>, tensor<64xi64>, tensor<64xi64>
  // CHECK: hfta.by_mode %[[U]], %{{.*}} : tensor<64x10xf32>, tensor<64x10xf32>
  %0 = hfta.by_mode %u, %x : tensor<64x10xf32>, tensor<64x10xf32>
  return %0 : tensor<64x10xf32>
}

// CHECK-LABEL: func.func @updates(
func.func @updates(%p: tensor<4xf32, #hfta.copies<2>>, %g: tensor<4xf32, #hfta.copies<2>>,
    %h: tensor<f32, #hfta.copies<2>>, %step: tensor<i64>) {
  // CHECK: hfta.optimizer_update "sgd" given ["nesterov"] %{{.*}} :
  %0:2 = hfta.optimizer_update "sgd" given ["nesterov"] %p, %g, %p, %h, %h, %h
      : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>,
        tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>
  // CHECK: hfta.optimizer_update "adamw" given [] %{{.*}} :
  %1:3 = hfta.optimizer_update "adamw" given [] %p, %g, %p, %p, %h, %h, %h, %h, %h, %step
      : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>,
        tensor<4xf32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>,
        tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>, tensor<i64>
  return
}

// CHECK-LABEL: func.func @update_of_matrix(
func.func @update_of_matrix(%p: tensor<3x4xf32>, %rows: tensor<4xf32>, %h: tensor<f64>) {
  // CHECK: hfta.optimizer_update "normuon" given [] outputs [1] %{{.*}} :
  %0:3 = hfta.optimizer_update "normuon" given [] outputs [1] %p, %p, %p, %rows, %h, %h, %h, %h, %h
      : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>,
        tensor<f64>, tensor<f64>
  return
}

// Uses of parameters: what second-order methods find.
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @b {role = #hfta.role<parameter>, trained} : tensor<3xf32>

// CHECK-LABEL: func.func @layers(
func.func @layers(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>,
                  %a: tensor<8x4x9x8xf32>, %c: tensor<8x6x5x6xf32>, %k: tensor<6x2x3x3xf32>) {
  // CHECK: hfta.layer dense @w bias @b input %{{.*}} : tensor<8x5xf32> output_gradient %{{.*}} : tensor<8x3xf32> weight_gradient %{{.*}} : tensor<3x5xf32> loss_divisor terms 8 {bias_column, indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}]}
  hfta.layer dense @w bias @b input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32>
      weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
      {bias_column, indexing_maps = [#mk, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n, k)>]}
  // CHECK: hfta.layer convolution @w copy 3 input %{{.*}} loss_divisor undivided 8 {dilations = array<i64: 1, 1>, groups = 2 : i64, padding = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>}
  hfta.layer convolution @w copy 3 input %a : tensor<8x4x9x8xf32> output_gradient %c : tensor<8x6x5x6xf32>
      weight_gradient %k : tensor<6x2x3x3xf32> loss_divisor undivided 8
      {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 0, 1, 0>, groups = 2 : i64}
  // CHECK: hfta.layer other @b output_gradient %{{.*}} : tensor<8x3xf32> weight_gradient %{{.*}} : tensor<8x3xf32> loss_divisor weights 8
  hfta.layer other @b output_gradient %g : tensor<8x3xf32> weight_gradient %g : tensor<8x3xf32> loss_divisor weights 8
  return
}
