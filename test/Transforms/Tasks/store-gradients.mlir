// RUN: hfta-opt %s -hfta-store-gradients -canonicalize | FileCheck %s -enable-var-scope
// RUN: sed 's/epochs = 1/micro_batches = 2 : i64, &/' %s | hfta-opt -hfta-store-gradients -canonicalize | FileCheck %s --check-prefix=ADDED
module attributes {hfta.job = {name = "j", optimizers = [{name = "sgd"}], copies = 2 : i64, batch = 4 : i64,
    epochs = 1 : i64}} {
// CHECK: hfta.stores_gradients
// ADDED-NOT: hfta.stores_gradients
hfta.variable @w {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @g {role = #hfta.role<gradient>} : tensor<4xbf16, #hfta.copies<2>>
hfta.variable @read {role = #hfta.role<gradient>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @twice {role = #hfta.role<gradient>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @state {role = #hfta.role<optimizer_state>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @both {role = #hfta.role<gradient>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @apart {role = #hfta.role<gradient>} : tensor<4xf32, #hfta.copies<2>>

// A gradient may be computed in another type than it is stored in.
// CHECK-LABEL: func.func @backward(
// A sum with zero is stored, since -0 + 0 is 0.
// CHECK: %[[ZERO:.+]] = hfta.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: %[[D:.+]] = hfta.read @w
// CHECK: %[[SUM:.+]] = hfta.add %[[ZERO]], %[[D]] : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
// CHECK: %[[N:.+]] = hfta.cast %[[SUM]] : tensor<4xf32, #hfta.copies<2>> to bf16
// CHECK: hfta.write %[[N]], @g
// ADDED-LABEL: func.func @backward(
// ADDED: hfta.read @g
// Values that the task itself reads, that it adds to twice, or that are no
// gradients stay sums.
// CHECK: hfta.read @read
// CHECK: hfta.read @read
// CHECK: %[[T:.+]] = hfta.read @twice
// CHECK: %[[S:.+]] = hfta.add %[[T]], %[[D]]
// CHECK: hfta.write %[[S]], @twice
// CHECK: hfta.read @state
// Each copy has a gradient of its own.
// CHECK: %[[FIRST:.+]] = hfta.unstack %[[D]]
// CHECK: %[[SECOND:.+]] = hfta.unstack %[[D]]
// CHECK: %[[FIRSTSUM:.+]] = hfta.add %[[ZERO]], %[[FIRST]]
// CHECK: hfta.write %[[FIRSTSUM]], @apart copy 0
// CHECK: %[[SECONDSUM:.+]] = hfta.add %[[SECOND]], %[[ZERO]]
// CHECK: hfta.write %[[SECONDSUM]], @apart copy 1
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %d = hfta.read @w : tensor<4xf32, #hfta.copies<2>>
  %old = hfta.read @g : tensor<4xbf16, #hfta.copies<2>>
  %wide = hfta.cast %old : tensor<4xbf16, #hfta.copies<2>> to f32
  %sum = hfta.add %wide, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  %narrow = hfta.cast %sum : tensor<4xf32, #hfta.copies<2>> to bf16
  hfta.write %narrow, @g : tensor<4xbf16, #hfta.copies<2>>
  %r = hfta.read @read : tensor<4xf32, #hfta.copies<2>>
  %rs = hfta.add %r, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %rs, @read : tensor<4xf32, #hfta.copies<2>>
  %again = hfta.read @read : tensor<4xf32, #hfta.copies<2>>
  hfta.write %again, @w : tensor<4xf32, #hfta.copies<2>>
  %t = hfta.read @twice : tensor<4xf32, #hfta.copies<2>>
  %ts = hfta.add %t, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %ts, @twice : tensor<4xf32, #hfta.copies<2>>
  %o = hfta.read @state : tensor<4xf32, #hfta.copies<2>>
  %os = hfta.add %o, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %os, @state : tensor<4xf32, #hfta.copies<2>>
  %d0 = hfta.unstack %d[0] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %d1 = hfta.unstack %d[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %a0 = hfta.read @apart copy 0 : tensor<4xf32>
  %s0 = hfta.add %a0, %d0 : tensor<4xf32>, tensor<4xf32>
  hfta.write %s0, @apart copy 0 : tensor<4xf32>
  %a1 = hfta.read @apart copy 1 : tensor<4xf32>
  %s1 = hfta.add %d1, %a1 : tensor<4xf32>, tensor<4xf32>
  hfta.write %s1, @apart copy 1 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @other(
// CHECK: hfta.write %{{.+}}, @twice
// A gradient of all copies and of one copy is added to twice.
// CHECK: hfta.read @both
// CHECK: hfta.read @both copy 0
// CHECK: return
func.func @other() attributes {hfta.task = #hfta.task<backward, 1>} {
  %d = hfta.read @w : tensor<4xf32, #hfta.copies<2>>
  %t = hfta.read @twice : tensor<4xf32, #hfta.copies<2>>
  %ts = hfta.add %t, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %ts, @twice : tensor<4xf32, #hfta.copies<2>>
  %b = hfta.read @both : tensor<4xf32, #hfta.copies<2>>
  %bs = hfta.add %b, %d : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %bs, @both : tensor<4xf32, #hfta.copies<2>>
  %d0 = hfta.unstack %d[0] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %b0 = hfta.read @both copy 0 : tensor<4xf32>
  %bs0 = hfta.add %b0, %d0 : tensor<4xf32>, tensor<4xf32>
  hfta.write %bs0, @both copy 0 : tensor<4xf32>
  return
}

// Only what is added to is cleared.
// CHECK-LABEL: func.func @update(
// CHECK: hfta.read @g
// CHECK-NOT: hfta.write %{{.+}}, @g
// CHECK: hfta.write %{{.+}}, @twice
// CHECK-NOT: hfta.write %{{.+}}, @apart
// CHECK: return
// ADDED-LABEL: func.func @update(
// ADDED: hfta.write %{{.+}}, @g
func.func @update() attributes {hfta.task = #hfta.task<update, 0>} {
  %g = hfta.read @g : tensor<4xbf16, #hfta.copies<2>>
  %wide = hfta.cast %g : tensor<4xbf16, #hfta.copies<2>> to f32
  hfta.write %wide, @w : tensor<4xf32, #hfta.copies<2>>
  %narrow = hfta.constant dense<0.0> : tensor<4xbf16>
  hfta.write %narrow, @g : tensor<4xbf16>
  %zero = hfta.constant dense<0.0> : tensor<4xf32>
  hfta.write %zero, @twice : tensor<4xf32>
  hfta.write %zero, @apart : tensor<4xf32>
  return
}
}
