// RUN: hfta-opt %s -hfta-split-tasks | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s | hfta-opt -hfta-split-tasks | FileCheck %s -enable-var-scope

// Each op goes to its marked task, and loses the mark. A value of its forward
// that a block's backward needs is saved, unless it is cheap to recompute; one
// that another block needs crosses a cut. A constant is made where it is used.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: hfta.variable @frozen {block = 1 : i64
// CHECK: hfta.variable @"hfta.cut/0" {block = 0 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.cut/1" {block = 1 : i64, role = #hfta.role<cut>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK: hfta.variable @"hfta.saved/2" {block = 0 : i64, role = #hfta.role<saved>} : tensor<4x3xf32, #hfta.copies<2>>
// CHECK-NOT: hfta.part
// CHECK-LABEL: func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
// CHECK: %[[HIDDEN:.*]] = hfta.tanh
// CHECK: %[[WIDE:.*]] = hfta.exp %[[HIDDEN]]
// CHECK: hfta.write %[[WIDE]], @"hfta.cut/0"
// CHECK: hfta.write %[[HIDDEN]], @"hfta.saved/2"
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/forward.1"
// CHECK-DAG: hfta.read @frozen
// CHECK-DAG: hfta.read @"hfta.cut/0"
// CHECK: hfta.write %{{.*}}, @hfta.loss
// CHECK-NEXT: return
// CHECK-LABEL: func.func @"task/backward.0"
// CHECK-DAG: hfta.read @"hfta.cut/0"
// CHECK-DAG: hfta.read @"hfta.saved/2"
// CHECK-DAG: hfta.read @"hfta.cut/1"
// CHECK-NOT: hfta.tanh
// CHECK: hfta.write %{{.*}}, @"hfta.gradient/w"
// CHECK-LABEL: func.func @"task/backward.1"
// CHECK: hfta.read @frozen
// CHECK: hfta.constant dense<2.500000e-01>
// CHECK: hfta.write %{{.*}}, @"hfta.cut/1"
// CHECK-LABEL: func.func @"task/update.0"
// CHECK: hfta.write %{{.*}}, @w
// CHECK-LABEL: func.func @"task/init.0"
// CHECK: hfta.write %{{.*}}, @w
// CHECK-LABEL: func.func @"task/init.1"
// CHECK: hfta.write %{{.*}}, @frozen
// CHECK-LABEL: func.func @"task/evaluate.0"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/cut/0"
// CHECK-LABEL: func.func @"task/evaluate.1"
// CHECK: hfta.read @"hfta.evaluation/cut/0"
// CHECK: hfta.write %{{.*}}, @"hfta.evaluation/loss_sum"
// CHECK-LABEL: func.func @"task/infer.0"
// CHECK-NOT: func.func
module attributes {hfta.job = #job} {
  hfta.variable @w {block = 0 : i64, role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
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
    %0 = hfta.mul %x, %wb {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
    %1 = hfta.tanh %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %2 = hfta.exp %1 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %f = hfta.read @frozen {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32>
    %3 = hfta.mul %2, %f {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32>
    %4 = hfta.reduce sum %3 over [0, 1] {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<4x3xf32, #hfta.copies<2>>
    %old = hfta.read @hfta.loss {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<f32, #hfta.copies<2>>
    %5 = hfta.add %old, %4 {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<f32, #hfta.copies<2>>, tensor<f32, #hfta.copies<2>>
    hfta.write %5, @hfta.loss {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<f32, #hfta.copies<2>>
    %c = hfta.constant {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} dense<0.25> : tensor<4x3xf32>
    %6 = hfta.mul %f, %c {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32>, tensor<4x3xf32>
    %e = hfta.cos %6 {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32>
    %b = hfta.mul %3, %e {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32>
    %s = hfta.softmax %b along 1 {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>
    %7 = hfta.mul %s, %2 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %8 = hfta.mul %7, %1 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
    %9 = hfta.reduce sum %8 over [0] {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<4x3xf32, #hfta.copies<2>>
    %g = hfta.read @"hfta.gradient/w" {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32, #hfta.copies<2>>
    %10 = hfta.add %g, %9 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
    hfta.write %10, @"hfta.gradient/w" {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32, #hfta.copies<2>>
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
