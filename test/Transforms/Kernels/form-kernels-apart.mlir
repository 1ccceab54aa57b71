// RUN: hfta-opt %s -hfta-form-kernels | FileCheck %s -enable-var-scope

hfta.variable @x {role = #hfta.role<parameter>} : tensor<8x16x256xf32, #hfta.copies<2>>
hfta.variable @r {role = #hfta.role<optimizer_state>} : tensor<16xf32, #hfta.copies<2>>

// Where copies are apart, both parts of a large reduction are for the copy that
// the whole was for: the first one takes what feeds it.
// CHECK-LABEL: func.func @split(
// CHECK: %[[X:.*]] = hfta.read @x copy 1
// CHECK: %[[S:.*]] = hfta.kernel "reduce"(%[[X]]) : (tensor<8x16x256xf32>) -> tensor<8x16xf32> {
// CHECK: hfta.mul
// CHECK: hfta.reduce sum %{{.*}} over [2]
// CHECK: hfta.kernel "reduce"(%[[S]])
// CHECK: hfta.reduce sum %{{.*}} over [0]
// CHECK-NOT: hfta.kernel
// CHECK: return
func.func @split() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x copy 1 : tensor<8x16x256xf32>
  %square = hfta.mul %x, %x : tensor<8x16x256xf32>, tensor<8x16x256xf32>
  %sum = hfta.reduce sum %square over [0, 2] : tensor<8x16x256xf32>
  hfta.write %sum, @r copy 1 : tensor<16xf32>
  return
}
