// RUN: hfta-opt %s -hfta-remake-saved | FileCheck %s -enable-var-scope

hfta.variable @image {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @other {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @scale {role = #hfta.role<parameter>} : tensor<64xf32>
hfta.variable @dw {role = #hfta.role<gradient>} : tensor<64x64xf32>
hfta.variable @ds {role = #hfta.role<gradient>} : tensor<64xf32>
hfta.variable @out {role = #hfta.role<output>} : tensor<8x64xf32>
hfta.variable @x {role = #hfta.role<saved>} : tensor<8x64xf32>
// CHECK: hfta.variable @y {role = #hfta.role<saved>}
hfta.variable @y {role = #hfta.role<saved>} : tensor<8x64xf32>
// CHECK: hfta.variable @z {role = #hfta.role<saved>}
hfta.variable @z {role = #hfta.role<saved>} : tensor<8x64xf32>

func.func @forward() attributes {hfta.task = #hfta.task<forward, 0>} {
  %image = hfta.read @image : tensor<8x64xf32>
  %other = hfta.read @other : tensor<8x64xf32>
  %x = hfta.contract %image, %image maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %x, @x : tensor<8x64xf32>
  %p = hfta.read @scale : tensor<64xf32>
  %b = hfta.broadcast %p to [8, 64] along [1] : tensor<64xf32>
  %m = hfta.mul %x, %b : tensor<8x64xf32>, tensor<8x64xf32>
  %y = hfta.relu %m : tensor<8x64xf32>
  hfta.write %y, @y : tensor<8x64xf32>
  %n = hfta.mul %other, %b : tensor<8x64xf32>, tensor<8x64xf32>
  %z = hfta.relu %n : tensor<8x64xf32>
  hfta.write %z, @z : tensor<8x64xf32>
  return
}

// A product multiplies the activation in memory. Its sign is that of the value that it
// was computed from, which a sum needs besides the gradient: that value is read once.
// CHECK-LABEL: func.func @backward(
// CHECK: %[[X:.+]] = hfta.read @x
// CHECK: %[[P:.+]] = hfta.read @scale
// CHECK: %[[B:.+]] = hfta.broadcast %[[P]]
// CHECK: %[[M:.+]] = hfta.mul %[[X]], %[[B]]
// CHECK: %[[MADE:.+]] = hfta.relu %[[M]]
// CHECK: %[[Y:.+]] = hfta.read @y
// CHECK-NOT: hfta.read @x
// CHECK: hfta.contract %[[Y]],
// CHECK: %[[SIGN:.+]] = hfta.compare less_equal, %[[MADE]],
// CHECK: %[[G:.+]] = hfta.select %[[SIGN]]
// CHECK: hfta.mul %[[G]], %[[X]]
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %zero = hfta.constant dense<0.0> : tensor<8x64xf32>
  %d = hfta.read @other : tensor<8x64xf32>
  %y = hfta.read @y : tensor<8x64xf32>
  %x = hfta.read @x : tensor<8x64xf32>
  %w = hfta.contract %y, %d maps [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %w, @dw : tensor<64x64xf32>
  %sign = hfta.compare less_equal, %y, %zero : tensor<8x64xf32>, tensor<8x64xf32>
  %g = hfta.select %sign, %zero, %d : tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>
  %gx = hfta.mul %g, %x : tensor<8x64xf32>, tensor<8x64xf32>
  %s = hfta.reduce sum %gx over [0] : tensor<8x64xf32>
  hfta.write %s, @ds : tensor<64xf32>
  return
}

// If nothing is summed with that value, the activation itself is read.
// CHECK-LABEL: func.func @no_sum(
// CHECK: %[[Z:.+]] = hfta.read @z
// CHECK-NOT: hfta.relu
// CHECK: hfta.compare less_equal, %[[Z]],
func.func @no_sum() attributes {hfta.task = #hfta.task<backward, 1>} {
  %zero = hfta.constant dense<0.0> : tensor<8x64xf32>
  %d = hfta.read @image : tensor<8x64xf32>
  %z = hfta.read @z : tensor<8x64xf32>
  %w = hfta.contract %z, %d maps [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %w, @dw : tensor<64x64xf32>
  %sign = hfta.compare less_equal, %z, %zero : tensor<8x64xf32>, tensor<8x64xf32>
  %g = hfta.select %sign, %zero, %d : tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %g, @out : tensor<8x64xf32>
  return
}
