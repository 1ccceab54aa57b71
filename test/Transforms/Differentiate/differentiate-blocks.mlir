// RUN: hfta-opt %s -split-input-file -hfta-plan-pipeline=cuts=hidden -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// A parameter lies in the block of the layer that uses it, its gradient and
// optimizer state too; what crosses the cut, forward or backward, is a cut
// variable of the block that computes it.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @w {block = 0 : i64
// CHECK: hfta.variable @bias {block = 1 : i64
// CHECK-DAG: hfta.variable @"hfta.gradient/w" {block = 0 : i64
// CHECK-DAG: hfta.variable @"hfta.gradient/bias" {block = 1 : i64
// CHECK: hfta.variable @"hfta.cut/0" {block = 0 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.saved/1" {block = 1 : i64, role = #hfta.role<saved>} : tensor<4xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.saved/2" {block = 1 : i64, role = #hfta.role<saved>} : tensor<4xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.cut/3" {block = 1 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK-DAG: hfta.variable @"hfta.velocity/w" {block = 0 : i64
// CHECK-DAG: hfta.variable @"hfta.velocity/bias" {block = 1 : i64

// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: %[[HIDDEN:.*]] = hfta.tanh
// CHECK: hfta.write %[[HIDDEN]], @"hfta.cut/0"
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/forward.1"
// CHECK-DAG: hfta.read @"hfta.cut/0"
// CHECK-DAG: hfta.read @bias
// CHECK: hfta.write %{{.*}}, @hfta.loss
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: hfta.read @"hfta.cut/3"
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w"
// CHECK-NEXT: hfta.layer other @w
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/backward.1"
// CHECK: hfta.write %{{.*}}, @"hfta.cut/3"
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/bias"
// CHECK-LABEL: func.func @"task/update.0"
// CHECK: hfta.write %{{.*}}, @w
// CHECK-NOT: @bias
// CHECK-LABEL: func.func @"task/update.1"
// CHECK: hfta.write %{{.*}}, @bias

// Each block's variables are initialised by its task.
// CHECK-LABEL: func.func @"task/init.0"() attributes {hfta.task = #hfta.task<init, 0>} {
// CHECK: hfta.write %{{.*}}, @w :
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/init.1"() attributes {hfta.task = #hfta.task<init, 1>} {
// CHECK: hfta.write %{{.*}}, @bias :
// CHECK-NEXT: return

// An evaluation is cut where a step is.
// CHECK-LABEL: func.func @"task/evaluate.0"() attributes {hfta.task = #hfta.task<evaluate, 0>} {
// CHECK-NOT: @bias
// CHECK: %[[HIDDEN:.*]] = hfta.tanh
// CHECK: hfta.write %[[HIDDEN]], @"hfta.evaluation/cut/0"
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/evaluate.1"() attributes {hfta.task = #hfta.task<evaluate, 1>} {
// CHECK-NOT: @w
// CHECK-DAG: hfta.read @bias
// CHECK-DAG: hfta.read @"hfta.evaluation/cut/0"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/loss_sum"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/weight_sum"
// CHECK-LABEL: func.func @"task/infer.0"() attributes {hfta.task = #hfta.task<infer, 0>} {
// CHECK: hfta.tanh
// CHECK: hfta.log_softmax
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %bb = hfta.broadcast %b to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.tanh %0 : tensor<4x3xf32, #hfta.copies<2>> loc("hidden")
      %2 = hfta.add %1, %bb : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
      %3:3 = hfta.log_softmax %2 along 1 : tensor<4x3xf32, #hfta.copies<2>>
      return %3#0 : tensor<4x3xf32, #hfta.copies<2>>
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

// -----

// A weight that two blocks use belongs to the first: its backward comes last
// and adds what the second one's left in a cut variable. The second one reads
// what the first ends with, the result of tanh, and so computes the derivative:
// the first needn't have that result.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @w {block = 0 : i64
// CHECK-DAG: hfta.variable @"hfta.gradient/w" {block = 0 : i64
// CHECK: hfta.variable @"hfta.cut/[[$RESULT:.*]]" {block = 0 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-NOT: hfta.read @"hfta.cut/[[$RESULT]]"
// CHECK: %[[EARLY:.*]] = hfta.reduce sum %{{.*}} over [0]
// CHECK: %[[LATE:.*]] = hfta.read @[[$CUT:.*]] : tensor<3xf32, #hfta.copies<2>>
// CHECK: %[[SUM:.*]] = hfta.add %[[EARLY]], %[[LATE]]
// CHECK: %[[OLD:.*]] = hfta.read @"hfta.gradient/w"
// CHECK: %[[NEW:.*]] = hfta.add %[[OLD]], %[[SUM]]
// CHECK: hfta.write %[[NEW]], @"hfta.gradient/w"
// CHECK-LABEL: func.func @"task/backward.1"
// CHECK: %[[OUTER:.*]] = hfta.contract
// CHECK: %[[RESULT:.*]] = hfta.read @"hfta.cut/[[$RESULT]]"
// CHECK: %[[SQUARE:.*]] = hfta.mul %[[RESULT]], %[[RESULT]]
// CHECK: %[[SLOPE:.*]] = hfta.sub %{{.*}}, %[[SQUARE]]
// CHECK: %[[INNER:.*]] = hfta.mul %[[OUTER]], %[[SLOPE]]
// CHECK: %[[LATE:.*]] = hfta.contract %[[RESULT]],
// CHECK-DAG: hfta.write %[[INNER]], @"hfta.cut/
// CHECK-DAG: hfta.write %[[LATE]], @[[$CUT]]
// CHECK: hfta.layer dense @w input
// CHECK-NOT: @"hfta.gradient/w"
// CHECK-LABEL: func.func @"task/update.0"
// CHECK-LABEL: func.func @"task/infer.0"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %a = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %ab = hfta.broadcast %a to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %ab : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.tanh %0 : tensor<4x3xf32, #hfta.copies<2>> loc("hidden")
      %b = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %2 = hfta.contract %1, %b maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>] : tensor<4x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      return %2 : tensor<4x3xf32, #hfta.copies<2>>
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

// -----

// A value that isn't trained belongs to the first block that reads it, and so do its
// initial elements; one that no block reads is initialised in the first. The sums of
// an evaluation are the last block's, and so are the values that only they use.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>, metrics = [{name = "accuracy"}, {name = "f1", kind = "f1"}]}
// CHECK: hfta.variable @w {block = 0 : i64
// CHECK: hfta.variable @frozen {block = 1 : i64
// CHECK: hfta.variable @unread {role
// CHECK: hfta.variable @"hfta.initial/frozen" {block = 1 : i64
// CHECK-LABEL: func.func @"task/init.0"
// CHECK: hfta.write %{{.*}}, @w :
// CHECK-NEXT: hfta.write %{{.*}}, @unread :
// CHECK-LABEL: func.func @"task/init.1"
// CHECK: hfta.read @"hfta.initial/frozen"
// CHECK: hfta.write %{{.*}}, @frozen :
// CHECK-LABEL: func.func @"task/evaluate.0"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/cut/0"
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/evaluate.1"
// CHECK: hfta.reduce max
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/loss_sum"
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/metric/accuracy/sums"
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/metric/weight_sums"
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/metric/f1/labels"
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/metric/f1/guesses"
// CHECK-DAG: hfta.write %{{.*}}, @"hfta.evaluation/metric/weights"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @frozen {role = #hfta.role<parameter>, initial = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : tensor<3xf32>
    hfta.variable @unread {role = #hfta.role<parameter>} : tensor<3xf32>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}, tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "z"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %f = hfta.read @frozen : tensor<3xf32>
      %fb = hfta.broadcast %f to [4, 3] along [1] : tensor<3xf32>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.tanh %0 : tensor<4x3xf32, #hfta.copies<2>> loc("hidden")
      %2 = hfta.mul %1, %fb : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32>
      return %2, %0 : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %z: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      %2 = hfta.reduce max %z over [1] : tensor<4x3xf32, #hfta.copies<2>>
      return %0, %1, %2, %1, %2 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
    }
  }
}
