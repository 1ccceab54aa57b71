// RUN: hfta-opt %s -hfta-fuse-models -hfta-plan-pipeline=cuts=all | FileCheck %s

// A mask that is made of data alone, and has no gradient, is no reason not to cut between
// layers that use it: it is made where it is used first. One that is made of weights is:
// nothing is cut between it and its last use.
// CHECK: hfta.cuts = {{\[\["first"\], \["second"\]\]}}
// CHECK: %[[MASK:.*]] = hfta.compare less, {{.*}} {hfta.block = 0 : i64}
// CHECK: hfta.select %[[MASK]], {{.*}} {hfta.block = 0 : i64}
// CHECK: hfta.select %[[MASK]], {{.*}} {hfta.block = 1 : i64}
// CHECK: %[[FOUND:.*]] = hfta.compare less, {{.*}} {hfta.block = 2 : i64}
// CHECK: hfta.select %[[FOUND]], {{.*}} {hfta.block = 2 : i64}
// CHECK: hfta.select %[[FOUND]], {{.*}} {hfta.block = 2 : i64}
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @u {role = #hfta.role<parameter>, trained} : tensor<3x3xf32>
    hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<3x3xf32>
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x3xf32>
    hfta.variable @x {role = #hfta.role<parameter>, trained} : tensor<3x3xf32>
    func.func @forward(%data: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %zero = hfta.constant dense<0.000000e+00> : tensor<3x3xf32>
      %mask = hfta.compare less, %data, %zero : tensor<3x3xf32>, tensor<3x3xf32> loc("mask")
      %u = hfta.read @u : tensor<3x3xf32>
      %first.product = hfta.mul %data, %u : tensor<3x3xf32>, tensor<3x3xf32>
      %first = hfta.select %mask, %first.product, %zero : tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32> loc("first")
      %v = hfta.read @v : tensor<3x3xf32>
      %second.product = hfta.mul %first, %v : tensor<3x3xf32>, tensor<3x3xf32>
      %second = hfta.select %mask, %second.product, %zero : tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32> loc("second")
      %found = hfta.compare less, %second, %zero : tensor<3x3xf32>, tensor<3x3xf32> loc("found")
      %w = hfta.read @w : tensor<3x3xf32>
      %last.product = hfta.mul %second, %w : tensor<3x3xf32>, tensor<3x3xf32>
      %last = hfta.select %found, %last.product, %zero : tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32> loc("last")
      %x = hfta.read @x : tensor<3x3xf32>
      %output.product = hfta.mul %last, %x : tensor<3x3xf32>, tensor<3x3xf32>
      %output = hfta.select %found, %output.product, %zero : tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32> loc("output")
      return %output : tensor<3x3xf32>
    }
    func.func @prepare(%data: tensor<3x3xf32>) -> tensor<3x3xf32> {
      return %data : tensor<3x3xf32>
    }
    func.func @objective(%output: tensor<3x3xf32>, %data: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %loss = hfta.reduce sum %output over [1] : tensor<3x3xf32>
      %one = hfta.constant dense<1.000000e+00> : tensor<3xf32>
      return %loss, %one : tensor<3xf32>, tensor<3xf32>
    }
  }
}
