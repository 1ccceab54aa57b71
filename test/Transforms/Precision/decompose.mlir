// RUN: hfta-opt %s -hfta-decompose -canonicalize -cse | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x4xf32>
func.func @softmax(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: %[[M:.*]] = hfta.reduce max %[[X]] over [1]
  // CHECK: %[[MB:.*]] = hfta.broadcast %[[M]] to [6, 4] along [0]
  // CHECK: %[[D:.*]] = hfta.sub %[[X]], %[[MB]]
  // CHECK: %[[E:.*]] = hfta.exp %[[D]]
  // CHECK: %[[S:.*]] = hfta.reduce sum %[[E]] over [1]
  // CHECK: %[[I:.*]] = hfta.div %{{.*}}, %[[S]] : tensor<6xf32>
  // CHECK: %[[IB:.*]] = hfta.broadcast %[[I]] to [6, 4] along [0]
  // CHECK: %[[R:.*]] = hfta.mul %[[E]], %[[IB]]
  // CHECK: return %[[R]]
  %0 = hfta.softmax %x along 1 : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// The maximum and the sum's logarithm are subtracted one after the other. They
// are results, too.
// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x4xf32, #hfta.copies<2>>
func.func @log_softmax(%x: tensor<6x4xf32, #hfta.copies<2>>) -> (tensor<6x4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>) {
  // CHECK: %[[M:.*]] = hfta.reduce max %[[X]] over [0]
  // CHECK: %[[D:.*]] = hfta.sub %[[X]]
  // CHECK: %[[E:.*]] = hfta.exp %[[D]]
  // CHECK: %[[S:.*]] = hfta.reduce sum %[[E]] over [0]
  // CHECK: %[[L:.*]] = hfta.log %[[S]]
  // CHECK: %[[LB:.*]] = hfta.broadcast %[[L]] to [6, 4] along [1]
  // CHECK: %[[R:.*]] = hfta.sub %[[D]], %[[LB]]
  // CHECK: return %[[R]], %[[M]], %[[L]]
  %0, %1, %2 = hfta.log_softmax %x along 0 : tensor<6x4xf32, #hfta.copies<2>>
  return %0, %1, %2 : tensor<6x4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @cumulative_sum(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>
func.func @cumulative_sum(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: %[[K:.*]] = hfta.slice %[[X]] from [0, 0] size [2, 2]
  // CHECK: %[[P:.*]] = hfta.pad %[[K]] low [0, 1] high [0, 0]
  // CHECK: %[[A:.*]] = hfta.add %[[X]], %[[P]]
  // CHECK: %[[K:.*]] = hfta.slice %[[A]] from [0, 0] size [2, 1]
  // CHECK: %[[P:.*]] = hfta.pad %[[K]] low [0, 2] high [0, 0]
  // CHECK: %[[B:.*]] = hfta.add %[[A]], %[[P]]
  %0 = hfta.cumulative_sum %x along 1 : tensor<2x3xf32>
  // The gradient of an exclusive one: steps from the longest, and the shift last.
  // CHECK: %[[K:.*]] = hfta.slice %[[X]] from [0, 2] size [2, 1]
  // CHECK: %[[P:.*]] = hfta.pad %[[K]] low [0, 0] high [0, 2]
  // CHECK: %[[A:.*]] = hfta.add %[[X]], %[[P]]
  // CHECK: %[[K:.*]] = hfta.slice %[[A]] from [0, 1] size [2, 2]
  // CHECK: %[[P:.*]] = hfta.pad %[[K]] low [0, 0] high [0, 1]
  // CHECK: %[[C:.*]] = hfta.add %[[A]], %[[P]]
  // CHECK: %[[K:.*]] = hfta.slice %[[C]] from [0, 1] size [2, 2]
  // CHECK: %[[D:.*]] = hfta.pad %[[K]] low [0, 0] high [0, 1]
  // CHECK: return %[[B]], %[[D]]
  %1 = hfta.cumulative_sum %x along 1 {reverse, exclusive, falling} : tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @batch_norm_inference(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x3x2xf32>, %[[S:[a-z0-9]+]]: tensor<3xf32>, %[[B:[a-z0-9]+]]: tensor<3xf32>, %[[M:[a-z0-9]+]]: tensor<3xf32>, %[[V:[a-z0-9]+]]: tensor<3xf32>)
func.func @batch_norm_inference(%x: tensor<5x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>,
    %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK-DAG: %[[EPSILON:.*]] = hfta.constant dense<9.99999974E-6> : tensor<3xf32>
  // CHECK-DAG: %[[MB:.*]] = hfta.broadcast %[[M]] to [5, 3, 2] along [1]
  // CHECK-DAG: %[[C:.*]] = hfta.sub %[[X]], %[[MB]]
  // CHECK-DAG: %[[VE:.*]] = hfta.add %[[V]], %[[EPSILON]]
  // CHECK-DAG: %[[I:.*]] = hfta.rsqrt %[[VE]]
  // CHECK-DAG: %[[F:.*]] = hfta.mul %[[I]], %[[S]]
  // CHECK-DAG: %[[FB:.*]] = hfta.broadcast %[[F]] to [5, 3, 2] along [1]
  // CHECK-DAG: %[[BB:.*]] = hfta.broadcast %[[B]] to [5, 3, 2] along [1]
  // CHECK-DAG: %[[P:.*]] = hfta.mul %[[C]], %[[FB]]
  // CHECK-DAG: %[[R:.*]] = hfta.add %[[P]], %[[BB]]
  // CHECK: return %[[R]], %[[M]], %[[V]]
  %0:5 = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
      : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0#0, %0#1, %0#2 : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>
}

// Without running statistics the new ones are the batch's, here 10 / 9 of the mean
// of squared deviations.
// A frozen one normalizes with the running statistics in training, too.
// CHECK-LABEL: func.func @batch_norm_frozen(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x3x2xf32>, %{{.*}}, %{{.*}}, %[[M:[a-z0-9]+]]: tensor<3xf32>, %[[V:[a-z0-9]+]]: tensor<3xf32>)
func.func @batch_norm_frozen(%x: tensor<5x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>,
    %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK-NOT: hfta.reduce
  // CHECK: %[[B:.*]] = hfta.broadcast %[[M]]
  // CHECK: hfta.sub %[[X]], %[[B]]
  // CHECK: return %{{.*}}, %[[M]], %[[V]]
  %0:5 = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, hfta.frozen, momentum = 0.9 : f64, training, unbiased}
      : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0#0, %0#1, %0#2 : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
func.func @stop_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = hfta.neg %[[X]]
  // CHECK-NEXT: return %[[R]]
  %0 = hfta.stop_gradient %x : tensor<4xf32>
  %1 = hfta.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @batch_norm_of_batch(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x3x2xf32>
func.func @batch_norm_of_batch(%x: tensor<5x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK-DAG: %[[COUNT:.*]] = hfta.constant dense<1.000000e+01> : tensor<3xf32>
  // CHECK-DAG: %[[FACTOR:.*]] = hfta.constant dense<1.11111116> : tensor<3xf32>
  // CHECK: %[[SUM:.*]] = hfta.reduce sum %[[X]] over [0, 2]
  // CHECK: %[[MEAN:.*]] = hfta.div %[[SUM]], %[[COUNT]]
  // CHECK: %[[SQUARES:.*]] = hfta.reduce sum %{{.*}} over [0, 2]
  // CHECK: %[[POPULATION:.*]] = hfta.div %[[SQUARES]], %[[COUNT]]
  // CHECK: %[[VARIANCE:.*]] = hfta.mul %[[POPULATION]], %[[FACTOR]]
  // CHECK: return %[[MEAN]], %[[VARIANCE]], %[[MEAN]]
  %0:5 = hfta.batch_norm %x, %s, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training, unbiased}
      : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>
  return %0#1, %0#2, %0#3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// The variance is the mean of squared deviations; the running one moves
// towards n / (n - 1) of it, here 10 / 9, in its own type.
// CHECK-LABEL: func.func @batch_norm_training(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x3x2xf32>, %{{[a-z0-9]+}}: tensor<3xf32>, %{{[a-z0-9]+}}: tensor<3xf32>, %{{[a-z0-9]+}}: tensor<3xf64>, %[[V:[a-z0-9]+]]: tensor<3xf64>)
func.func @batch_norm_training(%x: tensor<5x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>,
    %m: tensor<3xf64>, %v: tensor<3xf64>) -> tensor<3xf64> {
  // CHECK-DAG: %[[COUNT:.*]] = hfta.constant dense<1.000000e+01> : tensor<3xf32>
  // CHECK-DAG: %[[FACTOR:.*]] = hfta.constant dense<1.11111116> : tensor<3xf32>
  // CHECK-DAG: %[[KEEP:.*]] = hfta.constant dense<9.000000e-01> : tensor<3xf64>
  // CHECK: %[[SUM:.*]] = hfta.reduce sum %[[X]] over [0, 2]
  // CHECK: %[[MEAN:.*]] = hfta.div %[[SUM]], %[[COUNT]]
  // CHECK: %[[MB:.*]] = hfta.broadcast %[[MEAN]]
  // CHECK: %[[C:.*]] = hfta.sub %[[X]], %[[MB]]
  // CHECK: %[[SQUARE:.*]] = hfta.mul %[[C]], %[[C]]
  // CHECK: %[[TOTAL:.*]] = hfta.reduce sum %[[SQUARE]] over [0, 2]
  // CHECK: %[[VARIANCE:.*]] = hfta.div %[[TOTAL]], %[[COUNT]]
  // CHECK-DAG: %[[UNBIASED:.*]] = hfta.mul %[[VARIANCE]], %[[FACTOR]]
  // CHECK-DAG: %[[OLD:.*]] = hfta.mul %[[V]], %[[KEEP]] : tensor<3xf64>, tensor<3xf64>
  // CHECK-DAG: %[[WIDE:.*]] = hfta.cast %[[UNBIASED]] : tensor<3xf32> to f64
  // CHECK-DAG: %[[NEW:.*]] = hfta.mul %[[WIDE]],
  // CHECK: %[[R:.*]] = hfta.add %[[OLD]], %[[NEW]]
  // CHECK: return %[[R]]
  %0:5 = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, training, unbiased}
      : tensor<5x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>, tensor<3xf64>
  return %0#2 : tensor<3xf64>
}

// CHECK-LABEL: func.func @dropout_inference(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6xf32>
func.func @dropout_inference(%x: tensor<6xf32>, %rate: tensor<f32>, %u: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = hfta.dropout %x, %rate, %u : tensor<6xf32>, tensor<f32>, tensor<6xf32>
  return %0 : tensor<6xf32>
}

// The result is arrayed because the rate is.
// CHECK-LABEL: func.func @dropout_inference_arrayed(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6xf32>
func.func @dropout_inference_arrayed(%x: tensor<6xf32>, %rate: tensor<f32, #hfta.copies<2>>, %u: tensor<6xf32>)
    -> tensor<6xf32, #hfta.copies<2>> {
  // CHECK-NEXT: hfta.stack %[[X]], %[[X]]
  %0 = hfta.dropout %x, %rate, %u : tensor<6xf32>, tensor<f32, #hfta.copies<2>>, tensor<6xf32>
  return %0 : tensor<6xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @dropout_training(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6xf32>, %[[RATE:[a-z0-9]+]]: tensor<f32, #hfta.copies<2>>, %[[U:[a-z0-9]+]]: tensor<6xf32>
func.func @dropout_training(%x: tensor<6xf32>, %rate: tensor<f32, #hfta.copies<2>>, %u: tensor<6xf32>)
    -> tensor<6xf32, #hfta.copies<2>> {
  // CHECK-DAG: %[[ONE:.*]] = hfta.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[ZERO:.*]] = hfta.constant dense<0.000000e+00> : tensor<6xf32>
  // CHECK: %[[KEPT:.*]] = hfta.sub %[[ONE]], %[[RATE]]
  // CHECK: %[[F:.*]] = hfta.div %[[ONE]], %[[KEPT]]
  // CHECK: %[[RB:.*]] = hfta.broadcast %[[RATE]] to [6] along []
  // CHECK: %[[DROPPED:.*]] = hfta.compare less, %[[U]], %[[RB]]
  // CHECK: %[[FB:.*]] = hfta.broadcast %[[F]] to [6] along []
  // CHECK: %[[P:.*]] = hfta.mul %[[X]], %[[FB]]
  // CHECK: hfta.select %[[DROPPED]], %[[ZERO]], %[[P]]
  %0 = hfta.dropout %x, %rate, %u {training} : tensor<6xf32>, tensor<f32, #hfta.copies<2>>, tensor<6xf32>
  return %0 : tensor<6xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @sgd(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4xf32>, %[[G:[a-z0-9]+]]: tensor<4xf32>, %[[V:[a-z0-9]+]]: tensor<4xf32>, %[[RATE:[a-z0-9]+]]: tensor<f64>, %[[DECAY:[a-z0-9]+]]: tensor<f64>, %[[MOMENTUM:[a-z0-9]+]]: tensor<f64>)
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %v: tensor<4xf32>, %rate: tensor<f64>,
    %decay: tensor<f64>, %momentum: tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[M32:.*]] = hfta.cast %[[MOMENTUM]] : tensor<f64> to f32
  // CHECK-DAG: %[[MB:.*]] = hfta.broadcast %[[M32]] to [4] along []
  // CHECK-DAG: %[[D32:.*]] = hfta.cast %[[DECAY]] : tensor<f64> to f32
  // CHECK-DAG: %[[DB:.*]] = hfta.broadcast %[[D32]] to [4] along []
  // CHECK-DAG: %[[DP:.*]] = hfta.mul %[[DB]], %[[P]]
  // CHECK-DAG: %[[DECAYED:.*]] = hfta.add %[[G]], %[[DP]]
  // CHECK-DAG: %[[OLD:.*]] = hfta.mul %[[V]], %[[MB]]
  // CHECK-DAG: %[[NEW:.*]] = hfta.add %[[OLD]], %[[DECAYED]]
  // CHECK-DAG: %[[MINUS:.*]] = hfta.neg %[[RATE]]
  // CHECK-DAG: %[[R32:.*]] = hfta.cast %[[MINUS]] : tensor<f64> to f32
  // CHECK-DAG: %[[RB:.*]] = hfta.broadcast %[[R32]] to [4] along []
  // CHECK-DAG: %[[STEP:.*]] = hfta.mul %[[RB]], %[[NEW]]
  // CHECK-DAG: %[[RESULT:.*]] = hfta.add %[[P]], %[[STEP]]
  // CHECK: return %[[RESULT]], %[[NEW]]
  %0:2 = hfta.optimizer_update "sgd" given [] %p, %g, %v, %rate, %momentum, %decay
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Bias corrections are computed in f64 on scalars.
// CHECK-LABEL: func.func @adam(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4xf32>, %[[G:[a-z0-9]+]]: tensor<4xf32>, %[[M:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: tensor<i64>)
func.func @adam(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %rate: tensor<f64>,
    %decay: tensor<f64>, %beta1: tensor<f64>, %beta2: tensor<f64>, %epsilon: tensor<f64>, %step: tensor<i64>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[DONE:.*]] = hfta.cast %[[STEP]] : tensor<i64> to f64
  // CHECK-DAG: %[[T:.*]] = hfta.add %[[DONE]], %{{.*}} : tensor<f64>, tensor<f64>
  // CHECK-DAG: %[[DECAYED:.*]] = hfta.add %[[G]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK-DAG: %[[DIFFERENCE:.*]] = hfta.sub %[[DECAYED]], %[[M]]
  // CHECK-DAG: %[[MOVE:.*]] = hfta.mul %{{.*}}, %[[DIFFERENCE]]
  // CHECK-DAG: %[[FIRST:.*]] = hfta.add %[[M]], %[[MOVE]]
  // CHECK: hfta.pow %{{.*}}, %[[T]] : tensor<f64>, tensor<f64>
  // CHECK: hfta.pow %{{.*}}, %[[T]] : tensor<f64>, tensor<f64>
  // CHECK: hfta.sqrt %{{.*}} : tensor<f64>
  // CHECK: %[[ROOT:.*]] = hfta.sqrt %{{.*}} : tensor<4xf32>
  // CHECK: %[[SCALED:.*]] = hfta.div %[[ROOT]],
  // CHECK: %[[DENOMINATOR:.*]] = hfta.add %[[SCALED]],
  // CHECK: %[[NUMERATOR:.*]] = hfta.mul %{{.*}}, %[[FIRST]]
  // CHECK: %[[UPDATE:.*]] = hfta.div %[[NUMERATOR]], %[[DENOMINATOR]]
  // CHECK: %[[RESULT:.*]] = hfta.add %[[P]], %[[UPDATE]]
  // CHECK: return %[[RESULT]], %[[FIRST]]
  %0:3 = hfta.optimizer_update "adam" given [] %p, %g, %m, %v, %rate, %beta1, %beta2, %epsilon, %decay, %step
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>,
        tensor<f64>, tensor<f64>, tensor<i64>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Decoupled decay scales the parameter, not the gradient.
// CHECK-LABEL: func.func @adamw(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4xf32>, %[[G:[a-z0-9]+]]: tensor<4xf32>, %[[M:[a-z0-9]+]]: tensor<4xf32>
func.func @adamw(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %h: tensor<f64>,
    %step: tensor<i64>) -> tensor<4xf32> {
  // CHECK: %[[RD:.*]] = hfta.mul %[[H:.*]], %[[H]] : tensor<f64>, tensor<f64>
  // CHECK: %[[KEEP:.*]] = hfta.sub %{{.*}}, %[[RD]]
  // CHECK: %[[K32:.*]] = hfta.cast %[[KEEP]] : tensor<f64> to f32
  // CHECK: %[[KB:.*]] = hfta.broadcast %[[K32]] to [4] along []
  // CHECK: %[[SHRUNK:.*]] = hfta.mul %[[P]], %[[KB]]
  // CHECK: hfta.sub %[[G]], %[[M]]
  // CHECK: hfta.add %[[SHRUNK]], %{{.*}}
  // CHECK-NEXT: return
  %0:3 = hfta.optimizer_update "adamw" given [] %p, %g, %m, %v, %h, %h, %h, %h, %h, %step
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>,
        tensor<f64>, tensor<f64>, tensor<i64>
  return %0#0 : tensor<4xf32>
}
