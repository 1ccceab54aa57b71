// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-outline-kernels | FileCheck %s -enable-var-scope

// Equal regions become one function, whatever their kernels' names and places;
// other ties or shapes make another.
hfta.variable @a {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @s {role = #hfta.role<parameter>} : tensor<4xf32>

// CHECK-LABEL: func.func @first()
// CHECK-NEXT: hfta.launch @[[$COPY:"kernel/copy.0"]] on [#hfta.binding<0, 0, 64>, #hfta.binding<0, 128, 64>] inputs 1 written [1] {per_copy}
// CHECK-NEXT: hfta.launch @[[$NEG:"kernel/neg.1"]] on [#hfta.binding<0, 0, 64>] inputs 1 written [0] {per_copy}
// CHECK-NEXT: return
func.func @first() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @a : tensor<4xf32, #hfta.copies<2>>
  %0 = hfta.kernel "copy"(%a) {bindings = [#hfta.binding<0, 0, 64>, #hfta.binding<0, 128, 64>], ties = array<i64: -1>} : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  ^bb0(%x: tensor<4xf32>):
    hfta.yield %x : tensor<4xf32>
  }
  hfta.write %0, @b : tensor<4xf32, #hfta.copies<2>>
  %1 = hfta.kernel "neg"(%a) {bindings = [#hfta.binding<0, 0, 64>], ties = array<i64: 0>} : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  ^bb0(%x: tensor<4xf32>):
    %2 = hfta.neg %x : tensor<4xf32>
    hfta.yield %2 : tensor<4xf32>
  }
  hfta.write %1, @a : tensor<4xf32, #hfta.copies<2>>
  return
}

// A kernel that reads another copy's values needs all copies to be there.
// CHECK-LABEL: func.func @other_copy()
// CHECK-NEXT: hfta.launch @{{.*}} inputs 2 written [0] {hfta.reads_copies, per_copy}
func.func @other_copy() attributes {hfta.task = #hfta.task<forward, 1>} {
  %a = hfta.read @a : tensor<4xf32, #hfta.copies<2>>
  %b1 = hfta.read @b copy 1 : tensor<4xf32>
  %0 = hfta.kernel "add"(%a, %b1) {bindings = [#hfta.binding<0, 0, 64>, #hfta.binding<0, 128, 64, 1>], ties = array<i64: 0>} : (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %2 = hfta.add %x, %y : tensor<4xf32>, tensor<4xf32>
    hfta.yield %2 : tensor<4xf32>
  }
  hfta.write %0, @a : tensor<4xf32, #hfta.copies<2>>
  return
}

// Gradients of equal layers are one function, which names no layer.
// CHECK-LABEL: func.func @layers()
// CHECK-NEXT: hfta.launch @[[$DENSE:"kernel/contract.3"]]
// CHECK-NEXT: hfta.launch @[[$DENSE]]
#x = affine_map<(n, m, k) -> (n, k)>
#g = affine_map<(n, m, k) -> (n, m)>
#w = affine_map<(n, m, k) -> (m, k)>
func.func @layers() attributes {hfta.task = #hfta.task<backward, 1>} {
  %s = hfta.read @s : tensor<4xf32>
  %x = hfta.reshape %s to [2, 2] : tensor<4xf32>
  %0 = hfta.kernel "contract"(%x) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<0, 320, 0>], ties = array<i64: -1>} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<2x2xf32>):
    %2 = hfta.contract %i, %i maps [#x, #g, #w] : tensor<2x2xf32>, tensor<2x2xf32>
    hfta.yield %2 : tensor<2x2xf32>
  }
  %1 = hfta.kernel "contract"(%x) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<0, 384, 0>], ties = array<i64: -1>} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<2x2xf32>):
    %2 = hfta.contract %i, %i maps [#x, #g, #w] : tensor<2x2xf32>, tensor<2x2xf32>
    hfta.yield %2 : tensor<2x2xf32>
  }
  return
}

// A kernel on shared places alone runs once.
// CHECK-LABEL: func.func @second()
// CHECK-NEXT: hfta.launch @[[$COPY]] on [#hfta.binding<0, 256, 0>, #hfta.binding<0, 0, 64>] inputs 1 written [1] {per_copy}
// CHECK-NEXT: hfta.launch @[[$NEG]] on [#hfta.binding<0, 256, 0>] inputs 1 written [0]{{$}}
// CHECK-NEXT: hfta.launch @[[$OTHER:"kernel/neg.4"]] on [#hfta.binding<0, 256, 0>, #hfta.binding<0, 320, 0>] inputs 1 written [1]{{$}}
// CHECK-NEXT: return
func.func @second() attributes {hfta.task = #hfta.task<backward, 0>} {
  %s = hfta.read @s : tensor<4xf32>
  %0 = hfta.kernel "another_name"(%s) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<0, 0, 64>], ties = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%other: tensor<4xf32>):
    hfta.yield %other : tensor<4xf32>
  }
  hfta.write %0, @a : tensor<4xf32>
  %1 = hfta.kernel "neg"(%s) {bindings = [#hfta.binding<0, 256, 0>], ties = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %2 = hfta.neg %x : tensor<4xf32>
    hfta.yield %2 : tensor<4xf32>
  }
  hfta.write %1, @s : tensor<4xf32>
  %3 = hfta.kernel "neg"(%1) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<0, 320, 0>], ties = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %4 = hfta.neg %x : tensor<4xf32>
    hfta.yield %4 : tensor<4xf32>
  }
  return
}

// CHECK: func.func private @[[$COPY]](%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.copies = 2 : i64, hfta.kernel, hfta.ties = array<i64: -1>} {
// CHECK-NEXT: return %[[X]] : tensor<4xf32>
// CHECK: func.func private @[[$NEG]](%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.copies = 2 : i64, hfta.kernel, hfta.ties = array<i64: 0>} {
// CHECK: func.func private @[[$OTHER]](%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
// CHECK-NOT: func.func private

// -----

func.func @unplanned() attributes {hfta.task = #hfta.task<forward, 0>} {
  // expected-error@+1 {{kernel has no planned memory; run hfta-plan-memory first}}
  %0 = hfta.kernel "zero"() : () -> tensor<4xf32> {
    %c = hfta.constant dense<0.0> : tensor<4xf32>
    hfta.yield %c : tensor<4xf32>
  }
  return
}
