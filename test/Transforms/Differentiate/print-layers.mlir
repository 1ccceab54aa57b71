// RUN: hfta-opt %s -hfta-fuse-models -hfta-differentiate -hfta-split-tasks -hfta-print-layers -o /dev/null | FileCheck %s -enable-var-scope

// One line for each use of a weight, from the first layer to the last: also after
// a transposed weight, without a bias, and twice for a weight that is used twice.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// CHECK: convolution layer: parameter @kernel, bias @kernel_bias (a column), input tensor<4x1x4xf32>, output gradient tensor<4x2x3xf32, #hfta.copies<2>>, weight gradient tensor<2x1x2xf32, #hfta.copies<2>>, window strides [1] dilations [1] padding [0, 0], groups 1, loss divided by 4 terms
// CHECK-NEXT: dense layer: parameter @tied, input tensor<4x6xf32, #hfta.copies<2>>, output gradient tensor<4x6xf32, #hfta.copies<2>>, weight gradient tensor<6x6xf32, #hfta.copies<2>>, loss divided by 4 terms
// CHECK-NEXT: dense layer: parameter @tied, input tensor<4x6xf32, #hfta.copies<2>>, output gradient tensor<4x6xf32, #hfta.copies<2>>
// CHECK-NEXT: dense layer: parameter @out, bias @out_bias (a column), input tensor<4x6xf32, #hfta.copies<2>>, output gradient tensor<4x2xf32, #hfta.copies<2>>, weight gradient tensor<6x2xf32, #hfta.copies<2>>, loss divided by 4 terms
// CHECK-NOT: layer
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @kernel {role = #hfta.role<parameter>, trained} : tensor<2x1x2xf32>
    hfta.variable @kernel_bias {role = #hfta.role<parameter>, trained} : tensor<2xf32>
    hfta.variable @tied {role = #hfta.role<parameter>, trained} : tensor<6x6xf32>
    hfta.variable @frozen {role = #hfta.role<parameter>} : tensor<6x6xf32>
    hfta.variable @out {role = #hfta.role<parameter>, trained} : tensor<2x6xf32>
    hfta.variable @out_bias {role = #hfta.role<parameter>, trained} : tensor<2xf32>
    func.func @forward(%x: tensor<4x1x4xf32> {hfta.name = "x"}) -> (tensor<4x2xf32> {hfta.name = "y"}) {
      %k = hfta.read @kernel : tensor<2x1x2xf32>
      %c = hfta.conv %x, %k {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64} : tensor<4x1x4xf32>, tensor<2x1x2xf32>
      %kb = hfta.read @kernel_bias : tensor<2xf32>
      %kbb = hfta.broadcast %kb to [4, 2, 3] along [1] : tensor<2xf32>
      %cb = hfta.add %c, %kbb : tensor<4x2x3xf32>, tensor<4x2x3xf32>
      %f = hfta.reshape %cb to [4, 6] : tensor<4x2x3xf32>
      %t = hfta.read @tied : tensor<6x6xf32>
      %0 = hfta.contract %f, %t maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x6xf32>, tensor<6x6xf32>
      %1 = hfta.relu %0 : tensor<4x6xf32>
      %z = hfta.read @frozen : tensor<6x6xf32>
      %2 = hfta.contract %1, %z maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x6xf32>, tensor<6x6xf32>
      %3 = hfta.contract %2, %t maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x6xf32>, tensor<6x6xf32>
      %o = hfta.read @out : tensor<2x6xf32>
      %ot = hfta.transpose %o by [1, 0] : tensor<2x6xf32>
      %4 = hfta.contract %3, %ot maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x6xf32>, tensor<6x2xf32>
      %ob = hfta.read @out_bias : tensor<2xf32>
      %obb = hfta.broadcast %ob to [4, 2] along [1] : tensor<2xf32>
      %5 = hfta.add %4, %obb : tensor<4x2xf32>, tensor<4x2xf32>
      return %5 : tensor<4x2xf32>
    }
    func.func @prepare(%x: tensor<4x1x4xf32> {hfta.name = "x"}) -> (tensor<4x1x4xf32> {hfta.name = "x"}) {
      return %x : tensor<4x1x4xf32>
    }
    func.func @objective(%y: tensor<4x2xf32>, %x: tensor<4x1x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %l, %m, %s = hfta.log_softmax %y along 1 : tensor<4x2xf32>
      %0 = hfta.reduce max %l over [1] : tensor<4x2xf32>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
  }
}
