// RUN: hfta-opt %s -hfta-form-kernels -hfta-assign-layouts | FileCheck %s -enable-var-scope

// A value that backward recomputes has the layout of the one that forward
// computed, also where only a reshape of a saved value leads to it: its sums
// have one order, whether the value was saved or not.

hfta.variable @image {role = #hfta.role<input>} : tensor<4x1296xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<16x16x3x3xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<1296xf32, #hfta.copies<2>>
hfta.variable @"hfta.saved/0" {role = #hfta.role<saved>} : tensor<4x1296xf32, #hfta.copies<2>>
hfta.variable @"hfta.evaluation/cut/0" {role = #hfta.role<cut>} : tensor<4x1296xf32, #hfta.copies<2>>
hfta.variable @shown {role = #hfta.role<output>} : tensor<4x16x9x9xf32, #hfta.copies<2>>
hfta.variable @db {role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>

// CHECK-LABEL: func.func @"task/forward.0"
// CHECK: hfta.relu {{.*}} : tensor<4x9x9x16xf32>
func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
  %image = hfta.read @image : tensor<4x1296xf32>
  %b = hfta.read @b : tensor<1296xf32, #hfta.copies<2>>
  %wide = hfta.broadcast %b to [4, 1296] along [1] : tensor<1296xf32, #hfta.copies<2>>
  %sum = hfta.add %image, %wide : tensor<4x1296xf32>, tensor<4x1296xf32, #hfta.copies<2>>
  %tanh = hfta.tanh %sum : tensor<4x1296xf32, #hfta.copies<2>>
  hfta.write %tanh, @"hfta.saved/0" : tensor<4x1296xf32, #hfta.copies<2>>
  %grid = hfta.reshape %tanh to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %relu = hfta.relu %grid : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %w = hfta.read @w : tensor<16x16x3x3xf32, #hfta.copies<2>>
  %conv = hfta.conv %relu, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x16x9x9xf32, #hfta.copies<2>>, tensor<16x16x3x3xf32, #hfta.copies<2>>
  hfta.write %conv, @shown : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}

// CHECK-LABEL: func.func @"task/backward.0"
// CHECK: hfta.relu {{.*}} : tensor<4x9x9x16xf32>
// CHECK: hfta.reduce sum {{.*}} over [0, 1, 2] : tensor<4x9x9x16xf32>
func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
  %tanh = hfta.read @"hfta.saved/0" : tensor<4x1296xf32, #hfta.copies<2>>
  %grid = hfta.reshape %tanh to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %relu = hfta.relu %grid : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %sum = hfta.reduce sum %relu over [0, 2, 3] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %sum, @db : tensor<16xf32, #hfta.copies<2>>
  return
}

// So do the tasks of an evaluation's blocks.
// CHECK-LABEL: func.func @"task/evaluate.0"
// CHECK: hfta.relu {{.*}} : tensor<4x9x9x16xf32>
func.func @"task/evaluate.0"() attributes {hfta.task = #hfta.task<evaluate, 0>} {
  %image = hfta.read @image : tensor<4x1296xf32>
  %b = hfta.read @b : tensor<1296xf32, #hfta.copies<2>>
  %wide = hfta.broadcast %b to [4, 1296] along [1] : tensor<1296xf32, #hfta.copies<2>>
  %sum = hfta.sub %image, %wide : tensor<4x1296xf32>, tensor<4x1296xf32, #hfta.copies<2>>
  %tanh = hfta.tanh %sum : tensor<4x1296xf32, #hfta.copies<2>>
  hfta.write %tanh, @"hfta.evaluation/cut/0" : tensor<4x1296xf32, #hfta.copies<2>>
  %grid = hfta.reshape %tanh to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %relu = hfta.relu %grid : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %w = hfta.read @w : tensor<16x16x3x3xf32, #hfta.copies<2>>
  %conv = hfta.conv %relu, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x16x9x9xf32, #hfta.copies<2>>, tensor<16x16x3x3xf32, #hfta.copies<2>>
  hfta.write %conv, @shown : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}

// CHECK-LABEL: func.func @"task/evaluate.1"
// CHECK: hfta.relu {{.*}} : tensor<4x9x9x16xf32>
// CHECK: hfta.reduce sum {{.*}} over [0, 1, 2] : tensor<4x9x9x16xf32>
func.func @"task/evaluate.1"() attributes {hfta.task = #hfta.task<evaluate, 1>} {
  %tanh = hfta.read @"hfta.evaluation/cut/0" : tensor<4x1296xf32, #hfta.copies<2>>
  %grid = hfta.reshape %tanh to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %relu = hfta.relu %grid : tensor<4x16x9x9xf32, #hfta.copies<2>>
  %sum = hfta.reduce sum %relu over [0, 2, 3] : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %sum, @db : tensor<16xf32, #hfta.copies<2>>
  return
}

// The trainer's and the program's other tasks are treated separately.
// CHECK-LABEL: func.func @"task/infer"
// CHECK: hfta.relu {{.*}} : tensor<4x16x9x9xf32>
func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
  %tanh = hfta.read @"hfta.saved/0" : tensor<4x1296xf32, #hfta.copies<2>>
  %grid = hfta.reshape %tanh to [4, 16, 9, 9] : tensor<4x1296xf32, #hfta.copies<2>>
  %relu = hfta.relu %grid : tensor<4x16x9x9xf32, #hfta.copies<2>>
  hfta.write %relu, @shown : tensor<4x16x9x9xf32, #hfta.copies<2>>
  return
}
