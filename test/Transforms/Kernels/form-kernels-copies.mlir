// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels | FileCheck %s -enable-var-scope

hfta.variable @a {role = #hfta.role<parameter>} : tensor<8xf32, #hfta.copies<3>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<4x4xf32, #hfta.copies<3>>
hfta.variable @c {role = #hfta.role<parameter>} : tensor<8xf32, #hfta.copies<3>>

// Small ops for the same copies are one kernel, although their task reads
// variables after other copies' values of them have been written.
// CHECK-LABEL: func.func @kinds(
// CHECK: %[[FIRST:.*]]:2 = hfta.kernel "neg"(%{{.*}})
// CHECK: %[[OTHERS:.*]]:2 = hfta.kernel "exp"(%{{.*}})
// CHECK-NOT: hfta.kernel
// CHECK-DAG: hfta.write %[[FIRST]]#{{.}}, @a only [0]
// CHECK-DAG: hfta.write %[[FIRST]]#{{.}}, @b only [0]
// CHECK-DAG: hfta.write %[[OTHERS]]#{{.}}, @a only [1, 2]
// CHECK-DAG: hfta.write %[[OTHERS]]#{{.}}, @b only [1, 2]
// CHECK: return
func.func @kinds() attributes {hfta.task = #hfta.task<update, 0>} {
  %a = hfta.read @a only [0] : tensor<8xf32, #hfta.copies<3>>
  %na = hfta.neg %a : tensor<8xf32, #hfta.copies<3>>
  hfta.write %na, @a only [0] : tensor<8xf32, #hfta.copies<3>>
  %b = hfta.read @b only [0] : tensor<4x4xf32, #hfta.copies<3>>
  %nb = hfta.neg %b : tensor<4x4xf32, #hfta.copies<3>>
  hfta.write %nb, @b only [0] : tensor<4x4xf32, #hfta.copies<3>>
  %c = hfta.read @a only [1, 2] : tensor<8xf32, #hfta.copies<3>>
  %ec = hfta.exp %c : tensor<8xf32, #hfta.copies<3>>
  hfta.write %ec, @a only [1, 2] : tensor<8xf32, #hfta.copies<3>>
  %d = hfta.read @b only [1, 2] : tensor<4x4xf32, #hfta.copies<3>>
  %ed = hfta.exp %d : tensor<4x4xf32, #hfta.copies<3>>
  hfta.write %ed, @b only [1, 2] : tensor<4x4xf32, #hfta.copies<3>>
  return
}

// A copy's value that is read after it has been written keeps its place.
// CHECK-LABEL: func.func @again(
// CHECK: hfta.write %{{.*}}, @a only [0]
// CHECK: hfta.read @a only [0, 1]
// CHECK: return
func.func @again() attributes {hfta.task = #hfta.task<update, 1>} {
  %a = hfta.read @a only [0] : tensor<8xf32, #hfta.copies<3>>
  %na = hfta.neg %a : tensor<8xf32, #hfta.copies<3>>
  hfta.write %na, @a only [0] : tensor<8xf32, #hfta.copies<3>>
  %c = hfta.read @a only [0, 1] : tensor<8xf32, #hfta.copies<3>>
  %ec = hfta.exp %c : tensor<8xf32, #hfta.copies<3>>
  hfta.write %ec, @c only [0, 1] : tensor<8xf32, #hfta.copies<3>>
  return
}
