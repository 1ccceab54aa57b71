// RUN: hfta-opt %s -hfta-split-tasks | FileCheck %s -enable-var-scope

// The values of forward.0 that backward.0 needs, op by op. A cheap one that is marked
// so is saved; one that crosses a cut exists anyway, and one that reads what the step
// changes keeps its old value. The rest is recomputed from existing values.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK-DAG: hfta.variable @"hfta.cut/[[CUT:[0-9]+]]" {block = 0 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK-DAG: hfta.variable @"hfta.saved/[[SPILLED:[0-9]+]]" {block = 0 : i64, residency = #hfta.residency<spilled>, role = #hfta.role<saved>}
// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: %[[READ:.*]] = hfta.read @state
// CHECK: hfta.write %[[READ]], @"hfta.saved/[[STATE:[0-9]+]]"
// CHECK: %[[MUL:.*]] = hfta.mul
// CHECK: %[[TANH:.*]] = hfta.tanh
// CHECK: %[[EXP:.*]] = hfta.exp
// CHECK: %[[SOFT:.*]] = hfta.softmax
// CHECK: hfta.write %[[EXP]], @"hfta.cut/
// CHECK: hfta.write %[[MUL]], @"hfta.saved/[[MUL_AT:[0-9]+]]"
// CHECK: hfta.write %[[SOFT]], @"hfta.saved/
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/recompute.0"
// CHECK-NOT: hfta.exp
// CHECK-NOT: hfta.softmax
// CHECK-DAG: %[[AGAIN:.*]] = hfta.tanh
// CHECK-DAG: %[[STATISTIC:.*]] = hfta.sin
// CHECK-DAG: %[[COS:.*]] = hfta.cos
// CHECK-DAG: hfta.write %[[AGAIN]], @"hfta.saved/
// CHECK-DAG: hfta.write %[[STATISTIC]], @"hfta.saved/
// CHECK-DAG: hfta.write %[[COS]], @"hfta.saved/
// CHECK: return
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-NOT: hfta.tanh
// CHECK-NOT: hfta.sin
// CHECK-NOT: hfta.cos
// CHECK-NOT: hfta.softmax
// CHECK-LABEL: func.func @"task/backward.1"
module attributes {hfta.job = #job} {
  hfta.variable @w {block = 0 : i64, role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
  hfta.variable @state {role = #hfta.role<statistics>} : tensor<4x3xf32>
  hfta.variable @frozen {role = #hfta.role<parameter>} : tensor<4x3xf32>
  hfta.variable @"hfta.hyper_parameter/weight_decay" {purpose = #hfta.purpose<hyper_parameter "weight_decay">, role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @"hfta.hyper_parameter/momentum" {purpose = #hfta.purpose<hyper_parameter "momentum">, role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
  hfta.variable @hfta.learning_rate {purpose = #hfta.purpose<learning_rate>, role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
  hfta.variable @x {role = #hfta.role<input>} : tensor<4x3xf32>
  hfta.variable @hfta.loss {purpose = #hfta.purpose<loss>, role = #hfta.role<result>} : tensor<f32, #hfta.copies<2>>
  hfta.variable @"hfta.gradient/w" {block = 0 : i64, purpose = #hfta.purpose<gradient of @w>, role = #hfta.role<gradient>} : tensor<3xf32, #hfta.copies<2>>
  hfta.variable @"hfta.evaluation/loss_sum" {purpose = #hfta.purpose<evaluation_loss>, role = #hfta.role<result>} : tensor<f32, #hfta.copies<2>>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    %x = hfta.read @x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %w = hfta.read @w {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32, #hfta.copies<2>>
    %wb = hfta.broadcast %w to [4, 3] along [1] {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32, #hfta.copies<2>>
    %before = hfta.read @state {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %new = hfta.exp %before {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    hfta.write %new, @state {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %st = hfta.sin %before {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %0 = hfta.mul %x, %wb {hfta.block = 0 : i64, hfta.keep = #hfta.keep<save>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
    %1 = hfta.tanh %0 {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %2 = hfta.exp %1 {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %3 = hfta.softmax %1 along 1 {hfta.block = 0 : i64, hfta.keep = #hfta.keep<spill>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %4 = hfta.cos %3 {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %f = hfta.read @frozen {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %5 = hfta.mul %2, %f {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32>
    %6 = hfta.reduce sum %5 over [0, 1] {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    hfta.write %6, @hfta.loss {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<f32, #hfta.copies<2>>
    %b = hfta.softmax %f along 1 {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32>
    %7 = hfta.mul %b, %2 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
    %8 = hfta.mul %7, %1 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %9 = hfta.mul %8, %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %10 = hfta.mul %9, %3 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %11 = hfta.mul %10, %4 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %12 = hfta.mul %11, %st {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32>
    %13 = hfta.reduce sum %12 over [0] {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>
    hfta.write %13, @"hfta.gradient/w" {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32, #hfta.copies<2>>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    %x = hfta.read @x {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<4x3xf32>
    %w = hfta.read @w {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<3xf32, #hfta.copies<2>>
    %wb = hfta.broadcast %w to [4, 3] along [1] {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<3xf32, #hfta.copies<2>>
    %0 = hfta.mul %x, %wb {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
    %1 = hfta.tanh %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<4x3xf32, #hfta.copies<2>>
    %4 = hfta.reduce sum %1 over [0, 1] {hfta.block = 1 : i64, hfta.part = #hfta.part<evaluate>} : tensor<4x3xf32, #hfta.copies<2>>
    hfta.write %4, @"hfta.evaluation/loss_sum" {hfta.block = 1 : i64, hfta.part = #hfta.part<evaluate>} : tensor<f32, #hfta.copies<2>>
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}
