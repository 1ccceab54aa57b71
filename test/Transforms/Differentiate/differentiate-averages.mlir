// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// hfta.averaged of a trained parameter reads its running average, in f32, which
// begins as the parameter and is updated with it. That of another parameter is
// the parameter. Neither has a gradient.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}], average = "ema",
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>},
  {name = "average_decay", values = array<f64: 0.5, 0.5>},
  {name = "average_start", values = array<f64: 0.0, 0.0>},
  {name = "average_every", values = array<f64: 1.0, 1.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @"hfta.average/w" {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK-NOT: hfta.variable @"hfta.average/u"

// CHECK-LABEL: func.func @"task/forward.0"()
// CHECK: %[[AVERAGE:.*]] = hfta.read @"hfta.average/w"
// CHECK: %[[CAST:.*]] = hfta.cast %[[AVERAGE]] {{.*}}bf16
// CHECK: hfta.broadcast %[[CAST]]
// CHECK: %[[U:.*]] = hfta.read @u
// CHECK: hfta.broadcast %[[U]]
// CHECK-NOT: hfta.averaged

// CHECK-LABEL: func.func @"task/update.0"()
// CHECK: hfta.write %{{.*}}, @"hfta.average/w"

// CHECK-LABEL: func.func @"task/init.0"()
// CHECK-DAG: hfta.write %{{.*}}, @w : tensor<3xbf16>
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.average/w" : tensor<3xf32>
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xbf16, #hfta.copies<2>>
    hfta.variable @u {role = #hfta.role<parameter>} : tensor<3xbf16, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xbf16> {hfta.name = "x"}) -> (tensor<4x3xbf16, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xbf16, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xbf16, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xbf16>, tensor<4x3xbf16, #hfta.copies<2>>
      %again = hfta.read @w : tensor<3xbf16, #hfta.copies<2>>
      %e = hfta.averaged %again : tensor<3xbf16, #hfta.copies<2>>
      %eb = hfta.broadcast %e to [4, 3] along [1] : tensor<3xbf16, #hfta.copies<2>>
      %1 = hfta.mul %0, %eb : tensor<4x3xbf16, #hfta.copies<2>>, tensor<4x3xbf16, #hfta.copies<2>>
      %u = hfta.read @u : tensor<3xbf16, #hfta.copies<2>>
      %v = hfta.averaged %u : tensor<3xbf16, #hfta.copies<2>>
      %vb = hfta.broadcast %v to [4, 3] along [1] : tensor<3xbf16, #hfta.copies<2>>
      %2 = hfta.mul %1, %vb : tensor<4x3xbf16, #hfta.copies<2>>, tensor<4x3xbf16, #hfta.copies<2>>
      return %2 : tensor<4x3xbf16, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xbf16> {hfta.name = "x"}) -> (tensor<4x3xbf16> {hfta.name = "x"}) {
      return %x : tensor<4x3xbf16>
    }
    func.func @objective(%y: tensor<4x3xbf16, #hfta.copies<2>>, %x: tensor<4x3xbf16>) -> (tensor<4xbf16, #hfta.copies<2>>, tensor<4xbf16>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xbf16, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xbf16>
      return %0, %1 : tensor<4xbf16, #hfta.copies<2>>, tensor<4xbf16>
    }
  }
}
