// RUN: hfta-opt %s -split-input-file -hfta-plan-pipeline=cuts=norm -hfta-differentiate -hfta-split-tasks -canonicalize -cse -hfta-decompose -canonicalize | FileCheck %s -enable-var-scope

// The running statistics, which pass from one micro-batch to the next, are updated by
// a task of their own: for each micro-batch, the forward leaves it the new values, in
// an instance of its own. A cut after the op comes after its statistics, too.
#job = {name = "j", copies = 2 : i64, batch = 6 : i64, micro_batches = 3 : i64, epochs = 1 : i64,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @mean {block = 0 : i64, role = #hfta.role<statistics>}
// CHECK: hfta.variable @variance {block = 0 : i64, role = #hfta.role<statistics>}
// CHECK: hfta.variable @"hfta.batch_statistic/0/mean" {block = 0 : i64, instances = 3 : i64, purpose = #hfta.purpose<batch_statistic "0" of @mean>, role = #hfta.role<exchange>} : tensor<3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.batch_statistic/0/variance" {block = 0 : i64, instances = 3 : i64, purpose = #hfta.purpose<batch_statistic "0" of @variance>, role = #hfta.role<exchange>} : tensor<3xf32, #hfta.copies<2>>

// CHECK-LABEL: func.func @"task/forward.0"
// CHECK-NOT: hfta.read @mean
// CHECK-NOT: hfta.read @variance
// CHECK: %[[SUM:.*]] = hfta.reduce sum %{{.*}} over [0] : tensor<2x3xf32
// CHECK: %[[MEAN:.*]] = hfta.div %[[SUM]],
// CHECK: %[[SQUARES:.*]] = hfta.reduce sum %{{.*}} over [0] : tensor<2x3xf32
// CHECK: %[[VARIANCE:.*]] = hfta.div %[[SQUARES]],
// CHECK: %[[UNBIASED:.*]] = hfta.mul %[[VARIANCE]],
// CHECK: hfta.write %[[MEAN]], @"hfta.batch_statistic/0/mean"
// CHECK: hfta.write %[[UNBIASED]], @"hfta.batch_statistic/0/variance"
// CHECK-NOT: hfta.write %[[MEAN]],

// The backward finds the batch's mean there, too.
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: hfta.read @"hfta.batch_statistic/0/mean"

// CHECK-LABEL: func.func @"task/statistics.0"() attributes {hfta.task = #hfta.task<statistics, 0>} {
// CHECK-DAG: %[[KEPT:.*]] = hfta.constant dense<7.500000e-01> : tensor<3xf32>
// CHECK-DAG: %[[NEW:.*]] = hfta.constant dense<2.500000e-01> : tensor<3xf32>
// CHECK-DAG: %[[RUNNING:.*]] = hfta.read @mean
// CHECK-DAG: %[[BATCH:.*]] = hfta.read @"hfta.batch_statistic/0/mean"
// CHECK-DAG: %[[OLD:.*]] = hfta.mul %[[RUNNING]], %[[KEPT]]
// CHECK-DAG: %[[ADDED:.*]] = hfta.mul %[[BATCH]], %[[NEW]]
// CHECK: %[[BOTH:.*]] = hfta.add %[[OLD]], %[[ADDED]]
// CHECK: hfta.write %[[BOTH]], @mean
// CHECK: hfta.write %{{.*}}, @variance
// CHECK-NOT: func.func @"task/statistics.1"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @variance {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %s = hfta.read @scale : tensor<3xf32, #hfta.copies<2>>
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %m = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      %sb = hfta.broadcast %s to [2, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %xs = hfta.add %x, %sb : tensor<2x3xf32>, tensor<2x3xf32, #hfta.copies<2>>
      %y, %nm, %nv, %nsm, %nsd = hfta.batch_norm %xs, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<2x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>> loc("norm")
      hfta.write %nm, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %nv, @variance : tensor<3xf32, #hfta.copies<2>>
      %t = hfta.tanh %y : tensor<2x3xf32, #hfta.copies<2>>
      return %t : tensor<2x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32> {hfta.name = "x"}) {
      return %x : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<2x3xf32, #hfta.copies<2>>, %x: tensor<2x3xf32>) -> (tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<2x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<2xf32>
      return %0, %1 : tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>
    }
  }
}

// -----

// Two ops update one mean, in their order, and each has a variance. The forward
// writes @kept itself, as it reads it: the next micro-batch must find the value
// that this one has written.
#job = {name = "j", copies = 2 : i64, batch = 6 : i64, micro_batches = 3 : i64, epochs = 1 : i64,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: hfta.read @kept
// CHECK-LABEL: func.func @"task/forward.1"
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK: hfta.write %{{.*}}, @kept
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK-NOT: hfta.write %{{.*}}, @variance
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-LABEL: func.func @"task/statistics.0"
// CHECK-NOT: @kept
// CHECK: hfta.write %{{.*}}, @mean
// CHECK-NOT: @kept
// CHECK-LABEL: func.func @"task/statistics.1"
// CHECK-NOT: @kept
// CHECK-DAG: hfta.read @mean
// CHECK-DAG: hfta.read @variance
// CHECK-DAG: hfta.read @"hfta.batch_statistic/1/mean"
// CHECK-DAG: hfta.write %{{.*}}, @mean
// CHECK-DAG: hfta.write %{{.*}}, @variance
// CHECK-NOT: @kept
// CHECK-LABEL: func.func @"task/update.0"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @variance {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @kept {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %s = hfta.read @scale : tensor<3xf32, #hfta.copies<2>>
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %m = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %k = hfta.read @kept : tensor<3xf32, #hfta.copies<2>>
      %kb = hfta.broadcast %k to [2, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %xk = hfta.add %x, %kb : tensor<2x3xf32>, tensor<2x3xf32, #hfta.copies<2>>
      %y, %nm, %nv, %nsm, %nsd = hfta.batch_norm %xk, %s, %b, %m, %k {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<2x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>> loc("norm")
      hfta.write %nm, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %nv, @kept : tensor<3xf32, #hfta.copies<2>>
      %m2 = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      %z, %om, %ov, %osm, %osd = hfta.batch_norm %y, %s, %b, %m2, %v {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<2x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      hfta.write %om, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %ov, @variance : tensor<3xf32, #hfta.copies<2>>
      return %z : tensor<2x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32> {hfta.name = "x"}) {
      return %x : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<2x3xf32, #hfta.copies<2>>, %x: tensor<2x3xf32>) -> (tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<2x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<2xf32>
      return %0, %1 : tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>
    }
  }
}
