// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels | FileCheck %s -enable-var-scope

hfta.variable @x {role = #hfta.role<input>} : tensor<16x64xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<64x64xf32>
hfta.variable @v {role = #hfta.role<input>} : tensor<16xf32>
hfta.variable @y {role = #hfta.role<output>} : tensor<16x64xf32>
hfta.variable @z {role = #hfta.role<output>} : tensor<16x64xf32>
hfta.variable @s {role = #hfta.role<output>} : tensor<16xf32>
hfta.variable @c {role = #hfta.role<output>} : tensor<64xf32>
hfta.variable @short {role = #hfta.role<input>} : tensor<16x8xf32>
hfta.variable @short_out {role = #hfta.role<output>} : tensor<16x8xf32>

// A softmax is one kernel, but not together with the product before it.
// CHECK-LABEL: func.func @softmax(
// CHECK: hfta.kernel "contract"(
// CHECK: hfta.contract
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "mul"(%{{[0-9]+}}) : (tensor<16x64xf32>) -> tensor<16x64xf32> {
// CHECK: hfta.reduce max
// CHECK: hfta.sub
// CHECK: hfta.exp
// CHECK: hfta.reduce sum
// CHECK: hfta.div
// CHECK: hfta.mul
// CHECK: hfta.yield
// CHECK-NOT: hfta.kernel
func.func @softmax() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @x : tensor<16x64xf32>
  %w = hfta.read @w : tensor<64x64xf32>
  %x = hfta.contract %a, %w maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<16x64xf32>, tensor<64x64xf32>
  %most = hfta.reduce max %x over [1] : tensor<16x64xf32>
  %m = hfta.broadcast %most to [16, 64] along [0] : tensor<16xf32>
  %d = hfta.sub %x, %m : tensor<16x64xf32>, tensor<16x64xf32>
  %e = hfta.exp %d : tensor<16x64xf32>
  %sum = hfta.reduce sum %e over [1] : tensor<16x64xf32>
  %one = hfta.constant dense<1.0> : tensor<16xf32>
  %r = hfta.div %one, %sum : tensor<16xf32>, tensor<16xf32>
  %f = hfta.broadcast %r to [16, 64] along [0] : tensor<16xf32>
  %y = hfta.mul %e, %f : tensor<16x64xf32>, tensor<16x64xf32>
  hfta.write %y, @y : tensor<16x64xf32>
  return
}

// Sums of rows are found after the ops that each kernel computes again.
// CHECK-LABEL: func.func @anew(
// CHECK: hfta.kernel "exp"(%{{[0-9]+}}) : (tensor<16x64xf32>) -> tensor<16x64xf32> {
// CHECK: hfta.reduce max
// CHECK: hfta.sub
// CHECK: hfta.exp
// CHECK: hfta.yield
// CHECK-NOT: hfta.kernel
func.func @anew() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<16x64xf32>
  %most = hfta.reduce max %x over [1] : tensor<16x64xf32>
  %m = hfta.broadcast %most to [16, 64] along [0] : tensor<16xf32>
  %d = hfta.sub %x, %m {hfta.repeated} : tensor<16x64xf32>, tensor<16x64xf32>
  %e = hfta.exp %d : tensor<16x64xf32>
  hfta.write %e, @y : tensor<16x64xf32>
  return
}

// The terms of a sum of rows are stored by the kernel that sums them, if others
// need them, too; not where rows are short.
// CHECK-LABEL: func.func @stored(
// CHECK: hfta.kernel "reduce"(%{{[0-9]+}}) : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16xf32>) {
// CHECK: hfta.exp
// CHECK-NEXT: hfta.reduce sum
// CHECK: hfta.kernel "exp"(%{{[0-9]+}}) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
// CHECK: hfta.kernel "reduce"(%{{[0-9]+}}) : (tensor<16x8xf32>) -> tensor<16xf32> {
func.func @stored() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<16x64xf32>
  %e = hfta.exp %x : tensor<16x64xf32>
  %sum = hfta.reduce sum %e over [1] : tensor<16x64xf32>
  %short = hfta.read @short : tensor<16x8xf32>
  %f = hfta.exp %short : tensor<16x8xf32>
  %other = hfta.reduce sum %f over [1] : tensor<16x8xf32>
  %both = hfta.contract %sum, %other maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>] : tensor<16xf32>, tensor<16xf32>
  %c = hfta.broadcast %both to [16] along [] : tensor<f32>
  hfta.write %c, @s : tensor<16xf32>
  hfta.write %e, @y : tensor<16x64xf32>
  hfta.write %f, @short_out : tensor<16x8xf32>
  return
}

// A product's kernel stores values computed from its elements, and other
// kernels read these.
// CHECK-LABEL: func.func @of_product(
// CHECK: hfta.kernel "exp"(
// CHECK: hfta.contract
// CHECK-NEXT: hfta.exp
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "reduce"(%{{[0-9]+}}) : (tensor<16x64xf32>) -> tensor<16xf32> {
// CHECK: hfta.reduce sum
// CHECK-NEXT: hfta.yield
func.func @of_product() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @x : tensor<16x64xf32>
  %w = hfta.read @w : tensor<64x64xf32>
  %x = hfta.contract %a, %w maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<16x64xf32>, tensor<64x64xf32>
  %e = hfta.exp %x : tensor<16x64xf32>
  %sum = hfta.reduce sum %e over [1] : tensor<16x64xf32>
  hfta.write %sum, @s : tensor<16xf32>
  hfta.write %e, @y : tensor<16x64xf32>
  return
}

// A product of fewer elements than a kernel has isn't computed for each of them.
// CHECK-LABEL: func.func @spread_product(
// CHECK: hfta.kernel "contract"(
// CHECK: hfta.contract
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "add"(
// CHECK: hfta.exp
// CHECK: hfta.add
func.func @spread_product() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @x : tensor<16x64xf32>
  %y = hfta.reduce sum %a over [0] : tensor<16x64xf32>
  hfta.write %y, @c : tensor<64xf32>
  %p = hfta.contract %a, %y maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>] : tensor<16x64xf32>, tensor<64xf32>
  %e = hfta.exp %p : tensor<16xf32>
  %b = hfta.broadcast %e to [16, 64] along [0] : tensor<16xf32>
  %z = hfta.add %a, %b : tensor<16x64xf32>, tensor<16x64xf32>
  hfta.write %z, @z : tensor<16x64xf32>
  return
}

// A row's kernel has no scattered sums, which each of its threads would add up
// again for every term.
hfta.variable @index {role = #hfta.role<input>} : tensor<40xi64>
hfta.variable @u {role = #hfta.role<input>} : tensor<40x64xf32>
// CHECK-LABEL: func.func @scattered(
// CHECK: hfta.kernel "scatter_add"(
// CHECK: hfta.scatter_add
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "mul"(
// CHECK: hfta.reduce sum
// CHECK: hfta.mul
// CHECK-NOT: hfta.scatter_add
func.func @scattered() attributes {hfta.task = #hfta.task<backward, 0>} {
  %u = hfta.read @u : tensor<40x64xf32>
  %i = hfta.read @index : tensor<40xi64>
  %g = hfta.scatter_add %u at %i along 0 size 16 : tensor<40x64xf32>, tensor<40xi64>
  %s = hfta.reduce sum %g over [1] : tensor<16x64xf32>
  %b = hfta.broadcast %s to [16, 64] along [0] : tensor<16xf32>
  %y = hfta.mul %g, %b : tensor<16x64xf32>, tensor<16x64xf32>
  hfta.write %y, @y : tensor<16x64xf32>
  return
}

// It has no sums of segments either.
hfta.variable @order {role = #hfta.role<input>} : tensor<40xi32>
hfta.variable @offsets {role = #hfta.role<input>} : tensor<17xi32>
// CHECK-LABEL: func.func @segments(
// CHECK: hfta.kernel "segment_sum"(
// CHECK: hfta.segment_sum
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "mul"(
// CHECK: hfta.reduce sum
// CHECK: hfta.mul
// CHECK-NOT: hfta.segment_sum
func.func @segments() attributes {hfta.task = #hfta.task<backward, 0>} {
  %u = hfta.read @u : tensor<40x64xf32>
  %o = hfta.read @order : tensor<40xi32>
  %s = hfta.read @offsets : tensor<17xi32>
  %g = hfta.segment_sum %u at %o in %s along 0 : tensor<40x64xf32>, tensor<40xi32>, tensor<17xi32>
  %r = hfta.reduce sum %g over [1] : tensor<16x64xf32>
  %b = hfta.broadcast %r to [16, 64] along [0] : tensor<16xf32>
  %y = hfta.mul %g, %b : tensor<16x64xf32>, tensor<16x64xf32>
  hfta.write %y, @y : tensor<16x64xf32>
  return
}

// These join the ops that compute as many elements.
// CHECK-LABEL: func.func @added_segments(
// CHECK: hfta.kernel "add"(
// CHECK: hfta.segment_sum
// CHECK-NEXT: hfta.add
// CHECK-NEXT: hfta.yield
// CHECK-NOT: hfta.kernel
func.func @added_segments() attributes {hfta.task = #hfta.task<backward, 0>} {
  %u = hfta.read @u : tensor<40x64xf32>
  %o = hfta.read @order : tensor<40xi32>
  %s = hfta.read @offsets : tensor<17xi32>
  %x = hfta.read @x : tensor<16x64xf32>
  %h = hfta.segment_sum %u at %o in %s along 0 : tensor<40x64xf32>, tensor<40xi32>, tensor<17xi32>
  %a = hfta.add %x, %h : tensor<16x64xf32>, tensor<16x64xf32>
  hfta.write %a, @z : tensor<16x64xf32>
  return
}
