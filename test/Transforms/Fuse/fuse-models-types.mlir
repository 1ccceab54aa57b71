// RUN: hfta-opt %s -hfta-fused-pipeline | FileCheck %s

// Models whose files hold floats of different types are alike in the job's type.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.model @array
// CHECK-COUNT-1: hfta.tanh %{{.*}} : tensor<4x3xf32>
// CHECK-NOT: hfta.tanh
module attributes {hfta.job = #job} {
  hfta.model @first copies [0] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      %0 = hfta.tanh %x : tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
  }
  hfta.model @second copies [1] {
    func.func @forward(%x: tensor<4x3xf64> {hfta.name = "x"}) -> (tensor<4x3xf64> {hfta.name = "y"}) {
      %0 = hfta.tanh %x : tensor<4x3xf64>
      return %0 : tensor<4x3xf64>
    }
  }
}
