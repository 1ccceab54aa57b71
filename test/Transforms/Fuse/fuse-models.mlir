// RUN: hfta-opt %s -split-input-file -hfta-fuse-models | FileCheck %s -enable-var-scope

// Two files with one graph: weights that differ are stacked along a leading
// copy axis, equal ones that train stand in the variable once; frozen equal
// weights stay shared, and so does all that only they and the data reach.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.model @array copies [0, 1] {
// CHECK-NOT: hfta.model
// CHECK: hfta.variable @weight {initial = dense_resource<[[STACKED:.*]]> : tensor<2x3xf32>, role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @bias {initial = dense<0.000000e+00> : tensor<3xf32>, role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @frozen {initial = dense<5.000000e-01> : tensor<3xf32>, role = #hfta.role<parameter>} : tensor<3xf32>
// CHECK: hfta.variable @other_frozen {initial = dense_resource<{{.*}}> : tensor<2x3xf32>, role = #hfta.role<parameter>} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @mean {initial = dense<0.000000e+00> : tensor<3xf32>, role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
// CHECK: hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.constant/0" {initial = dense_resource<{{.*}}> : tensor<2x3xf32>, role = #hfta.role<constant>} : tensor<3xf32, #hfta.copies<2>>
// CHECK: func.func @forward(%[[X:.*]]: tensor<3xf32> {hfta.name = "x"})
// CHECK-SAME: -> (tensor<3xf32, #hfta.copies<2>> {hfta.name = "y"})
// CHECK: %[[FROZEN:.*]] = hfta.read @frozen : tensor<3xf32>
// CHECK: %[[SHARED:.*]] = hfta.mul %[[X]], %[[FROZEN]] : tensor<3xf32>, tensor<3xf32>
// CHECK: %[[W:.*]] = hfta.read @weight : tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[ARRAYED:.*]] = hfta.mul %[[SHARED]], %[[W]] : tensor<3xf32>, tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[C:.*]] = hfta.read @"hfta.constant/0" : tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[Y:.*]] = hfta.add %[[ARRAYED]], %[[C]]
// CHECK: return %[[Y]] : tensor<3xf32, #hfta.copies<2>>
// CHECK: stacked: "0x10000000{{.*}}0000803F0000004000004040000080400000A0400000C040"
module attributes {hfta.job = #job} {
  hfta.model @first copies [0] {
    hfta.variable @weight {role = #hfta.role<parameter>, trained, initial = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @bias {role = #hfta.role<parameter>, trained, initial = dense<0.0> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @frozen {role = #hfta.role<parameter>, initial = dense<0.5> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @other_frozen {role = #hfta.role<parameter>, initial = dense<0.5> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @mean {role = #hfta.role<statistics>, initial = dense<0.0> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
    hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64>
    func.func @forward(%x: tensor<3xf32> {hfta.name = "x"}) -> (tensor<3xf32> {hfta.name = "y"}) {
      %0 = hfta.read @frozen : tensor<3xf32>
      %1 = hfta.mul %x, %0 : tensor<3xf32>, tensor<3xf32>
      %2 = hfta.read @weight : tensor<3xf32>
      %3 = hfta.mul %1, %2 : tensor<3xf32>, tensor<3xf32>
      %4 = hfta.constant dense<1.0> : tensor<3xf32>
      %5 = hfta.add %3, %4 : tensor<3xf32>, tensor<3xf32>
      return %5 : tensor<3xf32>
    }
  }
  hfta.model @second copies [1] {
    hfta.variable @weight {role = #hfta.role<parameter>, trained, initial = dense<[4.0, 5.0, 6.0]> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @bias {role = #hfta.role<parameter>, trained, initial = dense<0.0> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @frozen {role = #hfta.role<parameter>, initial = dense<0.5> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @other_frozen {role = #hfta.role<parameter>, initial = dense<0.25> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @mean {role = #hfta.role<statistics>, initial = dense<0.0> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
    hfta.variable @hfta.seed {purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64>
    func.func @forward(%x: tensor<3xf32> {hfta.name = "x"}) -> (tensor<3xf32> {hfta.name = "y"}) {
      %0 = hfta.read @frozen : tensor<3xf32>
      %1 = hfta.mul %x, %0 : tensor<3xf32>, tensor<3xf32>
      %2 = hfta.read @weight : tensor<3xf32>
      %3 = hfta.mul %1, %2 : tensor<3xf32>, tensor<3xf32>
      %4 = hfta.constant dense<2.0> : tensor<3xf32>
      %5 = hfta.add %3, %4 : tensor<3xf32>, tensor<3xf32>
      return %5 : tensor<3xf32>
    }
  }
}

// -----

// One file for all copies: nothing is stacked. The values that objective gets
// from forward are arrayed, the data's fields are shared.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.model @array copies [0, 1] {
// CHECK: hfta.variable @w {initial = #hfta.normal<0.000000e+00 : f32, 1.000000e+00 : f32>, role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
// CHECK: func.func @forward(
// CHECK: func.func @prepare(
// CHECK-SAME: %{{.*}}: tensor<3xf32>
// CHECK: func.func @objective(
// CHECK-SAME: %{{.*}}: tensor<3xf32, #hfta.copies<2>>, %{{.*}}: tensor<3xf32>) -> (tensor<3xf32, #hfta.copies<2>>, tensor<3xf32>)
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = #hfta.normal<0.0 : f32, 1.0 : f32>} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.read @w : tensor<3xf32>
      %1 = hfta.mul %x, %0 : tensor<3xf32>, tensor<3xf32>
      return %1 : tensor<3xf32>
    }
    func.func @prepare(%x: tensor<3xf32>) -> tensor<3xf32> {
      return %x : tensor<3xf32>
    }
    func.func @objective(%y: tensor<3xf32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = hfta.sub %y, %x : tensor<3xf32>, tensor<3xf32>
      return %0, %x : tensor<3xf32>, tensor<3xf32>
    }
  }
}

// -----

// Without fusion every copy has ops of its own on its copy of the variables.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, fuse = false,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @w {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @mean {{.*}} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.step {{.*}} : tensor<i64>
// CHECK: func.func @forward(%[[X:.*]]: tensor<3xf32>) -> tensor<3xf32, #hfta.copies<2>> {
// CHECK: hfta.read @hfta.step : tensor<i64>
// CHECK: %[[W0:.*]] = hfta.read @w copy 0 : tensor<3xf32>
// CHECK: %[[Y0:.*]] = hfta.mul %[[X]], %[[W0]] : tensor<3xf32>, tensor<3xf32>
// CHECK: hfta.write %[[Y0]], @mean copy 0 : tensor<3xf32>
// CHECK: %[[W1:.*]] = hfta.read @w copy 1 : tensor<3xf32>
// CHECK: %[[Y1:.*]] = hfta.mul %[[X]], %[[W1]] : tensor<3xf32>, tensor<3xf32>
// CHECK: hfta.write %[[Y1]], @mean copy 1 : tensor<3xf32>
// CHECK: %[[Y:.*]] = hfta.stack %[[Y0]], %[[Y1]]
// CHECK: return %[[Y]]
// CHECK: func.func @objective(%[[Y:.*]]: tensor<3xf32, #hfta.copies<2>>)
// CHECK: %[[Y0:.*]] = hfta.unstack %[[Y]][0]
// CHECK: %[[L0:.*]] = hfta.neg %[[Y0]] : tensor<3xf32>
// CHECK: %[[Y1:.*]] = hfta.unstack %[[Y]][1]
// CHECK: %[[L1:.*]] = hfta.neg %[[Y1]] : tensor<3xf32>
// CHECK: %[[L:.*]] = hfta.stack %[[L0]], %[[L1]]
// CHECK: return %[[L]]
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32>
    hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %s = hfta.read @hfta.step : tensor<i64>
      %0 = hfta.read @w : tensor<3xf32>
      %1 = hfta.mul %x, %0 : tensor<3xf32>, tensor<3xf32>
      hfta.write %1, @mean : tensor<3xf32>
      return %1 : tensor<3xf32>
    }
    func.func @objective(%y: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %y : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}
