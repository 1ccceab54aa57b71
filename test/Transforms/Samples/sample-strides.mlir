// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks | FileCheck %s

// Where a layer's input and output gradient have the samples of a micro-batch:
// elements from one sample to the next one, whichever way values went.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
#mk = affine_map<(m, b, n, k) -> (m, b, k)>
#nk = affine_map<(m, b, n, k) -> (n, k)>
#mn = affine_map<(m, b, n, k) -> (m, b, n)>
#kb = affine_map<(b, n, k) -> (k, b)>
#kn = affine_map<(b, n, k) -> (n, k)>
#nb = affine_map<(b, n, k) -> (n, b)>

// As the data has them: [4, 8, 6].
// CHECK-DAG: hfta.layer dense @first {{.*}}input_samples = 48 : i64, output_samples = 16 : i64}

// Positions come first, [8, 4, 2]; then a reshape merges them with the samples,
// [32, 2], where one axis holds both.
// CHECK-DAG: hfta.layer dense @second {{.*}}input_samples = 2 : i64, output_samples = 3 : i64}

// Images of which there are eight a sample, [4 · 8, 3, 1].
// CHECK-DAG: hfta.layer convolution @window {{.*}}input_samples = 24 : i64, output_samples = 40 : i64,

// A sum over positions has one row a sample, features in front: [5, 4].
// CHECK-DAG: hfta.layer dense @third {{.*}}input_samples = 1 : i64, output_samples = 1 : i64}

// Rows of a table for indices [4]; less their mean over the samples, which is of
// no sample.
// CHECK-DAG: hfta.layer embedding @table {{.*}}input_samples = 1 : i64, output_samples = 2 : i64}
// CHECK-DAG: hfta.layer other @scale {{.*}}terms 4 {output_samples = 2 : i64}

// The samples of a slice can't be determined.
// CHECK-DAG: hfta.layer other @part {{.*}}loss_divisor terms {{[0-9]+$}}

module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @first {role = #hfta.role<parameter>, trained} : tensor<2x6xf32, #hfta.copies<2>>
    hfta.variable @second {role = #hfta.role<parameter>, trained} : tensor<3x2xf32, #hfta.copies<2>>
    hfta.variable @window {role = #hfta.role<parameter>, trained} : tensor<5x3x1xf32, #hfta.copies<2>>
    hfta.variable @third {role = #hfta.role<parameter>, trained} : tensor<2x5xf32, #hfta.copies<2>>
    hfta.variable @table {role = #hfta.role<parameter>, trained} : tensor<10x2xf32, #hfta.copies<2>>
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    hfta.variable @part {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x8x6xf32> {hfta.name = "x"}, %i: tensor<4xi64> {hfta.name = "i"}) -> (tensor<4x2xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w1 = hfta.read @first : tensor<2x6xf32, #hfta.copies<2>>
      %a = hfta.contract %x, %w1 maps [#mk, #nk, #mn] : tensor<4x8x6xf32>, tensor<2x6xf32, #hfta.copies<2>>
      %t = hfta.transpose %a by [1, 0, 2] : tensor<4x8x2xf32, #hfta.copies<2>>
      %w2 = hfta.read @second : tensor<3x2xf32, #hfta.copies<2>>
      %b = hfta.contract %t, %w2 maps [#mk, #nk, #mn] : tensor<8x4x2xf32, #hfta.copies<2>>, tensor<3x2xf32, #hfta.copies<2>>
      %u = hfta.transpose %b by [1, 0, 2] : tensor<8x4x3xf32, #hfta.copies<2>>
      %v = hfta.reshape %u to [32, 3, 1] : tensor<4x8x3xf32, #hfta.copies<2>>
      %w3 = hfta.read @window : tensor<5x3x1xf32, #hfta.copies<2>>
      %c = hfta.conv %v, %w3 {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64} : tensor<32x3x1xf32, #hfta.copies<2>>, tensor<5x3x1xf32, #hfta.copies<2>>
      %d = hfta.reshape %c to [4, 8, 5] : tensor<32x5x1xf32, #hfta.copies<2>>
      %s = hfta.reduce sum %d over [1] : tensor<4x8x5xf32, #hfta.copies<2>>
      %f = hfta.transpose %s by [1, 0] : tensor<4x5xf32, #hfta.copies<2>>
      %w4 = hfta.read @third : tensor<2x5xf32, #hfta.copies<2>>
      %g = hfta.contract %f, %w4 maps [#kb, #kn, #nb] : tensor<5x4xf32, #hfta.copies<2>>, tensor<2x5xf32, #hfta.copies<2>>
      %y1 = hfta.transpose %g by [1, 0] : tensor<2x4xf32, #hfta.copies<2>>

      %w5 = hfta.read @table : tensor<10x2xf32, #hfta.copies<2>>
      %e = hfta.gather %w5[%i] along 0 : tensor<10x2xf32, #hfta.copies<2>>, tensor<4xi64>
      %m = hfta.reduce sum %e over [0] : tensor<4x2xf32, #hfta.copies<2>>
      %mb = hfta.broadcast %m to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %n = hfta.sub %e, %mb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %w6 = hfta.read @scale : tensor<2xf32, #hfta.copies<2>>
      %sb = hfta.broadcast %w6 to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %y2 = hfta.mul %n, %sb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>

      %p = hfta.slice %y1 from [0, 0] size [2, 2] stride [1, 1] : tensor<4x2xf32, #hfta.copies<2>>
      %w7 = hfta.read @part : tensor<2xf32, #hfta.copies<2>>
      %pb = hfta.broadcast %w7 to [2, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %q = hfta.mul %p, %pb : tensor<2x2xf32, #hfta.copies<2>>, tensor<2x2xf32, #hfta.copies<2>>
      %qq = hfta.concat %q, %q along 0 : tensor<2x2xf32, #hfta.copies<2>>, tensor<2x2xf32, #hfta.copies<2>>
      %y3 = hfta.add %y1, %y2 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %y = hfta.add %y3, %qq : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      return %y : tensor<4x2xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x8x6xf32> {hfta.name = "x"}, %i: tensor<4xi64> {hfta.name = "i"}) -> (tensor<4x8x6xf32> {hfta.name = "x"}, tensor<4xi64> {hfta.name = "i"}) {
      return %x, %i : tensor<4x8x6xf32>, tensor<4xi64>
    }
    func.func @objective(%y: tensor<4x2xf32, #hfta.copies<2>>, %x: tensor<4x8x6xf32>, %i: tensor<4xi64>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %l, %m, %s = hfta.log_softmax %y along 1 : tensor<4x2xf32, #hfta.copies<2>>
      %0 = hfta.reduce max %l over [1] : tensor<4x2xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}
