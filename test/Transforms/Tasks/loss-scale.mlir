// RUN: hfta-opt %s -split-input-file -hfta-differentiate -hfta-split-tasks -verify-diagnostics | FileCheck %s -enable-var-scope

// Losses that are scaled: each copy's backward begins with its scale.
// CHECK: hfta.variable @"hfta.loss_scale/factor" {purpose = #hfta.purpose<loss_scale "factor">, role = #hfta.role<optimizer_state>} : tensor<f64, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.loss_scale/good_steps"
// CHECK: hfta.variable @"hfta.loss_scale/skipped_steps"
// CHECK: hfta.variable @"hfta.loss_scale_result/factor" {purpose = #hfta.purpose<loss_scale_result "factor">, role = #hfta.role<result>}
// CHECK: initial = dense<[1.024000e+03, 2.000000e+00]> : tensor<2xf64>, purpose = #hfta.purpose<initial of @"hfta.loss_scale/factor">
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: %[[FACTOR:.*]] = hfta.read @"hfta.loss_scale/factor"
// CHECK: %[[SEED:.*]] = hfta.cast %[[FACTOR]] : tensor<f64, #hfta.copies<2>> to f32
// CHECK: hfta.mul %[[SEED]]
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w"

// The written values depend on whether the step is taken; the optimizer counts
// the steps that were.
// CHECK-LABEL: func.func @"task/update.0"
// CHECK: %[[PRESENT:.*]] = hfta.read @w
// CHECK: %[[SCALE:.*]] = hfta.read @hfta.clip_scale
// CHECK: %[[STEP:.*]] = hfta.read @hfta.step
// CHECK: %[[ALL:.*]] = hfta.cast %[[STEP]] : tensor<i64> to f64
// CHECK: %[[SKIPPED:.*]] = hfta.read @"hfta.loss_scale/skipped_steps"
// CHECK: %[[TAKEN:.*]] = hfta.sub %[[ALL]], %[[SKIPPED]]
// CHECK: %[[NEW:.*]]:3 = hfta.optimizer_update "adam" {{.*}}%[[TAKEN]]
// CHECK: %[[NOW:.*]] = hfta.read @w
// CHECK: %[[IS_TAKEN:.*]] = hfta.compare greater_equal, %[[SCALE]]
// CHECK: %[[ALL_TAKEN:.*]] = hfta.broadcast %[[IS_TAKEN]] to [3]
// CHECK: %[[NEXT:.*]] = hfta.select %[[ALL_TAKEN]], %[[NEW]]#0, %[[NOW]]
// CHECK: hfta.write %[[NEXT]], @w
// CHECK: hfta.select %{{.*}}, %[[NEW]]#1
// CHECK: hfta.select %{{.*}}, %[[NEW]]#2

// The norm is that of the loss' own gradients, and so is what is clipped.
// CHECK-LABEL: func.func @"task/clip"
// CHECK: %[[SQUARES:.*]] = hfta.read @"hfta.norm/w"
// CHECK: %[[ROOT:.*]] = hfta.sqrt %[[SQUARES]]
// CHECK: %[[BY:.*]] = hfta.read @"hfta.loss_scale/factor"
// CHECK: hfta.div %[[ROOT]], %[[BY]]
// CHECK: %[[NOW:.*]] = hfta.read @"hfta.loss_scale/factor"
// CHECK: %[[FINITE:.*]] = hfta.compare less, %[[SQUARES]]
// CHECK: %[[QUOTIENT:.*]] = hfta.div %{{.*}}, %[[NOW]]
// CHECK: %[[MULTIPLIED:.*]] = hfta.select %[[FINITE]], %[[QUOTIENT]]
// CHECK: hfta.write %[[NOW]], @"hfta.loss_scale_result/factor"
// CHECK: hfta.write %[[COUNT:.*]], @"hfta.loss_scale_result/skipped_steps"
// CHECK: hfta.write %{{.*}}, @"hfta.loss_scale/factor"
// CHECK: hfta.write %{{.*}}, @"hfta.loss_scale/good_steps"
// CHECK: hfta.write %[[COUNT]], @"hfta.loss_scale/skipped_steps"
// CHECK: hfta.write %[[MULTIPLIED]], @hfta.clip_scale
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "adam"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "beta1", values = array<f64: 0.9, 0.9>},
  {name = "beta2", values = array<f64: 0.99, 0.99>},
  {name = "eps", values = array<f64: 1.0e-8, 1.0e-8>}], clip_norm = array<f64: 1.0, 2.0>,
  loss_scale = array<f64: 1024.0, 2.0>, growth_interval = 7 : i64, seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<-1.0 : f32, 1.0 : f32>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %1 = hfta.mul %x, %0 : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %1 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}

// -----

// Checkpoints have one tensor of a name.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "adam"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "beta1", values = array<f64: 0.9, 0.9>},
  {name = "beta2", values = array<f64: 0.99, 0.99>},
  {name = "eps", values = array<f64: 1.0e-8, 1.0e-8>}], clip_norm = array<f64: 1.0, 2.0>,
  loss_scale = array<f64: 1024.0, 2.0>, growth_interval = 7 : i64, seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    // expected-error @+1 {{'loss_scale/factor' is also what checkpoints call the state of the loss' scale: rename it}}
    hfta.variable @"loss_scale/factor" {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<-1.0 : f32, 1.0 : f32>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @"loss_scale/factor" : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %1 = hfta.mul %x, %0 : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %1 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}
