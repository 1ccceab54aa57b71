// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-form-kernels | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-form-kernels | FileCheck %s -check-prefix=APART

hfta.variable @x {role = #hfta.role<input>} : tensor<4x8x6x8xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<16x8x3x3xf32>
hfta.variable @v {role = #hfta.role<input>} : tensor<4x16x6x8xf32>
hfta.variable @y {role = #hfta.role<saved>} : tensor<4x16x6x8xf32>
hfta.variable @s {role = #hfta.role<saved>} : tensor<6x16xf32>
hfta.variable @q {role = #hfta.role<saved>} : tensor<6x16xf32>
hfta.variable @g {role = #hfta.role<gradient>} : tensor<16xf32>
hfta.variable @h {role = #hfta.role<gradient>} : tensor<16xf32>
hfta.variable @wide {role = #hfta.role<input>} : tensor<4x16x3x4xf32>

// A convolution's kernel sums parts of its result, which it stores too, and of
// values computed from that alone.
// CHECK-LABEL: func.func @beside(
// CHECK: %[[ALL:.+]]:3 = hfta.kernel "part_sums"(
// CHECK-SAME: -> (tensor<4x16x6x8xf32>, tensor<6x16xf32>, tensor<6x16xf32>) {
// CHECK: %[[Y:.+]] = hfta.conv
// CHECK: hfta.part_sums %[[Y]] of 32 along 1 : tensor<4x16x6x8xf32>
// CHECK: %[[Z:.+]] = hfta.mul %[[Y]],
// CHECK: hfta.part_sums %[[Z]] of 32 along 1 {centered}
// CHECK: hfta.yield
// CHECK-NOT: hfta.kernel "conv"
// Other kernels sum parts of tensors that they read.
// APART-LABEL: func.func @beside(
// APART: hfta.kernel "conv"
// APART: hfta.kernel "part_sums"
// APART: hfta.kernel "part_sums"
func.func @beside() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<4x8x6x8xf32>
  %w = hfta.read @w : tensor<16x8x3x3xf32>
  %v = hfta.read @v : tensor<4x16x6x8xf32>
  %y = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x8x6x8xf32>, tensor<16x8x3x3xf32>
  %s = hfta.part_sums %y of 32 along 1 : tensor<4x16x6x8xf32>
  hfta.write %s, @s : tensor<6x16xf32>
  %z = hfta.mul %y, %v : tensor<4x16x6x8xf32>, tensor<4x16x6x8xf32>
  %q = hfta.part_sums %z of 32 along 1 {centered} : tensor<4x16x6x8xf32>
  hfta.write %q, @q : tensor<6x16xf32>
  hfta.write %y, @y : tensor<4x16x6x8xf32>
  return
}

// This isn't so if a tile has no whole parts, or positions on both of its sides.
// CHECK-LABEL: func.func @other_parts(
// CHECK: hfta.kernel "conv"(
// CHECK: hfta.kernel "part_sums"(
// CHECK: hfta.kernel "conv_input_gradient"(
// CHECK: hfta.kernel "part_sums"(
func.func @other_parts() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<4x8x6x8xf32>
  %w = hfta.read @w : tensor<16x8x3x3xf32>
  %y = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x8x6x8xf32>, tensor<16x8x3x3xf32>
  %s = hfta.part_sums %y of 24 along 1 : tensor<4x16x6x8xf32>
  %t = hfta.reduce sum %s over [0] : tensor<8x16xf32>
  hfta.write %t, @g : tensor<16xf32>
  %wide = hfta.read @wide : tensor<4x16x3x4xf32>
  %i = hfta.conv_input_gradient %wide, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 4, 8, 6, 8>} : tensor<4x16x3x4xf32>, tensor<16x8x3x3xf32>
  %p = hfta.part_sums %i of 32 along 1 : tensor<4x8x6x8xf32>
  %r = hfta.reshape %p to [3, 16] : tensor<6x8xf32>
  %u = hfta.reduce sum %r over [0] : tensor<3x16xf32>
  hfta.write %u, @h : tensor<16xf32>
  return
}

// Parts are combined from little data: sums with equal numbers of sums and
// terms are one kernel, whatever their operands are.
// CHECK-LABEL: func.func @together(
// CHECK: hfta.kernel "reduce"(%{{.+}}, %{{.+}}) : (tensor<6x16xf32>, tensor<6x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
// CHECK-NOT: hfta.kernel
// APART-LABEL: func.func @together(
// APART-COUNT-2: hfta.kernel "reduce"(
func.func @together() attributes {hfta.task = #hfta.task<backward, 1>} {
  %s = hfta.read @s : tensor<6x16xf32>
  %q = hfta.read @q : tensor<6x16xf32>
  %t = hfta.reduce sum %s over [0] : tensor<6x16xf32>
  hfta.write %t, @g : tensor<16xf32>
  %u = hfta.reduce sum %q over [0] : tensor<6x16xf32>
  hfta.write %u, @h : tensor<16xf32>
  return
}
