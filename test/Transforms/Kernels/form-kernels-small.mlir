// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels -hfta-plan-memory | FileCheck %s -check-prefix=PLANNED

hfta.variable @a {role = #hfta.role<parameter>} : tensor<8xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<4x4xf32, #hfta.copies<2>>
hfta.variable @c {role = #hfta.role<parameter>} : tensor<64x100xf32, #hfta.copies<2>>
hfta.variable @da {role = #hfta.role<gradient>} : tensor<8xf32, #hfta.copies<2>>
hfta.variable @dc {role = #hfta.role<gradient>} : tensor<64x100xf32, #hfta.copies<2>>
hfta.variable @s {role = #hfta.role<output>} : tensor<8xf32>
hfta.variable @q {role = #hfta.role<parameter>} : tensor<4x4xf32, #hfta.copies<2>>
hfta.variable @t {role = #hfta.role<output>} : tensor<8xf32>
hfta.variable @wide {role = #hfta.role<output>} : tensor<32xf32>
hfta.variable @x {role = #hfta.role<input>} : tensor<4x4xf32>
hfta.variable @y {role = #hfta.role<output>} : tensor<4x4xf32>

// Small ops of one task are one kernel, whatever their shapes, and so are
// constants that are stored last; a large op has its own kernel.
// CHECK-LABEL: func.func @updates(
// CHECK: hfta.kernel "add"(%{{.*}}) : (tensor<64x100xf32, #hfta.copies<2>>, tensor<64x100xf32, #hfta.copies<2>>) -> tensor<64x100xf32, #hfta.copies<2>> {
// CHECK: %[[SMALL:.*]]:2 = hfta.kernel "neg"(%{{.*}}) : ({{.*}}) -> (tensor<8xf32, #hfta.copies<2>>, tensor<4x4xf32, #hfta.copies<2>>) {
// CHECK: hfta.add
// CHECK: hfta.neg
// CHECK: %[[ZERO:.*]]:2 = hfta.kernel "constant"() : () -> (tensor<8xf32>, tensor<64x100xf32>) {
// CHECK-NOT: hfta.kernel
// CHECK-DAG: hfta.write %[[SMALL]]#0, @a
// CHECK-DAG: hfta.write %[[SMALL]]#1, @b
// CHECK-DAG: hfta.write %[[ZERO]]#0, @da
// CHECK-DAG: hfta.write %[[ZERO]]#1, @dc
// CHECK: return
// Each value is computed where it is stored.
// PLANNED-LABEL: func.func @updates(
// PLANNED-NOT: hfta.kernel "copy"
// PLANNED: return
func.func @updates() attributes {hfta.task = #hfta.task<update, 0>} {
  %a = hfta.read @a : tensor<8xf32, #hfta.copies<2>>
  %da = hfta.read @da : tensor<8xf32, #hfta.copies<2>>
  %0 = hfta.add %a, %da : tensor<8xf32, #hfta.copies<2>>, tensor<8xf32, #hfta.copies<2>>
  hfta.write %0, @a : tensor<8xf32, #hfta.copies<2>>
  %zero = hfta.constant dense<0.0> : tensor<8xf32>
  hfta.write %zero, @da : tensor<8xf32>
  %c = hfta.read @c : tensor<64x100xf32, #hfta.copies<2>>
  %dc = hfta.read @dc : tensor<64x100xf32, #hfta.copies<2>>
  %1 = hfta.add %c, %dc : tensor<64x100xf32, #hfta.copies<2>>, tensor<64x100xf32, #hfta.copies<2>>
  hfta.write %1, @c : tensor<64x100xf32, #hfta.copies<2>>
  %zeros = hfta.constant dense<0.0> : tensor<64x100xf32>
  hfta.write %zeros, @dc : tensor<64x100xf32>
  %b = hfta.read @b : tensor<4x4xf32, #hfta.copies<2>>
  %2 = hfta.neg %b : tensor<4x4xf32, #hfta.copies<2>>
  hfta.write %2, @b : tensor<4x4xf32, #hfta.copies<2>>
  return
}

// A value that is read again after it was written keeps its place, as others do.
// CHECK-LABEL: func.func @read_again(
// CHECK: hfta.kernel "neg"
// CHECK: hfta.write %{{.*}}, @a
// CHECK: hfta.read @a
// CHECK: hfta.kernel "exp"
// CHECK: hfta.kernel "neg"
func.func @read_again() attributes {hfta.task = #hfta.task<update, 0>} {
  %a = hfta.read @a : tensor<8xf32, #hfta.copies<2>>
  %0 = hfta.neg %a : tensor<8xf32, #hfta.copies<2>>
  hfta.write %0, @a : tensor<8xf32, #hfta.copies<2>>
  %1 = hfta.read @a : tensor<8xf32, #hfta.copies<2>>
  %2 = hfta.exp %1 : tensor<8xf32, #hfta.copies<2>>
  hfta.write %2, @a : tensor<8xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<4x4xf32, #hfta.copies<2>>
  %3 = hfta.neg %b : tensor<4x4xf32, #hfta.copies<2>>
  hfta.write %3, @b : tensor<4x4xf32, #hfta.copies<2>>
  return
}

// Shared values and those of each copy are apart, and so are a constant that
// goes to all copies and one that they share.
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-2: hfta.kernel "{{neg|exp}}"
// PLANNED-LABEL: func.func @shared(
// PLANNED: return
func.func @shared() attributes {hfta.task = #hfta.task<update, 0>} {
  %s = hfta.read @s : tensor<8xf32>
  %a = hfta.read @a : tensor<8xf32, #hfta.copies<2>>
  %0 = hfta.neg %s : tensor<8xf32>
  hfta.write %0, @s : tensor<8xf32>
  %1 = hfta.exp %a : tensor<8xf32, #hfta.copies<2>>
  hfta.write %1, @a : tensor<8xf32, #hfta.copies<2>>
  return
}

// PLANNED-LABEL: func.func @constants(
// PLANNED-COUNT-2: hfta.kernel "constant"
// PLANNED-NOT: hfta.kernel "copy"
// PLANNED: return
func.func @constants() attributes {hfta.task = #hfta.task<update, 0>} {
  %zero = hfta.constant dense<0.0> : tensor<8xf32>
  hfta.write %zero, @da : tensor<8xf32>
  hfta.write %zero, @s : tensor<8xf32>
  return
}

// Nothing is moved either if a variable is written twice.
// CHECK-LABEL: func.func @written_twice(
// CHECK: %[[FIRST:.*]] = hfta.kernel "neg"
// CHECK: hfta.write %[[FIRST]], @b
// CHECK: %[[SECOND:.*]] = hfta.kernel "exp"
// CHECK: hfta.write %[[SECOND]], @b
func.func @written_twice() attributes {hfta.task = #hfta.task<update, 0>} {
  %b = hfta.read @q : tensor<4x4xf32, #hfta.copies<2>>
  %0 = hfta.neg %b : tensor<4x4xf32, #hfta.copies<2>>
  hfta.write %0, @b : tensor<4x4xf32, #hfta.copies<2>>
  %1 = hfta.exp %b : tensor<4x4xf32, #hfta.copies<2>>
  hfta.write %1, @b : tensor<4x4xf32, #hfta.copies<2>>
  return
}

// The operand of a broadcast that is stored, through a view, comes before it.
// CHECK-LABEL: func.func @spread(
// CHECK: %[[NEG:.*]] = hfta.kernel "neg"
// CHECK: hfta.kernel "broadcast"(%[[NEG]])
// CHECK: hfta.reshape
// CHECK: hfta.write %{{.*}}, @wide
func.func @spread() attributes {hfta.task = #hfta.task<forward, 0>} {
  %s = hfta.read @s : tensor<8xf32>
  %0 = hfta.neg %s : tensor<8xf32>
  %1 = hfta.broadcast %0 to [4, 8] along [1] : tensor<8xf32>
  %2 = hfta.reshape %1 to [32] : tensor<4x8xf32>
  %t = hfta.read @t : tensor<8xf32>
  %3 = hfta.exp %t : tensor<8xf32>
  hfta.write %3, @t : tensor<8xf32>
  hfta.write %2, @wide : tensor<32xf32>
  return
}

// A product's kernel computes nothing but values made from its elements.
// CHECK-LABEL: func.func @product(
// CHECK: hfta.kernel "relu"(%{{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
// CHECK: hfta.contract
// CHECK: hfta.relu
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "exp"(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK: return
func.func @product() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<4x4xf32>
  %t = hfta.read @t : tensor<8xf32>
  %c = hfta.read @y : tensor<4x4xf32>
  %0 = hfta.contract %x, %c maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = hfta.relu %0 : tensor<4x4xf32>
  %2 = hfta.exp %t : tensor<8xf32>
  hfta.write %1, @y : tensor<4x4xf32>
  hfta.write %2, @t : tensor<8xf32>
  return
}
