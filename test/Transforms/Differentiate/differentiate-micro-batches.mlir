// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// A loss whose weights are known at run time only: each micro-batch adds its sum
// and its weights, and what follows the last one divides by all weights.
// CHECK: hfta.variable @"hfta.input/x" {instances = 3 : i64
// CHECK: hfta.variable @"hfta.loss/weight" {purpose = #hfta.purpose<loss_weight>, role = #hfta.role<result>} : tensor<f32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.saved/0" {block = 0 : i64, instances = 2 : i64

// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: %[[WEIGHT:.*]] = hfta.reduce {{.*}}sum %{{.*}} over [0] : tensor<2xf32>
// CHECK: %[[OLD:.*]] = hfta.read @"hfta.loss/weight"
// CHECK: %[[NEW:.*]] = hfta.add %[[OLD]], %[[WEIGHT]]
// CHECK: hfta.write %[[NEW]], @"hfta.loss/weight"
// CHECK-NOT: hfta.div
// CHECK: hfta.write %{{.*}}, @hfta.loss

// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-NOT: hfta.div
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w"

// Where nothing counts, gradients are divided by infinity.
// CHECK-LABEL: func.func @"task/norm.0"
// CHECK: %[[MOST:.*]] = hfta.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK: %[[READ:.*]] = hfta.read @"hfta.loss/weight"
// CHECK: %[[CAST:.*]] = hfta.cast %[[READ]] : tensor<f32, #hfta.copies<2>> to f64
// CHECK: %[[NONE:.*]] = hfta.compare equal, %[[CAST]], %{{.*}}
// CHECK: %[[DIVISOR:.*]] = hfta.select %[[NONE]], %[[MOST]], %[[CAST]]
// CHECK: %[[ALL:.*]] = hfta.broadcast %[[DIVISOR]] to [3]
// CHECK: hfta.div %{{.*}}, %[[ALL]] : tensor<3xf64, #hfta.copies<2>>

// CHECK-LABEL: func.func @"task/update.0"
// CHECK: %[[SUM:.*]] = hfta.read @"hfta.gradient/w"
// CHECK: %[[READ:.*]] = hfta.read @"hfta.loss/weight"
// CHECK: %[[ALL:.*]] = hfta.broadcast %[[READ]] to [3]
// CHECK: %[[NONE:.*]] = hfta.compare equal, %[[ALL]], %{{.*}}
// CHECK: %[[DIVISOR:.*]] = hfta.select %[[NONE]], %{{.*}}, %[[ALL]]
// CHECK: %[[MEAN:.*]] = hfta.div %[[SUM]], %[[DIVISOR]]
// CHECK: hfta.mul %[[MEAN]]

// CHECK-LABEL: func.func @"task/report"() attributes {hfta.task = #hfta.task<report, -1>} {
// CHECK: %[[LOSS:.*]] = hfta.cast %{{.*}} : tensor<f32, #hfta.copies<2>> to f64
// CHECK: %[[WEIGHT:.*]] = hfta.cast %{{.*}} : tensor<f32, #hfta.copies<2>> to f64
// CHECK: %[[REPORTED:.*]] = hfta.div %[[LOSS]], %[[WEIGHT]]
// CHECK: hfta.write %[[REPORTED]], @"hfta.loss/mean"
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 2 : i64, epochs = 1 : i64,
  all_forwards_first = true, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], clip_norm = array<f64: 1.0, 2.0>,
  seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [2, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<2x3xf32>, tensor<2x3xf32, #hfta.copies<2>>
      return %0 : tensor<2x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32> {hfta.name = "x"}) {
      return %x : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<2x3xf32, #hfta.copies<2>>, %x: tensor<2x3xf32>) -> (tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<2x3xf32, #hfta.copies<2>>
      %1 = hfta.reduce sum %x over [1] : tensor<2x3xf32>
      return %0, %1 : tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>
    }
  }
}
