// RUN: hfta-opt %s -hfta-form-kernels | FileCheck %s -enable-var-scope

// On a processor, sums of one tensor are one kernel, too. Writes stay at their
// places, except those that wait for the kernel.

hfta.variable @x {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @y {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @g {role = #hfta.role<gradient>} : tensor<64xf32>
hfta.variable @h {role = #hfta.role<gradient>} : tensor<64xf32>
hfta.variable @o {role = #hfta.role<output>} : tensor<8x64xf32>

// CHECK-LABEL: func.func @passed(
// CHECK: %[[OTHER:.*]] = hfta.kernel "exp"
// CHECK: hfta.write %[[OTHER]], @o
// CHECK: %[[S:.*]]:2 = hfta.kernel "reduce"(
// CHECK-COUNT-2: hfta.reduce sum
// CHECK: hfta.yield
// CHECK: %[[N:.*]] = hfta.kernel "neg"(%[[S]]#0)
// CHECK: hfta.write %[[N]], @g
// CHECK: hfta.write %[[S]]#1, @h
func.func @passed() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %total = hfta.reduce sum %x over [0] : tensor<8x64xf32>
  %n = hfta.neg %total : tensor<64xf32>
  hfta.write %n, @g : tensor<64xf32>
  %other = hfta.exp %y : tensor<8x64xf32>
  hfta.write %other, @o : tensor<8x64xf32>
  %p = hfta.mul %x, %y : tensor<8x64xf32>, tensor<8x64xf32>
  %product = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  hfta.write %product, @h : tensor<64xf32>
  return
}

// Nothing is moved past the write of a variable that the task reads: the first
// sum needs the value before it.
// CHECK-LABEL: func.func @fixed(
// CHECK: hfta.kernel "reduce"
// CHECK: hfta.write %{{.*}}, @o
// CHECK: hfta.kernel "reduce"
// CHECK-NOT: hfta.kernel
func.func @fixed() attributes {hfta.task = #hfta.task<backward, 0>} {
  %old = hfta.read @o : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %p = hfta.mul %old, %y : tensor<8x64xf32>, tensor<8x64xf32>
  %first = hfta.reduce sum %p over [0] : tensor<8x64xf32>
  %new = hfta.exp %y : tensor<8x64xf32>
  hfta.write %new, @o : tensor<8x64xf32>
  %second = hfta.reduce sum %y over [0] : tensor<8x64xf32>
  hfta.write %first, @g : tensor<64xf32>
  hfta.write %second, @h : tensor<64xf32>
  return
}
