// RUN: hfta-opt %s -verify-diagnostics -hfta-plan-pipeline=cuts=hidden

// expected-error@unknown {{no value is named 'hidden' to cut after}}
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
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
