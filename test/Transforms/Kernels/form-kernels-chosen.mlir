// RUN: hfta-opt %s -hfta-form-kernels | FileCheck %s -enable-var-scope

hfta.variable @i {role = #hfta.role<saved>} : tensor<8x16xi32>
hfta.variable @p {role = #hfta.role<saved>} : tensor<8x16xf32>
hfta.variable @j {role = #hfta.role<saved>} : tensor<4x16xi32>
hfta.variable @q {role = #hfta.role<saved>} : tensor<4x16xf32>
hfta.variable @g {role = #hfta.role<gradient>} : tensor<16xf32>

// A large sum over samples and planes is two, of which the first, over the
// planes of chosen elements, is the elements themselves.
// CHECK-LABEL: func.func @planes(
// CHECK-NOT: 16x16x16
// CHECK: hfta.reduce sum %{{.*}} over [0] : tensor<8x16xf32>
// CHECK-NOT: 16x16x16
// CHECK: hfta.write %{{.*}}, @g
func.func @planes() attributes {hfta.task = #hfta.task<backward, 0>} {
  %i = hfta.read @i : tensor<8x16xi32>
  %p = hfta.read @p : tensor<8x16xf32>
  %row = hfta.iota [8, 16, 16, 16] along 2 : i32
  %column = hfta.iota [8, 16, 16, 16] along 3 : i32
  %width = hfta.constant dense<16> : tensor<8x16x16x16xi32>
  %start = hfta.mul %row, %width : tensor<8x16x16x16xi32>, tensor<8x16x16x16xi32>
  %position = hfta.add %start, %column : tensor<8x16x16x16xi32>, tensor<8x16x16x16xi32>
  %index = hfta.broadcast %i to [8, 16, 16, 16] along [0, 1] : tensor<8x16xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<8x16x16x16xi32>, tensor<8x16x16x16xi32>
  %values = hfta.broadcast %p to [8, 16, 16, 16] along [0, 1] : tensor<8x16xf32>
  %zero = hfta.constant dense<0.0> : tensor<8x16x16x16xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<8x16x16x16xi1>, tensor<8x16x16x16xf32>, tensor<8x16x16x16xf32>
  %sum = hfta.reduce sum %placed over [0, 2, 3] : tensor<8x16x16x16xf32>
  hfta.write %sum, @g : tensor<16xf32>
  return
}

// A small sum isn't divided: its terms are added in the order that they have
// where another task has placed them.
// CHECK-LABEL: func.func @small(
// CHECK: hfta.reduce sum %{{.*}} over [0, 2, 3] : tensor<4x16x16x16xf32>
func.func @small() attributes {hfta.task = #hfta.task<backward, 1>} {
  %i = hfta.read @j : tensor<4x16xi32>
  %p = hfta.read @q : tensor<4x16xf32>
  %row = hfta.iota [4, 16, 16, 16] along 2 : i32
  %column = hfta.iota [4, 16, 16, 16] along 3 : i32
  %width = hfta.constant dense<16> : tensor<4x16x16x16xi32>
  %start = hfta.mul %row, %width : tensor<4x16x16x16xi32>, tensor<4x16x16x16xi32>
  %position = hfta.add %start, %column : tensor<4x16x16x16xi32>, tensor<4x16x16x16xi32>
  %index = hfta.broadcast %i to [4, 16, 16, 16] along [0, 1] : tensor<4x16xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<4x16x16x16xi32>, tensor<4x16x16x16xi32>
  %values = hfta.broadcast %p to [4, 16, 16, 16] along [0, 1] : tensor<4x16xf32>
  %zero = hfta.constant dense<0.0> : tensor<4x16x16x16xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<4x16x16x16xi1>, tensor<4x16x16x16xf32>, tensor<4x16x16x16xf32>
  %sum = hfta.reduce sum %placed over [0, 2, 3] : tensor<4x16x16x16xf32>
  hfta.write %sum, @g : tensor<16xf32>
  return
}
