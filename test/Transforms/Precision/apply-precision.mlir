// RUN: hfta-opt %s --hfta-apply-precision --split-input-file | FileCheck %s

// Parameters and statistics are widened where they are read and rounded where
// they are written; terms of sums are widened once more, each value once.
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], copies = 2 : i64, batch = 4 : i64,
    epochs = 1 : i64, precision = {parameters = "bf16", accumulate = "f64", state = "f16"}}} {
  // CHECK-LABEL: hfta.model @array
  hfta.model @array copies [0, 1] {
    // CHECK: hfta.variable @w {initial = #hfta.uniform<-1.000000e-01 : f32, 1.000000e-01 : f32>, {{.*}}} : tensor<4x4xbf16, #hfta.copies<2>>
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = #hfta.uniform<-0.1 : f64, 0.1 : f64>} : tensor<4x4xf32, #hfta.copies<2>>
    // CHECK: hfta.variable @b {initial = dense<[1.000000e+00, -2.000000e+00, 1.000000e+00, 1.007810e+00]> : tensor<4xbf16>, {{.*}}} : tensor<4xbf16, #hfta.copies<2>>
    hfta.variable @b {role = #hfta.role<parameter>, trained, initial = dense<[1.0, -2.0, 1.00390625, 1.00390637]> : tensor<4xf32>} : tensor<4xf32, #hfta.copies<2>>
    // CHECK: hfta.variable @m {{.*}} : tensor<4xf16, #hfta.copies<2>>
    hfta.variable @m {role = #hfta.role<statistics>} : tensor<4xf32, #hfta.copies<2>>
    // CHECK: hfta.variable @rate {{.*}} : tensor<f32, #hfta.copies<2>>
    hfta.variable @rate {role = #hfta.role<scalar>} : tensor<f32, #hfta.copies<2>>
    // CHECK-LABEL: func.func @forward
    func.func @forward(%x: tensor<4x4xf32>) -> tensor<4x4xf32, #hfta.copies<2>> {
      // CHECK: %[[X64:.*]] = hfta.cast %{{.*}} : tensor<4x4xf32> to f64
      // CHECK: %[[W16:.*]] = hfta.read @w : tensor<4x4xbf16, #hfta.copies<2>>
      // CHECK: %[[W32:.*]] = hfta.cast %[[W16]] : {{.*}} to f32
      // CHECK: %[[W64:.*]] = hfta.cast %[[W32]] : {{.*}} to f64
      %w = hfta.read @w : tensor<4x4xf32, #hfta.copies<2>>
      // CHECK: %[[SUM:.*]] = hfta.contract %[[X64]], %[[W64]]
      // CHECK: %[[Y:.*]] = hfta.cast %[[SUM]] : tensor<4x4xf64, #hfta.copies<2>> to f32
      // CHECK: %[[Y64:.*]] = hfta.cast %[[Y]] : tensor<4x4xf32, #hfta.copies<2>> to f64
      %y = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x4xf32>, tensor<4x4xf32, #hfta.copies<2>>
      // CHECK: hfta.contract %[[Y64]], %[[W64]]
      %z = hfta.contract %y, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x4xf32, #hfta.copies<2>>, tensor<4x4xf32, #hfta.copies<2>>
      // A bias' gradient is a sum; a repeated constant has none.
      // CHECK: %[[B:.*]] = hfta.cast %{{.*}} : tensor<4xf32, #hfta.copies<2>> to f64
      // CHECK: %[[BB:.*]] = hfta.broadcast %[[B]] {{.*}} : tensor<4xf64, #hfta.copies<2>>
      // CHECK: hfta.cast %[[BB]] : {{.*}} to f32
      %b = hfta.read @b : tensor<4xf32, #hfta.copies<2>>
      %bb = hfta.broadcast %b to [4, 4] along [1] : tensor<4xf32, #hfta.copies<2>>
      // CHECK: hfta.broadcast %{{.*}} : tensor<f32>
      %c = hfta.constant dense<2.0> : tensor<f32>
      %cc = hfta.broadcast %c to [4, 4] along [] : tensor<f32>
      // CHECK: hfta.add %{{.*}} : tensor<4x4xf32, #hfta.copies<2>>, tensor<4x4xf32, #hfta.copies<2>>
      %s = hfta.add %z, %bb : tensor<4x4xf32, #hfta.copies<2>>, tensor<4x4xf32, #hfta.copies<2>>
      %t = hfta.mul %s, %cc : tensor<4x4xf32, #hfta.copies<2>>, tensor<4x4xf32>
      // CHECK: %[[M:.*]] = hfta.read @m : tensor<4xf16, #hfta.copies<2>>
      // CHECK: %[[M32:.*]] = hfta.cast %[[M]] : {{.*}} to f32
      // CHECK: %[[N32:.*]] = hfta.neg %[[M32]]
      // CHECK: %[[N:.*]] = hfta.cast %[[N32]] : {{.*}} to f16
      // CHECK: hfta.write %[[N]], @m : tensor<4xf16, #hfta.copies<2>>
      %m = hfta.read @m : tensor<4xf32, #hfta.copies<2>>
      %n = hfta.neg %m : tensor<4xf32, #hfta.copies<2>>
      hfta.write %n, @m : tensor<4xf32, #hfta.copies<2>>
      // CHECK: return %{{.*}} : tensor<4x4xf32, #hfta.copies<2>>
      return %t : tensor<4x4xf32, #hfta.copies<2>>
    }
    // Functions that are built from the model add up losses and weights.
    // CHECK-LABEL: func.func @objective
    // CHECK-SAME: -> (tensor<4xf64>, tensor<4xf64>)
    func.func @objective(%losses: tensor<4xf32>, %weights: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      return %losses, %weights : tensor<4xf32>, tensor<4xf32>
    }
  }
}

// -----

// A sum of several operands is one sum: it is rounded at its end. A partial sum
// that others read, too, is a value of its own.
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], batch = 4 : i64, epochs = 1 : i64,
    precision = {accumulate = "f64"}}} {
  // CHECK-LABEL: hfta.model @terms
  hfta.model @terms copies [0] {
    // CHECK: func.func @forward(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>, %[[C:.*]]: tensor<4xf32>)
    func.func @forward(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      // CHECK-DAG: %[[A64:.*]] = hfta.cast %[[A]] : tensor<4xf32> to f64
      // CHECK-DAG: %[[B64:.*]] = hfta.cast %[[B]] : tensor<4xf32> to f64
      // CHECK-DAG: %[[C64:.*]] = hfta.cast %[[C]] : tensor<4xf32> to f64
      // CHECK: %[[AB:.*]] = hfta.add %[[A64]], %[[B64]] : tensor<4xf64>
      %0 = hfta.add %a, %b : tensor<4xf32>, tensor<4xf32>
      // CHECK-NEXT: %[[ABC:.*]] = hfta.add %[[AB]], %[[C64]] : tensor<4xf64>
      // CHECK-NEXT: %[[SUM:.*]] = hfta.cast %[[ABC]] : tensor<4xf64> to f32
      %1 = hfta.add %0, %c : tensor<4xf32>, tensor<4xf32>
      // CHECK-NEXT: %[[OWN:.*]] = hfta.add %[[SUM]], %[[A]] : tensor<4xf32>
      %2 = hfta.add %1, %a : tensor<4xf32>, tensor<4xf32>
      // CHECK-NEXT: return %[[OWN]], %[[SUM]]
      return %2, %1 : tensor<4xf32>, tensor<4xf32>
    }
  }
}

// -----

// In its own type a constant keeps its elements: folding in exact numbers may have
// gone another way.
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], batch = 4 : i64, epochs = 1 : i64}} {
  // CHECK-LABEL: hfta.model @folded
  hfta.model @folded copies [0] {
    func.func @forward() -> tensor<4xf32> {
      // CHECK: hfta.constant dense<7.000000e+00> : tensor<4xf32>
      %c = hfta.constant {hfta.exact = dense<6.0> : tensor<4xf64>} dense<7.0> : tensor<4xf32>
      return %c : tensor<4xf32>
    }
  }
}

// -----

// In f64, what a constant stands for and what files hold come as they are.
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], batch = 4 : i64, epochs = 1 : i64,
    precision = {parameters = "f64", compute = "f64", accumulate = "f64", gradients = "f64",
    state = "f64"}}} {
  // CHECK-LABEL: hfta.model @exact
  hfta.model @exact copies [0] {
    // CHECK-LABEL: func.func @forward
    // CHECK-SAME: (%[[X:.*]]: tensor<4xf64>) -> tensor<4xf64>
    func.func @forward(%x: tensor<4xf32>) -> tensor<4xf64> {
      // CHECK: %[[C:.*]] = hfta.constant dense<1.000000e-01> : tensor<4xf64>
      %c = hfta.constant {hfta.exact = dense<0.1> : tensor<4xf64>} dense<0.1> : tensor<4xf32>
      // CHECK: %[[P:.*]] = hfta.mul %[[X]], %[[C]]
      %p = hfta.mul %x, %c : tensor<4xf32>, tensor<4xf32>
      // CHECK: %[[Q:.*]] = hfta.pad %[[P]] low [0] high [1] interior [0] with 5.000000e-01 : f64
      %q = hfta.pad %p low [0] high [1] interior [0] with 0.5 : f32 : tensor<4xf32>
      // CHECK: %[[R:.*]] = hfta.slice %[[Q]]
      %r = hfta.slice %q from [0] size [4] stride [1] : tensor<5xf32>
      // CHECK: return %[[R]]
      %y = hfta.cast %r : tensor<4xf32> to f64
      return %y : tensor<4xf64>
    }
    // CHECK-LABEL: func.func @prepare
    // CHECK-SAME: (%[[A:.*]]: tensor<4xf64>, %[[B:.*]]: tensor<4xf16>) -> (tensor<4xf64>, tensor<4xf64>)
    func.func @prepare(%a: tensor<4xf64>, %b: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
      // CHECK: %[[B64:.*]] = hfta.cast %[[B]] : tensor<4xf16> to f64
      // CHECK: return %[[A]], %[[B64]]
      %0 = hfta.cast %a : tensor<4xf64> to f32
      return %0, %b : tensor<4xf32>, tensor<4xf16>
    }
  }
}

// -----

// A graph that is executed as written keeps its types.
module attributes {hfta.job = {name = "j", training = false, keeps_types = true, batch = 4 : i64,
    epochs = 1 : i64}} {
  // CHECK-LABEL: hfta.model @written
  hfta.model @written copies [0] {
    // CHECK: func.func @forward(%{{.*}}: tensor<4xf16>) -> tensor<4xf64>
    func.func @forward(%x: tensor<4xf16>) -> tensor<4xf64> {
      // CHECK: hfta.cast %{{.*}} : tensor<4xf16> to f64
      %y = hfta.cast %x : tensor<4xf16> to f64
      return %y : tensor<4xf64>
    }
  }
}

// -----

// Products say what they multiply.
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], batch = 4 : i64, epochs = 1 : i64,
    precision = {multiply = "tf32"}}} {
  // CHECK-LABEL: hfta.model @rounded
  hfta.model @rounded copies [0] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<4x4xf32>
    func.func @forward(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %w = hfta.read @w : tensor<4x4xf32>
      // CHECK: hfta.contract {{.*}} {hfta.multiply = tf32}
      %y = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x4xf32>, tensor<4x4xf32>
      // CHECK: hfta.mul %{{.+}}, %{{.+}} : tensor
      %z = hfta.mul %y, %y : tensor<4x4xf32>, tensor<4x4xf32>
      return %z : tensor<4x4xf32>
    }
  }
}
