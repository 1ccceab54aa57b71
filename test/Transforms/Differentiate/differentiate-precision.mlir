// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// With five types: the gradient is taken of the parameter's widest value, so that
// its terms are rounded once, where they have been added to the stored ones. Draws
// and the parameter's step are computed in f32, as no type is wider than that.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], precision = {parameters = "bf16",
  accumulate = "f64", gradients = "f16", state = "bf16"}}
// CHECK: hfta.variable @w {{.*}} : tensor<3x3xbf16, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.loss {{.*}} : tensor<f64, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.gradient/w" {{.*}} : tensor<3x3xf16, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.velocity/w" {{.*}} : tensor<3x3xbf16, #hfta.copies<2>>

// Weights that are all one, in whatever way, are no weights.
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK-NOT: hfta.div
// CHECK: hfta.reduce sum %{{.*}} over [0, 1] : tensor<4x3xf64, #hfta.copies<2>>
// CHECK-NOT: hfta.div

// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: %[[G:.*]] = hfta.contract {{.*}} : tensor<4x3xf64>, tensor<4x3xf64, #hfta.copies<2>>
// CHECK: %[[OLD:.*]] = hfta.read @"hfta.gradient/w" : tensor<3x3xf16, #hfta.copies<2>>
// CHECK: %[[OLD64:.*]] = hfta.cast %[[OLD]] : {{.*}} to f64
// CHECK: %[[SUM:.*]] = hfta.add %[[OLD64]], %[[G]] : tensor<3x3xf64, #hfta.copies<2>>
// CHECK: %[[NEW:.*]] = hfta.cast %[[SUM]] : {{.*}} to f16
// CHECK: hfta.write %[[NEW]], @"hfta.gradient/w"

// CHECK-LABEL: func.func @"task/update.0"
// CHECK: %[[W:.*]] = hfta.cast %{{.*}} : tensor<3x3xbf16, #hfta.copies<2>> to f32
// CHECK: %[[G:.*]] = hfta.cast %{{.*}} : tensor<3x3xf16, #hfta.copies<2>> to f32
// CHECK: %[[V:.*]] = hfta.cast %{{.*}} : tensor<3x3xbf16, #hfta.copies<2>> to f32
// CHECK: %[[STEP:.*]]:2 = hfta.optimizer_update "sgd" given [] %[[W]], %[[G]], %[[V]]
// CHECK: %[[P:.*]] = hfta.cast %[[STEP]]#0 : {{.*}} to bf16
// CHECK: hfta.write %[[P]], @w
// CHECK: %[[V:.*]] = hfta.cast %[[STEP]]#1 : {{.*}} to bf16
// CHECK: hfta.write %[[V]], @"hfta.velocity/w"

// CHECK-LABEL: func.func @"task/init.0"
// CHECK: hfta.random_uniform {{.*}} : f32
// CHECK: %[[DRAWN:.*]] = hfta.add %{{.*}} : tensor<3x3xf32, #hfta.copies<2>>
// CHECK: %[[STORED:.*]] = hfta.cast %[[DRAWN]] : {{.*}} to bf16
// CHECK: hfta.write %[[STORED]], @w
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<-0.5 : f32, 0.5 : f32>} : tensor<3x3xbf16, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> tensor<4x3xf32, #hfta.copies<2>> {
      %x64 = hfta.cast %x : tensor<4x3xf32> to f64
      %w = hfta.read @w : tensor<3x3xbf16, #hfta.copies<2>>
      %w32 = hfta.cast %w : tensor<3x3xbf16, #hfta.copies<2>> to f32
      %w64 = hfta.cast %w32 : tensor<3x3xf32, #hfta.copies<2>> to f64
      %sum = hfta.contract %x64, %w64 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x3xf64>, tensor<3x3xf64, #hfta.copies<2>>
      %y = hfta.cast %sum : tensor<4x3xf64, #hfta.copies<2>> to f32
      return %y : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4x3xf64, #hfta.copies<2>>, tensor<4x3xf64, #hfta.copies<2>>) {
      %losses = hfta.mul %y, %y : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
      %l = hfta.cast %losses : tensor<4x3xf32, #hfta.copies<2>> to f64
      %one = hfta.constant dense<1.0> : tensor<4x3xf32>
      %ones = hfta.stack %one, %one : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32, #hfta.copies<2>>
      %weights = hfta.cast %ones : tensor<4x3xf32, #hfta.copies<2>> to f64
      return %l, %weights : tensor<4x3xf64, #hfta.copies<2>>, tensor<4x3xf64, #hfta.copies<2>>
    }
  }
}
