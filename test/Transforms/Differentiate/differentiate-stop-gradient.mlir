// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// No gradient flows through hfta.stop_gradient: @w has the gradient of its other
// use alone, @u has none, and what follows the op needs no derivative.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @w {{{.*}}trained}
// CHECK: hfta.variable @u {{{.*}}hfta.training_rule = "unreached"
// CHECK: hfta.variable @"hfta.gradient/w"
// CHECK-NOT: hfta.variable @"hfta.gradient/u"

// CHECK-LABEL: func.func @"task/forward.0"()
// CHECK: hfta.stop_gradient
// CHECK: hfta.round_to_tf32

// CHECK-LABEL: func.func @"task/backward.0"()
// CHECK: %[[ROUNDED:.*]] = hfta.round_to_tf32
// CHECK: %[[GRADIENT:.*]] = hfta.mul %{{.*}}, %[[ROUNDED]]
// CHECK: hfta.mul %[[GRADIENT]], %{{.*}}
// CHECK: hfta.reduce sum
// CHECK-NOT: hfta.mul
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w"
// CHECK: return
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @u {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %u = hfta.read @u : tensor<3xf32, #hfta.copies<2>>
      %ub = hfta.broadcast %u to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.mul %0, %ub : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
      %2 = hfta.stop_gradient %1 : tensor<4x3xf32, #hfta.copies<2>>
      %3 = hfta.round_to_tf32 %2 : tensor<4x3xf32, #hfta.copies<2>>
      %4 = hfta.mul %0, %3 : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
      return %4 : tensor<4x3xf32, #hfta.copies<2>>
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
