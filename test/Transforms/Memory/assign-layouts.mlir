// RUN: hfta-opt %s -hfta-form-kernels -hfta-assign-layouts | FileCheck %s -enable-var-scope

// Variables of tasks alone have channels last if convolutions or pooling use them.
// CHECK: hfta.variable @image {{.*}} : tensor<4x3x9x9xf32>
hfta.variable @image {role = #hfta.role<input>} : tensor<4x3x9x9xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<16x3x3x3xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<16xf32, #hfta.copies<2>>
// CHECK: hfta.variable @hidden {{.*}} : tensor<4x9x9x16xf32, #hfta.copies<2>>
hfta.variable @hidden {role = #hfta.role<saved>} : tensor<4x16x9x9xf32, #hfta.copies<2>>
// CHECK: hfta.variable @rows {{.*}} : tensor<4x6x8xf32, #hfta.copies<2>>
hfta.variable @rows {role = #hfta.role<saved>} : tensor<4x6x8xf32, #hfta.copies<2>>
// CHECK: hfta.variable @flat {{.*}} : tensor<4x1296xf32, #hfta.copies<2>>
hfta.variable @flat {role = #hfta.role<saved>} : tensor<4x1296xf32, #hfta.copies<2>>
// CHECK: hfta.variable @shown {{.*}} : tensor<4x16x9x9xf32, #hfta.copies<2>>
hfta.variable @shown {role = #hfta.role<output>} : tensor<4x16x9x9xf32, #hfta.copies<2>>
hfta.variable @db {role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
hfta.variable @dw {role = #hfta.role<gradient>} : tensor<16x3x3x3xf32, #hfta.copies<2>>
// Only a view reads it.
// CHECK: hfta.variable @drop {{.*}} : tensor<4x16x9x9xf32, #hfta.copies<2>>
hfta.variable @drop {role = #hfta.role<saved>} : tensor<4x16x9x9xf32, #hfta.copies<2>>
hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64, #hfta.copies<2>>
hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
// CHECK: hfta.variable @wide {{.*}} : tensor<4x3x9x16xf32, #hfta.copies<2>>
hfta.variable @wide {role = #hfta.role<saved>} : tensor<4x3x9x16xf32, #hfta.copies<2>>

// A convolution is defined on the logical order. Elementwise ops after it work
// on the stored one; what a view needs is stored in the logical order as well.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[X:.*]] = hfta.read @image : tensor<4x3x9x9xf32>
// CHECK: %[[K:.*]]:2 = hfta.kernel "relu"(%[[X]], %{{.*}}) : ({{.*}}) -> (tensor<4x9x9x16xf32, #hfta.copies<2>>, tensor<4x16x9x9xf32, #hfta.copies<2>>) {
// CHECK: %[[CONV:.*]] = hfta.conv %{{.*}} : tensor<4x3x9x9xf32>, tensor<16x3x3x3xf32>
// CHECK: %[[BIAS:.*]] = hfta.broadcast %{{.*}} to [4, 9, 9, 16] along [3] : tensor<16xf32>
// CHECK: %[[LAST:.*]] = hfta.transpose %[[CONV]] by [0, 2, 3, 1]
// CHECK: %[[SUM:.*]] = hfta.add %[[LAST]], %[[BIAS]] : tensor<4x9x9x16xf32>
// CHECK: %[[RELU:.*]] = hfta.relu %[[SUM]] : tensor<4x9x9x16xf32>
// CHECK: %[[PLAIN:.*]] = hfta.transpose %[[RELU]] by [0, 3, 1, 2]
// CHECK: hfta.yield %[[RELU]], %[[PLAIN]]
// CHECK: hfta.write %[[K]]#0, @hidden
// CHECK: hfta.reshape %[[K]]#1 to [4, 1296]
func.func @forward() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @image : tensor<4x3x9x9xf32>
  %w = hfta.read @w : tensor<16x3x3x3xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<16xf32, #hfta.copies<2>>
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x3x9x9xf32>, tensor<16x3x3x3xf32, #hfta.copies<2>>
  %1 = hfta.broadcast %b to [4, 16, 9, 9] along [1] : tensor<16xf32, #hfta.copies<2>>
  %2 = hfta.add %0, %1 : tensor<4x16x9x9xf32, #hfta.copies<2>>, tensor<4x16x9x9xf32, #hfta.copies<2>>
  %3 = hfta.relu %2 : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %3, @hidden : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %4 = hfta.reshape %3 to [4, 1296] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %5 = hfta.neg %4 : tensor<4x1296xf32, #hfta.copies<2>>
  hfta.write %5, @flat : tensor<4x1296xf32, #hfta.copies<2>>
  return
}

// Reductions take the stored order. A saved value is transposed for a view, by
// a kernel of its own. Variables that the host sees are plain.
// CHECK-LABEL: func.func @backward(
// CHECK: %[[H:.*]] = hfta.read @hidden : tensor<4x9x9x16xf32, #hfta.copies<2>>
// CHECK: %[[PLAIN:.*]] = hfta.kernel "transpose"(%[[H]])
// CHECK: hfta.reshape %[[PLAIN]] to [4, 1296]
// CHECK: %[[G:.*]] = hfta.kernel "mul"(%{{.*}}, %[[H]]) : {{.*}} -> tensor<4x9x9x16xf32, #hfta.copies<2>>
// CHECK: hfta.kernel "reduce"(%[[G]])
// CHECK: hfta.reduce sum %{{.*}} over [0, 1, 2] : tensor<4x9x9x16xf32>
// CHECK: hfta.kernel "conv_weight_gradient"(%{{.*}}, %[[G]])
// CHECK: %[[LOGICAL:.*]] = hfta.transpose %{{.*}} by [0, 3, 1, 2] : tensor<4x9x9x16xf32>
// CHECK: hfta.conv_weight_gradient %{{.*}}, %[[LOGICAL]]
// CHECK: hfta.kernel "exp"(%[[H]]) : (tensor<4x9x9x16xf32, #hfta.copies<2>>) -> tensor<4x16x9x9xf32, #hfta.copies<2>>
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @image : tensor<4x3x9x9xf32>
  %h = hfta.read @hidden : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %f = hfta.read @flat : tensor<4x1296xf32, #hfta.copies<2>>
  %0 = hfta.reshape %h to [4, 1296] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %1 = hfta.mul %0, %f : tensor<4x1296xf32, #hfta.copies<2>>, tensor<4x1296xf32, #hfta.copies<2>>
  %2 = hfta.reshape %1 to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %3 = hfta.mul %2, %h : tensor<4x16x9x9xf32, #hfta.copies<2>>, tensor<4x16x9x9xf32, #hfta.copies<2>>
  %4 = hfta.reduce sum %3 over [0, 2, 3] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %4, @db : tensor<16xf32, #hfta.copies<2>>
  %5 = hfta.conv_weight_gradient %x, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 16, 3, 3, 3>} : tensor<4x3x9x9xf32>, tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %5, @dw : tensor<16x3x3x3xf32, #hfta.copies<2>>
  %6 = hfta.exp %h : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %6, @shown : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}

// Rows of parts have the same numbers in both orders.
// CHECK-LABEL: func.func @parts(
// CHECK: hfta.kernel "part_sums"(%{{.*}}) : (tensor<4x9x9x16xf32, #hfta.copies<2>>) -> tensor<18x16xf32, #hfta.copies<2>>
// CHECK: hfta.part_sums %{{.*}} of 18 along 3 {centered} : tensor<4x9x9x16xf32>
func.func @parts() attributes {hfta.task = #hfta.task<backward, 1>} {
  %h = hfta.read @hidden : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %0 = hfta.part_sums %h of 18 along 1 {centered} : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %1 = hfta.reduce sum %0 over [0] : tensor<18x16xf32, #hfta.copies<2>>
  hfta.write %1, @db : tensor<16xf32, #hfta.copies<2>>
  return
}

// Random numbers are keyed by the logical order.
// CHECK-LABEL: func.func @random(
// CHECK: %[[U:.*]] = hfta.random_uniform {{.*}} [4, 16, 9, 9]
// CHECK: %[[LAST:.*]] = hfta.transpose %[[U]] by [0, 2, 3, 1]
// CHECK: hfta.mul %{{.*}}, %[[LAST]] : tensor<4x9x9x16xf32>
func.func @random() attributes {hfta.task = #hfta.task<forward, 1>} {
  %h = hfta.read @hidden : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %seed = hfta.read @hfta.seed : tensor<i64, #hfta.copies<2>>
  %step = hfta.read @hfta.step : tensor<i64>
  %u = hfta.random_uniform %seed, %step, %step [4, 16, 9, 9] stream 7 {per_sample} : f32, tensor<i64, #hfta.copies<2>>, tensor<i64>, tensor<i64>
  %0 = hfta.mul %h, %u : tensor<4x16x9x9xf32, #hfta.copies<2>>, tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %0, @drop : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}
func.func @view() attributes {hfta.task = #hfta.task<backward, 1>} {
  %d = hfta.read @drop : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %0 = hfta.reshape %d to [4, 1296] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %1 = hfta.neg %0 : tensor<4x1296xf32, #hfta.copies<2>>
  hfta.write %1, @flat : tensor<4x1296xf32, #hfta.copies<2>>
  return
}

// No window, or too few channels for vectors: plain.
// CHECK-LABEL: func.func @plain(
// CHECK-NOT: hfta.transpose
func.func @plain() attributes {hfta.task = #hfta.task<forward, 2>} {
  %x = hfta.read @rows : tensor<4x6x8xf32, #hfta.copies<2>>
  %0 = hfta.exp %x : tensor<4x6x8xf32, #hfta.copies<2>>
  hfta.write %0, @rows : tensor<4x6x8xf32, #hfta.copies<2>>
  %y = hfta.read @wide : tensor<4x3x9x16xf32, #hfta.copies<2>>
  %1, %2 = hfta.max_pool %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<4x3x9x16xf32, #hfta.copies<2>>
  hfta.write %1, @wide : tensor<4x3x9x16xf32, #hfta.copies<2>>
  return
}

hfta.variable @v {role = #hfta.role<parameter>} : tensor<16x16x3x3xf32, #hfta.copies<2>>

// Pairs of channels are packed where the channels lie, and are read by the
// convolution with channels last.
// CHECK-LABEL: func.func @paired(
// CHECK: hfta.kernel "pair_factors"({{.*}}) : (tensor<4x9x9x16xf32, #hfta.copies<2>>) -> tensor<4x9x9x8xi32, #hfta.copies<2>>
// CHECK: hfta.pair_factors %{{.*}} along 3 : tensor<4x9x9x16xf32>
// CHECK: hfta.kernel "conv"(
// CHECK: %[[PAIRS:.*]] = hfta.transpose %{{.*}} by [0, 3, 1, 2] : tensor<4x9x9x8xi32>
// CHECK: hfta.conv %[[PAIRS]], %{{.*}} : tensor<4x8x9x9xi32>, tensor<16x8x3x3xi32>
func.func @paired() attributes {hfta.task = #hfta.task<forward, 9>} {
  %v = hfta.read @v : tensor<16x16x3x3xf32, #hfta.copies<2>>
  %w = hfta.pair_factors %v along 1 : tensor<16x16x3x3xf32, #hfta.copies<2>>
  %x = hfta.read @hidden : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %p = hfta.pair_factors %x along 1 : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %y = hfta.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x8x9x9xi32, #hfta.copies<2>>, tensor<16x8x3x3xi32, #hfta.copies<2>>
  hfta.write %y, @shown : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}
