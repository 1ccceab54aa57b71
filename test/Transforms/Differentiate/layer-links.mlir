// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -hfta-print-layers -o /dev/null 2>&1 | FileCheck %s
// RUN: hfta-opt %s -hfta-differentiate -hfta-split-tasks -o /dev/null --remarks-filter=hfta-layers 2>&1 | FileCheck %s --check-prefix=REMARKS

// From parameters to their layers, whatever they pass on the way. One line a use.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 2 : i64, epochs = 1 : i64,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Each copy's own layer, with a bias that all have; and the other way around: one
// layer, of a stack of the copies' variables, with a bias that each copy has.
// CHECK: dense layer: parameter @own copy 0, bias @fused (a column), input tensor<4x6xf32>, output gradient tensor<4x2xf32>
// CHECK-SAME: loss divided by 8 terms
// CHECK-NEXT: dense layer: parameter @own copy 1, bias @fused (a column), input tensor<4x6xf32>, output gradient tensor<4x2xf32>
// CHECK-NEXT: dense layer: parameter @"one@0" copy 0, bias @"bias@0" (a column), input tensor<4x6xf32>, output gradient tensor<4x2xf32, #hfta.copies<2>>
// CHECK-NEXT: dense layer: parameter @"one@1" copy 1, bias @"bias@1" (a column), input tensor<4x6xf32>, output gradient tensor<4x2xf32, #hfta.copies<2>>

// Two parts of one weight, the second one after a cast; the bias is repeated
// along the output's axis, so it is no column.
// CHECK-NEXT: dense layer: parameter @packed, input tensor<4x6xf32>, output gradient tensor<4x2xf32, #hfta.copies<2>>, weight gradient tensor<2x6xf32, #hfta.copies<2>>
// CHECK-NEXT: dense layer: parameter @packed, bias @rows, input tensor<4x6xf32>, output gradient tensor<4x2xf32, #hfta.copies<2>>, weight gradient tensor<6x2xf32, #hfta.copies<2>>

// Input and output gradient of a transposed convolution are as in the forward pass.
// CHECK-NEXT: transposed_convolution layer: parameter @up, bias @up_bias, input tensor<4x1x6xf32>, output gradient tensor<4x2x12xf32, #hfta.copies<2>>, weight gradient tensor<1x2x2xf32, #hfta.copies<2>>, window strides [2] dilations [1] padding [0, 0], groups 1

// CHECK-NEXT: embedding layer: parameter @table, input tensor<4xi64>, output gradient tensor<4x2xf32, #hfta.copies<2>>, weight gradient tensor<10x2xf32, #hfta.copies<2>>
// CHECK-NEXT: norm layer: parameter @scale, bias @shift, input tensor<4x2xf32, #hfta.copies<2>>, output gradient tensor<4x2xf32, #hfta.copies<2>>

// Parameters of no layer: rows that are always the same, a factor, a product of
// parameters.
// CHECK-NEXT: other layer: parameter @places, output gradient tensor<4x2xf32, #hfta.copies<2>>
// CHECK-NEXT: other layer: parameter @factor, output gradient tensor<4x2xf32, #hfta.copies<2>>
// CHECK-NEXT: other layer: parameter @left, output gradient tensor<2x6xf32, #hfta.copies<2>>
// CHECK-NEXT: other layer: parameter @right, output gradient tensor<2x6xf32, #hfta.copies<2>>
// CHECK-NOT: layer

// REMARKS-DAG: parameter 'factor' is no layer's weight here: second-order methods know only the gradient of its use by 'hfta.mul'
// REMARKS-DAG: parameter 'places' is no layer's weight here: second-order methods know only the gradient of its use by 'hfta.add'

module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @own {role = #hfta.role<parameter>, trained} : tensor<2x6xf32, #hfta.copies<2>>
    hfta.variable @fused {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    hfta.variable @"one@0" {role = #hfta.role<parameter>, trained, copy = 0 : i64} : tensor<2x6xf32>
    hfta.variable @"one@1" {role = #hfta.role<parameter>, trained, copy = 1 : i64} : tensor<2x6xf32>
    hfta.variable @"bias@0" {role = #hfta.role<parameter>, trained, copy = 0 : i64} : tensor<2xf32>
    hfta.variable @"bias@1" {role = #hfta.role<parameter>, trained, copy = 1 : i64} : tensor<2xf32>
    hfta.variable @packed {role = #hfta.role<parameter>, trained} : tensor<4x6xf32, #hfta.copies<2>>
    hfta.variable @rows {role = #hfta.role<parameter>, trained} : tensor<4xf32, #hfta.copies<2>>
    hfta.variable @up {role = #hfta.role<parameter>, trained} : tensor<1x2x2xf32, #hfta.copies<2>>
    hfta.variable @up_bias {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    hfta.variable @table {role = #hfta.role<parameter>, trained} : tensor<10x2xf32, #hfta.copies<2>>
    hfta.variable @places {role = #hfta.role<parameter>, trained} : tensor<8x2xf32, #hfta.copies<2>>
    hfta.variable @left {role = #hfta.role<parameter>, trained} : tensor<2x3xf32, #hfta.copies<2>>
    hfta.variable @right {role = #hfta.role<parameter>, trained} : tensor<3x6xf32, #hfta.copies<2>>
    hfta.variable @factor {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    hfta.variable @shift {role = #hfta.role<parameter>, trained} : tensor<2xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x6xf32> {hfta.name = "x"}, %i: tensor<4xi64> {hfta.name = "i"}) -> (tensor<4x2xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @own : tensor<2x6xf32, #hfta.copies<2>>
      %w0 = hfta.unstack %w[0] : tensor<2x6xf32, #hfta.copies<2>> -> tensor<2x6xf32>
      %w1 = hfta.unstack %w[1] : tensor<2x6xf32, #hfta.copies<2>> -> tensor<2x6xf32>
      %o0 = hfta.contract %x, %w0 maps [#mk, #nk, #mn] : tensor<4x6xf32>, tensor<2x6xf32>
      %o1 = hfta.contract %x, %w1 maps [#mk, #nk, #mn] : tensor<4x6xf32>, tensor<2x6xf32>
      %o = hfta.stack %o0, %o1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32, #hfta.copies<2>>
      %f = hfta.read @fused : tensor<2xf32, #hfta.copies<2>>
      %fb = hfta.broadcast %f to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %y0 = hfta.add %o, %fb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>

      %a0 = hfta.read @"one@0" : tensor<2x6xf32>
      %a1 = hfta.read @"one@1" : tensor<2x6xf32>
      %a = hfta.stack %a0, %a1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32, #hfta.copies<2>>
      %b = hfta.contract %x, %a maps [#mk, #nk, #mn] : tensor<4x6xf32>, tensor<2x6xf32, #hfta.copies<2>>
      %b0 = hfta.unstack %b[0] : tensor<4x2xf32, #hfta.copies<2>> -> tensor<4x2xf32>
      %b1 = hfta.unstack %b[1] : tensor<4x2xf32, #hfta.copies<2>> -> tensor<4x2xf32>
      %c0 = hfta.read @"bias@0" : tensor<2xf32>
      %cb0 = hfta.broadcast %c0 to [4, 2] along [1] : tensor<2xf32>
      %d0 = hfta.add %b0, %cb0 : tensor<4x2xf32>, tensor<4x2xf32>
      %c1 = hfta.read @"bias@1" : tensor<2xf32>
      %cb1 = hfta.broadcast %c1 to [4, 2] along [1] : tensor<2xf32>
      %d1 = hfta.add %cb1, %b1 : tensor<4x2xf32>, tensor<4x2xf32>
      %y1 = hfta.stack %d0, %d1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32, #hfta.copies<2>>

      %p = hfta.read @packed : tensor<4x6xf32, #hfta.copies<2>>
      %p0 = hfta.slice %p from [0, 0] size [2, 6] stride [1, 1] : tensor<4x6xf32, #hfta.copies<2>>
      %p1 = hfta.slice %p from [2, 0] size [2, 6] stride [1, 1] : tensor<4x6xf32, #hfta.copies<2>>
      %y2 = hfta.contract %x, %p0 maps [#mk, #nk, #mn] : tensor<4x6xf32>, tensor<2x6xf32, #hfta.copies<2>>
      %pc = hfta.cast %p1 : tensor<2x6xf32, #hfta.copies<2>> to f64
      %pt = hfta.transpose %pc by [1, 0] : tensor<2x6xf64, #hfta.copies<2>>
      %pf = hfta.cast %pt : tensor<6x2xf64, #hfta.copies<2>> to f32
      %q = hfta.contract %x, %pf maps [#mk, affine_map<(m, n, k) -> (k, n)>, #mn] : tensor<4x6xf32>, tensor<6x2xf32, #hfta.copies<2>>
      %r = hfta.read @rows : tensor<4xf32, #hfta.copies<2>>
      %rb = hfta.broadcast %r to [4, 2] along [0] : tensor<4xf32, #hfta.copies<2>>
      %y3 = hfta.add %q, %rb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>

      %u = hfta.read @up : tensor<1x2x2xf32, #hfta.copies<2>>
      %xc = hfta.reshape %x to [4, 1, 6] : tensor<4x6xf32>
      %up = hfta.conv_input_gradient %xc, %u {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64, input_shape = array<i64: 4, 2, 12>} : tensor<4x1x6xf32>, tensor<1x2x2xf32, #hfta.copies<2>>
      %ub = hfta.read @up_bias : tensor<2xf32, #hfta.copies<2>>
      %ubb = hfta.broadcast %ub to [4, 2, 12] along [1] : tensor<2xf32, #hfta.copies<2>>
      %us = hfta.add %up, %ubb : tensor<4x2x12xf32, #hfta.copies<2>>, tensor<4x2x12xf32, #hfta.copies<2>>
      %y4 = hfta.reduce sum %us over [2] : tensor<4x2x12xf32, #hfta.copies<2>>

      %t = hfta.read @table : tensor<10x2xf32, #hfta.copies<2>>
      %e = hfta.gather %t[%i] along 0 : tensor<10x2xf32, #hfta.copies<2>>, tensor<4xi64>
      %l = hfta.read @places : tensor<8x2xf32, #hfta.copies<2>>
      %n = hfta.iota [4] along 0 : i64
      %lg = hfta.gather %l[%n] along 0 : tensor<8x2xf32, #hfta.copies<2>>, tensor<4xi64>
      %el = hfta.add %e, %lg : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %g = hfta.read @factor : tensor<2xf32, #hfta.copies<2>>
      %gb = hfta.broadcast %g to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %y5 = hfta.mul %el, %gb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>

      %le = hfta.read @left : tensor<2x3xf32, #hfta.copies<2>>
      %ri = hfta.read @right : tensor<3x6xf32, #hfta.copies<2>>
      %lr = hfta.contract %le, %ri maps [#mk, affine_map<(m, n, k) -> (k, n)>, #mn] : tensor<2x3xf32, #hfta.copies<2>>, tensor<3x6xf32, #hfta.copies<2>>
      %y6 = hfta.contract %x, %lr maps [#mk, #nk, #mn] : tensor<4x6xf32>, tensor<2x6xf32, #hfta.copies<2>>

      %m0 = hfta.add %y0, %y1 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %m1 = hfta.add %y2, %y3 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %m2 = hfta.add %y4, %y5 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %m3 = hfta.add %m0, %m1 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %m4 = hfta.add %m2, %y6 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %h = hfta.add %m3, %m4 : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %hh = hfta.mul %h, %h : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %v = hfta.reduce sum %hh over [1] : tensor<4x2xf32, #hfta.copies<2>>
      %rs = hfta.rsqrt %v : tensor<4xf32, #hfta.copies<2>>
      %rsb = hfta.broadcast %rs to [4, 2] along [0] : tensor<4xf32, #hfta.copies<2>>
      %hn = hfta.mul %h, %rsb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %sc = hfta.read @scale : tensor<2xf32, #hfta.copies<2>>
      %scb = hfta.broadcast %sc to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %z = hfta.mul %hn, %scb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      %sh = hfta.read @shift : tensor<2xf32, #hfta.copies<2>>
      %shb = hfta.broadcast %sh to [4, 2] along [1] : tensor<2xf32, #hfta.copies<2>>
      %y = hfta.add %z, %shb : tensor<4x2xf32, #hfta.copies<2>>, tensor<4x2xf32, #hfta.copies<2>>
      return %y : tensor<4x2xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x6xf32> {hfta.name = "x"}, %i: tensor<4xi64> {hfta.name = "i"}) -> (tensor<4x6xf32> {hfta.name = "x"}, tensor<4xi64> {hfta.name = "i"}) {
      return %x, %i : tensor<4x6xf32>, tensor<4xi64>
    }
    func.func @objective(%y: tensor<4x2xf32, #hfta.copies<2>>, %x: tensor<4x6xf32>, %i: tensor<4xi64>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %l, %m, %s = hfta.log_softmax %y along 1 : tensor<4x2xf32, #hfta.copies<2>>
      %0 = hfta.reduce max %l over [1] : tensor<4x2xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}
