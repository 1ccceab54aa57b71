// RUN: hfta-opt %s -split-input-file -hfta-differentiate -hfta-split-tasks -canonicalize -cse | FileCheck %s -enable-var-scope

// A weight read twice has one gradient, the sum of both. A value that backward
// needs is saved (tanh) unless it is cheap to compute from values that exist
// (neg, the broadcast).
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "adam"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "beta1", values = array<f64: 0.9, 0.9>},
  {name = "beta2", values = array<f64: 0.99, 0.99>},
  {name = "eps", values = array<f64: 1.0e-8, 1.0e-8>}], clip_norm = array<f64: 1.0, 2.0>,
  seed = array<i64: 1, 2>}
// CHECK-NOT: hfta.model
// CHECK: hfta.variable @w {block = 0 : i64, {{.*}}role = #hfta.role<parameter>, trained}
// CHECK: hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
// CHECK: hfta.variable @hfta.seed {initial = dense<[1, 2]> : tensor<2xi64>, purpose = #hfta.purpose<seed>, role = #hfta.role<scalar>} : tensor<i64, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.learning_rate {initial = dense<[1.000000e-01, 2.000000e-01]> : tensor<2xf64>, purpose = #hfta.purpose<learning_rate>, role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.clip_norm {initial = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>, purpose = #hfta.purpose<clip_norm>, role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
// CHECK: hfta.variable @hfta.clip_scale {purpose = #hfta.purpose<clip_scale>, role = #hfta.role<output>}
// CHECK: hfta.variable @"hfta.input/x" {instances = 2 : i64, purpose = #hfta.purpose<field "x">, role = #hfta.role<input>} : tensor<4x3xf32>
// CHECK: hfta.variable @hfta.loss {purpose = #hfta.purpose<loss>, role = #hfta.role<result>} : tensor<f32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.gradient/w" {block = 0 : i64, purpose = #hfta.purpose<gradient of @w>, role = #hfta.role<gradient>} : tensor<3xf32, #hfta.copies<2>>
// CHECK-NOT: hfta.variable @"hfta.gradient/
// CHECK: hfta.variable @"hfta.saved/0" {block = 0 : i64, role = #hfta.role<saved>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK-NOT: hfta.variable @"hfta.saved/
// CHECK: hfta.variable @"hfta.norm/w" {purpose = #hfta.purpose<norm of @w>, role = #hfta.role<output>} : tensor<f64, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.first_moment/w" {block = 0 : i64, purpose = #hfta.purpose<state "first_moment" of @w>, role = #hfta.role<optimizer_state>}
// CHECK: hfta.variable @"hfta.second_moment/w" {block = 0 : i64, purpose = #hfta.purpose<state "second_moment" of @w>, role = #hfta.role<optimizer_state>}

// CHECK-LABEL: func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
// CHECK: %[[SCALE:.*]] = hfta.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[TANH:.*]] = hfta.tanh
// CHECK: %[[SUM:.*]] = hfta.reduce sum %{{.*}} over [0] : tensor<4xf32, #hfta.copies<2>>
// CHECK: %[[MEAN:.*]] = hfta.mul %[[SUM]], %[[SCALE]]
// CHECK: %[[OLD:.*]] = hfta.read @hfta.loss
// CHECK: %[[NEW:.*]] = hfta.add %[[OLD]], %[[MEAN]]
// CHECK: hfta.write %[[NEW]], @hfta.loss
// CHECK: hfta.write %[[TANH]], @"hfta.saved/0"
// CHECK-NEXT: return

// CHECK-LABEL: func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
// CHECK-NOT: hfta.tanh
// CHECK: %[[LATE:.*]] = hfta.reduce sum %{{.*}} over [0]
// CHECK: hfta.neg
// CHECK: %[[EARLY:.*]] = hfta.reduce sum %{{.*}} over [0]
// CHECK: %[[GRADIENT:.*]] = hfta.add %[[EARLY]], %[[LATE]]
// CHECK: %[[OLD:.*]] = hfta.read @"hfta.gradient/w"
// CHECK: %[[NEW:.*]] = hfta.add %[[OLD]], %[[GRADIENT]]
// CHECK: hfta.write %[[NEW]], @"hfta.gradient/w"
// CHECK-NEXT: hfta.layer other @w
// CHECK: return

// CHECK-LABEL: func.func @"task/norm.0"() attributes {hfta.task = #hfta.task<norm, 0>} {
// CHECK: %[[G:.*]] = hfta.read @"hfta.gradient/w"
// CHECK: %[[WIDE:.*]] = hfta.cast %[[G]] : {{.*}} to f64
// CHECK: %[[SQUARE:.*]] = hfta.mul %[[WIDE]], %[[WIDE]]
// CHECK: %[[NORM:.*]] = hfta.reduce sum %[[SQUARE]] over [0]
// CHECK: hfta.write %[[NORM]], @"hfta.norm/w"

// CHECK-LABEL: func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>} {
// CHECK: hfta.read @hfta.clip_scale
// CHECK: hfta.read @hfta.learning_rate
// CHECK: %[[NEW:.*]]:3 = hfta.optimizer_update "adam" given []
// CHECK: hfta.write %[[NEW]]#0, @w
// CHECK: hfta.write %[[NEW]]#1, @"hfta.first_moment/w"
// CHECK: hfta.write %[[NEW]]#2, @"hfta.second_moment/w"
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w" : tensor<3xf32>

// CHECK-LABEL: func.func @"task/clip"() attributes {hfta.task = #hfta.task<clip, -1>} {
// CHECK: %[[SQUARES:.*]] = hfta.read @"hfta.norm/w"
// CHECK: %[[LIMIT:.*]] = hfta.read @hfta.clip_norm
// CHECK: %[[ROOT:.*]] = hfta.sqrt %[[SQUARES]]
// CHECK: %[[ABOVE:.*]] = hfta.add %[[ROOT]]
// CHECK: %[[SCALE:.*]] = hfta.div %[[LIMIT]], %[[ABOVE]]
// CHECK: %[[OVER:.*]] = hfta.compare greater, %[[SCALE]]
// CHECK: %[[AT_MOST_ONE:.*]] = hfta.select %[[OVER]], %{{.*}}, %[[SCALE]]
// CHECK: %[[NONE:.*]] = hfta.compare equal, %[[LIMIT]]
// CHECK: %[[RESULT:.*]] = hfta.select %[[NONE]], %{{.*}}, %[[AT_MOST_ONE]]
// CHECK: hfta.write %[[RESULT]], @hfta.clip_scale

// CHECK-LABEL: func.func @"task/init.0"() attributes {hfta.task = #hfta.task<init, 0>} {
// CHECK: %[[SEED:.*]] = hfta.read @hfta.seed
// CHECK: hfta.random_uniform %[[SEED]], {{.*}} [3] stream
// CHECK: hfta.write %{{.*}}, @w
// CHECK-NOT: hfta.write

// Padding after the real samples is masked.
// CHECK-LABEL: func.func @"task/evaluate.0"() attributes {hfta.task = #hfta.task<evaluate, 0>} {
// CHECK: %[[COUNT:.*]] = hfta.read @hfta.valid_samples
// CHECK: %[[LIMIT:.*]] = hfta.broadcast %[[COUNT]]
// CHECK: %[[MASK:.*]] = hfta.compare less, %{{.*}}, %[[LIMIT]]
// CHECK: hfta.select %[[MASK]]
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/loss_sum"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/weight_sum"

// CHECK-LABEL: func.func @"task/infer.0"() attributes {hfta.task = #hfta.task<infer, 0>} {
// CHECK: hfta.read @"hfta.infer/x"
// CHECK: hfta.write %{{.*}}, @"hfta.output/y"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<-1.0 : f32, 1.0 : f32>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %a = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %ab = hfta.broadcast %a to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.neg %x : tensor<4x3xf32>
      %1 = hfta.mul %0, %ab : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      %2 = hfta.tanh %1 : tensor<4x3xf32, #hfta.copies<2>>
      %b = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %bb = hfta.broadcast %b to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %3 = hfta.mul %2, %bb : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
      return %3 : tensor<4x3xf32, #hfta.copies<2>>
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

// Losses with weights are averaged over what counts. Running statistics are
// written by a task of their own alone.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK-NOT: hfta.write %{{.*}}, @variance
// CHECK: hfta.batch_norm {{.*}}training
// CHECK: %[[WEIGHTED:.*]] = hfta.mul %{{.*}}, %[[LABEL:.*]] :
// CHECK: %[[TOTAL:.*]] = hfta.reduce sum %[[WEIGHTED]] over [0]
// CHECK: %[[COUNT:.*]] = hfta.reduce sum %[[LABEL]] over [0]
// CHECK: %[[LOSS:.*]] = hfta.div %[[TOTAL]], %[[COUNT]]
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK-NOT: hfta.write %{{.*}}, @variance
// CHECK-LABEL: func.func @"task/statistics.0"() attributes {hfta.task = #hfta.task<statistics, 0>} {
// CHECK-DAG: hfta.write %{{.*}}, @mean
// CHECK-DAG: hfta.write %{{.*}}, @variance
// CHECK-LABEL: func.func @"task/update.0"
// CHECK-LABEL: func.func @"task/evaluate.0"
// CHECK-NOT: training
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK: hfta.batch_norm
// CHECK-NOT: training
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK-LABEL: func.func @"task/infer.0"
// CHECK-NOT: training
// CHECK-NOT: hfta.write %{{.*}}, @mean
// CHECK: hfta.write %{{.*}}, @"hfta.output/y"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @variance {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %s = hfta.read @scale : tensor<3xf32, #hfta.copies<2>>
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %m = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      %y, %nm, %nv, %sm, %sd = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, unbiased} : tensor<4x3xf32>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      hfta.write %nm, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %nv, @variance : tensor<3xf32, #hfta.copies<2>>
      return %y : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}, %l: tensor<4xf32> {hfta.name = "label"}) -> (tensor<4x3xf32> {hfta.name = "x"}, tensor<4xf32> {hfta.name = "label"}) {
      return %x, %l : tensor<4x3xf32>, tensor<4xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>, %l: tensor<4xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      return %0, %l : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}

// -----

// Two micro-batches: the loss is scaled by 1 over the whole batch; with all
// forwards first every one in flight has saved values of its own.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 2 : i64, epochs = 1 : i64,
  all_forwards_first = true, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @"hfta.input/x" {instances = 3 : i64, purpose = #hfta.purpose<field "x">, role = #hfta.role<input>} : tensor<2xf32>
// CHECK: hfta.variable @"hfta.saved/0" {block = 0 : i64, instances = 2 : i64, role = #hfta.role<saved>}
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: %[[SCALE:.*]] = hfta.constant dense<2.500000e-01>
// CHECK: %[[SUM:.*]] = hfta.reduce sum
// CHECK: hfta.mul %[[SUM]], %[[SCALE]]
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<f32, #hfta.copies<2>>
    func.func @forward(%x: tensor<2xf32> {hfta.name = "x"}) -> (tensor<2xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %0 = hfta.read @w : tensor<f32, #hfta.copies<2>>
      %1 = hfta.broadcast %0 to [2] along [] : tensor<f32, #hfta.copies<2>>
      %2 = hfta.mul %x, %1 : tensor<2xf32>, tensor<2xf32, #hfta.copies<2>>
      %3 = hfta.exp %2 : tensor<2xf32, #hfta.copies<2>>
      return %3 : tensor<2xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<2xf32> {hfta.name = "x"}) -> (tensor<2xf32> {hfta.name = "x"}) {
      return %x : tensor<2xf32>
    }
    func.func @objective(%y: tensor<2xf32, #hfta.copies<2>>, %x: tensor<2xf32>) -> (tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>) {
      %1 = hfta.constant dense<1.0> : tensor<2xf32>
      return %y, %1 : tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>
    }
  }
}

// -----

// Without fusion the loss is computed in the same way, and every copy's
// gradient is added to its copy of the variable.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, fuse = false,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: %[[SCALE:.*]] = hfta.constant dense<2.500000e-01>
// CHECK-NOT: hfta.div
// CHECK: %[[SUM:.*]] = hfta.reduce sum %{{.*}} over [0] : tensor<4xf32, #hfta.copies<2>>
// CHECK-NEXT: hfta.mul %[[SUM]], %[[SCALE]]
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: hfta.read @"hfta.gradient/w" copy 1 : tensor<f32>
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w" copy 1 : tensor<f32>
// CHECK: hfta.read @"hfta.gradient/w" copy 0 : tensor<f32>
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w" copy 0 : tensor<f32>
// CHECK-LABEL: func.func @"task/update.0"
// CHECK: hfta.read @hfta.learning_rate copy 0
// CHECK: hfta.write %{{.*}}, @w copy 0
// CHECK: hfta.read @hfta.learning_rate copy 1
// CHECK: hfta.write %{{.*}}, @w copy 1
// CHECK-LABEL: func.func @"task/infer.0"
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<f32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4xf32> {hfta.name = "x"}) -> (tensor<4xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %a = hfta.read @w copy 0 : tensor<f32>
      %ab = hfta.broadcast %a to [4] along [] : tensor<f32>
      %0 = hfta.mul %x, %ab : tensor<4xf32>, tensor<4xf32>
      %b = hfta.read @w copy 1 : tensor<f32>
      %bb = hfta.broadcast %b to [4] along [] : tensor<f32>
      %1 = hfta.mul %x, %bb : tensor<4xf32>, tensor<4xf32>
      %2 = hfta.stack %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
      return %2 : tensor<4xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4xf32> {hfta.name = "x"}) -> (tensor<4xf32> {hfta.name = "x"}) {
      return %x : tensor<4xf32>
    }
    func.func @objective(%y: tensor<4xf32, #hfta.copies<2>>, %x: tensor<4xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>) {
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      %2 = hfta.stack %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
      return %y, %2 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
    }
  }
}

// -----

// An inference binary has infer, and init if there is something to initialise;
// modal ops stay as they are.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, training = false,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK-NOT: func.func
// CHECK: func.func @"task/infer.0"
// CHECK: hfta.dropout {{.*}} {training}
// CHECK-NOT: func.func
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4xf32> {hfta.name = "x"}, %rate: tensor<f32> {hfta.name = "rate"}, %u: tensor<4xf32> {hfta.name = "u"}) -> (tensor<4xf32> {hfta.name = "y"}) {
      %0 = hfta.dropout %x, %rate, %u {training} : tensor<4xf32>, tensor<f32>, tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}
