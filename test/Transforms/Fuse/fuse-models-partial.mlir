// RUN: hfta-opt %s -split-input-file -hfta-fuse-models | FileCheck %s -enable-var-scope

// Corresponding ops are fused: the layer before the difference, and the equal
// ops after it. Each copy has the rest for itself, on its part of arrayed
// values; operands of fused ops after that are stacked.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @w {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"extra@1" {copy = 1 : i64, known_as = "extra", role = #hfta.role<parameter>, trained} : tensor<3xf32>
// CHECK: hfta.variable @v {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK: func.func @forward(%[[X:.*]]: tensor<3xf32>)
// CHECK: %[[W:.*]] = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[FIRST:.*]] = hfta.mul %[[X]], %[[W]]
// CHECK: %[[EXTRA:.*]] = hfta.read @"extra@1" : tensor<3xf32>
// CHECK: %[[OF1:.*]] = hfta.unstack %[[FIRST]][1]
// CHECK: %[[ADDED:.*]] = hfta.add %[[OF1]], %[[EXTRA]] : tensor<3xf32>, tensor<3xf32>
// CHECK: %[[V:.*]] = hfta.read @v : tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[OF0:.*]] = hfta.unstack %[[FIRST]][0]
// CHECK: %[[STACK:.*]] = hfta.stack %[[OF0]], %[[ADDED]]
// CHECK: %[[LAST:.*]] = hfta.mul %[[STACK]], %[[V]] : tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
// CHECK: return %[[LAST]] : tensor<3xf32, #hfta.copies<2>>
module attributes {hfta.job = #job} {
  hfta.model @plain copies [0] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @w : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %v = hfta.read @v : tensor<3xf32>
      %1 = hfta.mul %0, %v : tensor<3xf32>, tensor<3xf32>
      return %1 : tensor<3xf32>
    }
  }
  hfta.model @deep copies [1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @extra {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @w : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %extra = hfta.read @extra : tensor<3xf32>
      %1 = hfta.add %0, %extra : tensor<3xf32>, tensor<3xf32>
      %v = hfta.read @v : tensor<3xf32>
      %2 = hfta.mul %1, %v : tensor<3xf32>, tensor<3xf32>
      return %2 : tensor<3xf32>
    }
  }
}

// -----

// Outputs of different types are each copy's own, and so is what the objective
// makes of them until its results are alike. A variable may differ in its type
// or in how it starts.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @"head@0" {copy = 0 : i64, {{.*}}} : tensor<2xf32>
// CHECK: hfta.variable @"drawn@0" {copy = 0 : i64, initial = #hfta.uniform
// CHECK: hfta.variable @"head@1" {copy = 1 : i64, {{.*}}} : tensor<4xf32>
// CHECK: hfta.variable @"drawn@1" {copy = 1 : i64, initial = dense
// CHECK: func.func @forward(
// CHECK-SAME: -> (tensor<2xf32> {hfta.copy = 0 : i64, hfta.name = "y"}, tensor<4xf32> {hfta.copy = 1 : i64, hfta.name = "y"}, tensor<f32, #hfta.copies<2>> {hfta.name = "z"})
// CHECK: func.func @objective(%[[Y0:.*]]: tensor<2xf32>, %[[Y1:.*]]: tensor<4xf32>, %{{.*}}: tensor<f32, #hfta.copies<2>>) -> tensor<f32, #hfta.copies<2>>
// CHECK: %[[SUM0:.*]] = hfta.reduce sum %[[Y0]] over [0] : tensor<2xf32>
// CHECK: %[[SUM1:.*]] = hfta.reduce sum %[[Y1]] over [0] : tensor<4xf32>
// CHECK: %[[STACK:.*]] = hfta.stack %[[SUM0]], %[[SUM1]]
// CHECK: %[[LOSS:.*]] = hfta.neg %[[STACK]] : tensor<f32, #hfta.copies<2>>
// CHECK: return %[[LOSS]]
module attributes {hfta.job = #job} {
  hfta.model @narrow copies [0] {
    hfta.variable @head {role = #hfta.role<parameter>, trained} : tensor<2xf32>
    hfta.variable @drawn {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<0.0 : f32, 1.0 : f32>} : tensor<f32>
    func.func @forward() -> (tensor<2xf32> {hfta.name = "y"}, tensor<f32> {hfta.name = "z"}) {
      %0 = hfta.read @head : tensor<2xf32>
      %1 = hfta.read @drawn : tensor<f32>
      return %0, %1 : tensor<2xf32>, tensor<f32>
    }
    func.func @objective(%y: tensor<2xf32>, %z: tensor<f32>) -> tensor<f32> {
      %0 = hfta.reduce sum %y over [0] : tensor<2xf32>
      %1 = hfta.neg %0 : tensor<f32>
      return %1 : tensor<f32>
    }
  }
  hfta.model @wide copies [1] {
    hfta.variable @head {role = #hfta.role<parameter>, trained} : tensor<4xf32>
    hfta.variable @drawn {role = #hfta.role<parameter>, trained, initial = dense<2.0> : tensor<f32>} : tensor<f32>
    func.func @forward() -> (tensor<4xf32> {hfta.name = "y"}, tensor<f32> {hfta.name = "z"}) {
      %0 = hfta.read @head : tensor<4xf32>
      %1 = hfta.read @drawn : tensor<f32>
      return %0, %1 : tensor<4xf32>, tensor<f32>
    }
    func.func @objective(%y: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
      %0 = hfta.reduce sum %y over [0] : tensor<4xf32>
      %1 = hfta.neg %0 : tensor<f32>
      return %1 : tensor<f32>
    }
  }
}

// -----

// Variables that two models have in different orders are each copy's own: a norm
// of gradients is summed in the model's order. A job's scalar may be missing in
// a model.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @"a@0"
// CHECK: hfta.variable @b {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"a@1"
// CHECK: hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64, #hfta.copies<2>>
module attributes {hfta.job = #job} {
  hfta.model @first copies [0] {
    hfta.variable @a {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @b {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward() -> tensor<3xf32> {
      %0 = hfta.read @a : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
  hfta.model @second copies [1] {
    hfta.variable @b {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @a {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64>
    func.func @forward() -> tensor<3xf32> {
      %0 = hfta.read @a : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}
