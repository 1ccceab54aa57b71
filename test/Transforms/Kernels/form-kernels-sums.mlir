// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels | FileCheck %s -enable-var-scope

hfta.variable @x {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @y {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @g {role = #hfta.role<gradient>} : tensor<64xf32>
hfta.variable @h {role = #hfta.role<gradient>} : tensor<64xf32>
hfta.variable @m {role = #hfta.role<input>} : tensor<8x8xf32>
hfta.variable @t {role = #hfta.role<input>} : tensor<4x8x8xf32>
hfta.variable @o {role = #hfta.role<output>} : tensor<8x8xf32>
hfta.variable @z {role = #hfta.role<output>} : tensor<64xf32>

// Sums along the same axes that read one tensor are one kernel's; an op that
// used one of them before the other was made comes after it.
// CHECK-LABEL: func.func @alike(
// CHECK: %[[X:.*]] = hfta.read @x
// CHECK: %[[Y:.*]] = hfta.read @y
// CHECK: %[[S:.*]]:2 = hfta.kernel "neg"(%{{.*}}, %{{.*}}) : (tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-DAG: hfta.reduce sum %{{.*}} over [0]
// CHECK-DAG: hfta.mul
// CHECK-DAG: hfta.reduce sum %{{.*}} over [0]
// CHECK: hfta.yield
// CHECK-DAG: hfta.write %[[S]]#{{.}}, @g
// CHECK-DAG: hfta.write %[[S]]#{{.}}, @h
func.func @alike() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %total = hfta.reduce sum %x over [0] : tensor<8x64xf32>
  %n = hfta.neg %total : tensor<64xf32>
  hfta.write %n, @g : tensor<64xf32>
  %p = hfta.mul %x, %y : tensor<8x64xf32>, tensor<8x64xf32>
  %product = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  hfta.write %product, @h : tensor<64xf32>
  return
}

// Users of two sums come after a third one: the user of both after the other.
// CHECK-LABEL: func.func @users(
// CHECK: %[[S:.*]]:2 = hfta.kernel
// CHECK-COUNT-3: hfta.reduce sum
// CHECK: hfta.yield
// CHECK: hfta.write
func.func @users() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %first = hfta.reduce sum %x over [0] : tensor<8x64xf32>
  %square = hfta.mul %x, %x : tensor<8x64xf32>, tensor<8x64xf32>
  %second = hfta.reduce sum %square over [0] : tensor<8x64xf32>
  %n = hfta.neg %second : tensor<64xf32>
  %both = hfta.add %first, %n : tensor<64xf32>, tensor<64xf32>
  %p = hfta.mul %x, %y : tensor<8x64xf32>, tensor<8x64xf32>
  %third = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  hfta.write %both, @g : tensor<64xf32>
  hfta.write %third, @h : tensor<64xf32>
  return
}

// A mean that is spread to the terms of a variance is one kernel with it.
// CHECK-LABEL: func.func @variance(
// CHECK: hfta.kernel "reduce"(%{{.*}}) : (tensor<8x64xf32>) -> tensor<64xf32> {
// CHECK: hfta.reduce sum
// CHECK: hfta.div
// CHECK: hfta.sub
// CHECK: hfta.reduce sum
// CHECK: hfta.yield
// CHECK-NOT: hfta.kernel
func.func @variance() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %eight = hfta.constant dense<8.0> : tensor<64xf32>
  %sum = hfta.reduce sum %x over [0] : tensor<8x64xf32>
  %mean = hfta.div %sum, %eight : tensor<64xf32>, tensor<64xf32>
  %m = hfta.broadcast %mean to [8, 64] along [1] : tensor<64xf32>
  %c = hfta.sub %x, %m : tensor<8x64xf32>, tensor<8x64xf32>
  %square = hfta.mul %c, %c : tensor<8x64xf32>, tensor<8x64xf32>
  %variance = hfta.reduce sum %square over [0] : tensor<8x64xf32>
  hfta.write %variance, @z : tensor<64xf32>
  return
}

// A sum that another one's terms are made of otherwise is a kernel before it.
// CHECK-LABEL: func.func @other_terms(
// CHECK: hfta.kernel "reduce"(
// CHECK: hfta.reduce sum
// CHECK: hfta.yield
// CHECK: hfta.kernel "reduce"(
// CHECK: hfta.reduce sum
// CHECK: hfta.yield
func.func @other_terms() attributes {hfta.task = #hfta.task<forward, 0>} {
  %t = hfta.read @t : tensor<4x8x8xf32>
  %sum = hfta.reduce sum %t over [0] : tensor<4x8x8xf32>
  %m = hfta.broadcast %sum to [8, 8, 8] along [1, 2] : tensor<8x8xf32>
  %other = hfta.reduce sum %m over [1] : tensor<8x8x8xf32>
  hfta.write %other, @o : tensor<8x8xf32>
  return
}

// A variable that was written before the other sum may have to be read between
// them: then the sum stays there.
// CHECK-LABEL: func.func @read_between(
// CHECK: hfta.kernel "reduce"(%{{.*}}) : (tensor<8x64xf32>) -> tensor<64xf32> {
// CHECK: hfta.write %{{.*}}, @g
// CHECK: hfta.read @g
// CHECK: hfta.kernel "add"(
// CHECK: hfta.reduce sum
func.func @read_between() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %total = hfta.reduce sum %x over [0] : tensor<8x64xf32>
  hfta.write %total, @g : tensor<64xf32>
  %g = hfta.read @g : tensor<64xf32>
  %p = hfta.mul %x, %y : tensor<8x64xf32>, tensor<8x64xf32>
  %product = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  %s = hfta.add %product, %g : tensor<64xf32>, tensor<64xf32>
  hfta.write %s, @h : tensor<64xf32>
  return
}

// The terms of a joining sum join, too, if nothing else needs them.
// CHECK-LABEL: func.func @terms(
// CHECK: %[[E:.*]] = hfta.kernel "exp"(
// CHECK: hfta.kernel "add"(%{{.*}}, %[[E]]) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64xf32> {
// CHECK: hfta.mul
// CHECK: hfta.reduce sum
// CHECK: hfta.reduce max
// CHECK: hfta.add
// CHECK: hfta.yield
func.func @terms() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %e = hfta.exp %x : tensor<8x64xf32>
  %p = hfta.mul %x, %e : tensor<8x64xf32>, tensor<8x64xf32>
  %0 = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  %1 = hfta.reduce max %e over [0] : tensor<8x64xf32>
  %2 = hfta.add %0, %1 : tensor<64xf32>, tensor<64xf32>
  hfta.write %2, @z : tensor<64xf32>
  hfta.write %e, @y : tensor<8x64xf32>
  return
}

// A product has a kernel without sums, as it is computed by tiles.
// CHECK-LABEL: func.func @product(
// CHECK: %[[S:.*]] = hfta.kernel "reduce"(
// CHECK: hfta.kernel "add"({{.*}}%[[S]]
// CHECK: hfta.contract
// CHECK-NOT: hfta.reduce
// CHECK: return
func.func @product() attributes {hfta.task = #hfta.task<forward, 0>} {
  %m = hfta.read @m : tensor<8x8xf32>
  %t = hfta.read @t : tensor<4x8x8xf32>
  %p = hfta.contract %m, %m maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] : tensor<8x8xf32>, tensor<8x8xf32>
  %s = hfta.reduce sum %t over [0] : tensor<4x8x8xf32>
  %r = hfta.add %p, %s : tensor<8x8xf32>, tensor<8x8xf32>
  hfta.write %r, @o : tensor<8x8xf32>
  return
}
