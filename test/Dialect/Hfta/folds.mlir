// RUN: hfta-opt %s -canonicalize | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @cast_to_same_type(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @cast_to_same_type(%x: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK-NEXT: return %[[X]]
  %0 = hfta.cast %x : tensor<4xf32, #hfta.copies<2>> to f32
  return %0 : tensor<4xf32, #hfta.copies<2>>
}

// A detour through a narrower type changes values.
// CHECK-LABEL: func.func @cast_of_cast(
func.func @cast_of_cast(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: hfta.cast
  // CHECK-NEXT: hfta.cast
  %0 = hfta.cast %x : tensor<4xf32> to f16
  %1 = hfta.cast %0 : tensor<4xf16> to f32
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @splat_constant(
func.func @splat_constant() -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[C:.*]] = hfta.constant dense<1.000000e-01> : tensor<3x2xf32>
  // CHECK-NEXT: return %[[C]]
  %0 = hfta.constant dense<0.1> : tensor<f64>
  %1 = hfta.cast %0 : tensor<f64> to f32
  %2 = hfta.broadcast %1 to [2, 4] along [] : tensor<f32>
  %3 = hfta.slice %2 from [0, 0] size [2, 3] stride [1, 1] : tensor<2x4xf32>
  %4 = hfta.transpose %3 by [1, 0] : tensor<2x3xf32>
  return %4 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @reshaped_constant(
func.func @reshaped_constant() -> tensor<2x2xi64> {
  // CHECK-NEXT: %[[C:.*]] = hfta.constant dense<{{\[}}[1, 2], [3, 4]]> : tensor<2x2xi64>
  // CHECK-NEXT: return %[[C]]
  %0 = hfta.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %1 = hfta.reshape %0 to [2, 2] : tensor<4xi64>
  return %1 : tensor<2x2xi64>
}

// CHECK-LABEL: func.func @reshape_of_reshape(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>
func.func @reshape_of_reshape(%x: tensor<4x3xf32>) -> (tensor<6x2xf32>, tensor<4x3xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = hfta.reshape %[[X]] to [6, 2] : tensor<4x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  %0 = hfta.reshape %x to [12] : tensor<4x3xf32>
  %1 = hfta.reshape %0 to [6, 2] : tensor<12xf32>
  %2 = hfta.reshape %0 to [4, 3] : tensor<12xf32>
  return %1, %2 : tensor<6x2xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @transpose_of_transpose(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3x2xf32>
func.func @transpose_of_transpose(%x: tensor<4x3x2xf32>) -> (tensor<3x2x4xf32>, tensor<4x3x2xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = hfta.transpose %[[X]] by [1, 2, 0] : tensor<4x3x2xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  %0 = hfta.transpose %x by [2, 0, 1] : tensor<4x3x2xf32>
  %1 = hfta.transpose %0 by [2, 0, 1] : tensor<2x4x3xf32>
  %2 = hfta.transpose %0 by [1, 2, 0] : tensor<2x4x3xf32>
  return %1, %2 : tensor<3x2x4xf32>, tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @broadcast_of_broadcast(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x3xf32>
func.func @broadcast_of_broadcast(%x: tensor<1x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<1x3xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = hfta.broadcast %[[X]] to [2, 4, 5, 3] along [1, 3] : tensor<1x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  %0 = hfta.broadcast %x to [1, 5, 3] along [0, 2] : tensor<1x3xf32>
  %1 = hfta.broadcast %0 to [2, 4, 5, 3] along [1, 2, 3] : tensor<1x5x3xf32>
  %2 = hfta.broadcast %x to [1, 3] along [0, 1] : tensor<1x3xf32>
  return %1, %2 : tensor<2x4x5x3xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: func.func @whole_slice(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x1xf32>
func.func @whole_slice(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = hfta.slice %x from [0, 0] size [4, 1] stride [1, 2] : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @reversed_slice(
func.func @reversed_slice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: hfta.slice
  %0 = hfta.slice %x from [3] size [4] stride [-1] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @nothing_added(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
func.func @nothing_added(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = hfta.pad %x low [0] high [0] interior [0] with 0.0 : f32 : tensor<4xf32>
  %1 = hfta.concat %0 along 0 : tensor<4xf32>
  %2 = hfta.reduce sum %1 over [] : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Adding zero would turn -0 into 0, multiplying by it would hide a NaN.
// CHECK-LABEL: func.func @float_arithmetic_stays(
func.func @float_arithmetic_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: hfta.add
  // CHECK: hfta.mul
  %zero = hfta.constant dense<0.0> : tensor<4xf32>
  %0 = hfta.add %x, %zero : tensor<4xf32>, tensor<4xf32>
  %1 = hfta.mul %0, %zero : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @unstack_of_stack(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>
func.func @unstack_of_stack(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[B]]
  %0 = hfta.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  %1 = hfta.unstack %0[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @stack_of_unstack(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @stack_of_unstack(%x: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK-NEXT: return %[[X]]
  %0 = hfta.unstack %x[0] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %1 = hfta.unstack %x[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %2 = hfta.stack %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  return %2 : tensor<4xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @stack_in_another_order(
func.func @stack_in_another_order(%x: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK: hfta.stack
  %0 = hfta.unstack %x[0] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %1 = hfta.unstack %x[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  %2 = hfta.stack %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  return %2 : tensor<4xf32, #hfta.copies<2>>
}

// A row that is zero but at the index that it chooses adds up to that element,
// and to zero if the index is none of the row. Adding zero turns -0 into 0.
// CHECK-LABEL: func.func @sum_of_chosen(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[G:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @sum_of_chosen(%i: tensor<4xi32>, %g: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK-DAG: %[[ZERO:.*]] = hfta.constant dense<0> : tensor<4xi32>
  // CHECK-DAG: %[[SIZE:.*]] = hfta.constant dense<9> : tensor<4xi32>
  // CHECK-DAG: %[[NONE:.*]] = hfta.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[LOW:.*]] = hfta.compare greater_equal, %[[I]], %[[ZERO]]
  // CHECK-DAG: %[[HIGH:.*]] = hfta.compare less, %[[I]], %[[SIZE]]
  // CHECK-DAG: %[[INSIDE:.*]] = hfta.and %[[LOW]], %[[HIGH]]
  // CHECK-DAG: %[[SUM:.*]] = hfta.add %[[G]], %[[NONE]]
  // CHECK: %[[R:.*]] = hfta.select %[[INSIDE]], %[[SUM]], %[[NONE]]
  // CHECK-NEXT: return %[[R]]
  %position = hfta.iota [4, 9] along 1 : i32
  %index = hfta.broadcast %i to [4, 9] along [0] : tensor<4xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<4x9xi32>, tensor<4x9xi32>
  %values = hfta.broadcast %g to [4, 9] along [0] : tensor<4xf32, #hfta.copies<2>>
  %zero = hfta.constant dense<0.0> : tensor<4x9xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<4x9xi1>, tensor<4x9xf32, #hfta.copies<2>>, tensor<4x9xf32>
  %sum = hfta.reduce sum %placed over [1] : tensor<4x9xf32, #hfta.copies<2>>
  return %sum : tensor<4xf32, #hfta.copies<2>>
}

// An index that is a float may lie between two positions.
// CHECK-LABEL: func.func @sum_at_float(
func.func @sum_at_float(%i: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: hfta.reduce sum
  %position = hfta.iota [4, 9] along 1 : f32
  %index = hfta.broadcast %i to [4, 9] along [0] : tensor<4xf32>
  %chosen = hfta.compare equal, %position, %index : tensor<4x9xf32>, tensor<4x9xf32>
  %values = hfta.broadcast %g to [4, 9] along [0] : tensor<4xf32>
  %zero = hfta.constant dense<0.0> : tensor<4x9xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<4x9xi1>, tensor<4x9xf32>, tensor<4x9xf32>
  %sum = hfta.reduce sum %placed over [1] : tensor<4x9xf32>
  return %sum : tensor<4xf32>
}

// Sums along another axis, of other elements, or of elements that aren't one
// value for the row, stay.
// CHECK-LABEL: func.func @sums_of_others(
func.func @sums_of_others(%i: tensor<4xi32>, %g: tensor<4xf32>, %x: tensor<4x9xf32>, %one: tensor<4x9xf32>) -> (tensor<9xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-3: hfta.reduce sum
  %position = hfta.iota [4, 9] along 1 : i32
  %index = hfta.broadcast %i to [4, 9] along [0] : tensor<4xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<4x9xi32>, tensor<4x9xi32>
  %values = hfta.broadcast %g to [4, 9] along [0] : tensor<4xf32>
  %zero = hfta.constant dense<0.0> : tensor<4x9xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<4x9xi1>, tensor<4x9xf32>, tensor<4x9xf32>
  %0 = hfta.reduce sum %placed over [0] : tensor<4x9xf32>
  %ones = hfta.select %chosen, %values, %one : tensor<4x9xi1>, tensor<4x9xf32>, tensor<4x9xf32>
  %1 = hfta.reduce sum %ones over [1] : tensor<4x9xf32>
  %own = hfta.select %chosen, %x, %zero : tensor<4x9xi1>, tensor<4x9xf32>, tensor<4x9xf32>
  %2 = hfta.reduce sum %own over [1] : tensor<4x9xf32>
  return %0, %1, %2 : tensor<9xf32>, tensor<4xf32>, tensor<4xf32>
}

// Among the elements of a plane, which are counted in row-major order, an index
// chooses one.
// CHECK-LABEL: func.func @sum_of_chosen_of_planes(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<2x3xi32>, %[[G:[a-z0-9]+]]: tensor<2x3xf32>
func.func @sum_of_chosen_of_planes(%i: tensor<2x3xi32>, %g: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-DAG: %[[SIZE:.*]] = hfta.constant dense<20> : tensor<2x3xi32>
  // CHECK-DAG: %[[HIGH:.*]] = hfta.compare less, %[[I]], %[[SIZE]]
  // CHECK-DAG: %[[SUM:.*]] = hfta.add %[[G]]
  // CHECK: %[[CHOSEN:.*]] = hfta.select %{{.*}}, %[[SUM]]
  // CHECK-NEXT: return %[[CHOSEN]]
  %row = hfta.iota [2, 3, 4, 5] along 2 : i32
  %column = hfta.iota [2, 3, 4, 5] along 3 : i32
  %width = hfta.constant dense<5> : tensor<2x3x4x5xi32>
  %start = hfta.mul %row, %width : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %position = hfta.add %start, %column : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %index = hfta.broadcast %i to [2, 3, 4, 5] along [0, 1] : tensor<2x3xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %values = hfta.broadcast %g to [2, 3, 4, 5] along [0, 1] : tensor<2x3xf32>
  %zero = hfta.constant dense<0.0> : tensor<2x3x4x5xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<2x3x4x5xi1>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>
  %sum = hfta.reduce sum %placed over [2, 3] : tensor<2x3x4x5xf32>
  return %sum : tensor<2x3xf32>
}

// Two elements of a plane have the same position, the sum is over rows alone or,
// in an order that the fold would change, over the samples, too.
// CHECK-LABEL: func.func @sums_of_parts_of_planes(
func.func @sums_of_parts_of_planes(%i: tensor<2x3xi32>, %g: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<3xf32>) {
  // CHECK: hfta.reduce sum %{{.*}} over [2, 3]
  // CHECK: hfta.reduce sum %{{.*}} over [3]
  // CHECK: hfta.reduce sum %{{.*}} over [0, 2, 3]
  %row = hfta.iota [2, 3, 4, 5] along 2 : i32
  %column = hfta.iota [2, 3, 4, 5] along 3 : i32
  %width = hfta.constant dense<5> : tensor<2x3x4x5xi32>
  %start = hfta.mul %row, %width : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %position = hfta.add %start, %column : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %index = hfta.broadcast %i to [2, 3, 4, 5] along [0, 1] : tensor<2x3xi32>
  %values = hfta.broadcast %g to [2, 3, 4, 5] along [0, 1] : tensor<2x3xf32>
  %zero = hfta.constant dense<0.0> : tensor<2x3x4x5xf32>
  %diagonal = hfta.add %row, %column : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %several = hfta.compare equal, %diagonal, %index : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %0 = hfta.select %several, %values, %zero : tensor<2x3x4x5xi1>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>
  %1 = hfta.reduce sum %0 over [2, 3] : tensor<2x3x4x5xf32>
  %chosen = hfta.compare equal, %position, %index : tensor<2x3x4x5xi32>, tensor<2x3x4x5xi32>
  %2 = hfta.select %chosen, %values, %zero : tensor<2x3x4x5xi1>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>
  %3 = hfta.reduce sum %2 over [3] : tensor<2x3x4x5xf32>
  %4 = hfta.reduce sum %2 over [0, 2, 3] : tensor<2x3x4x5xf32>
  return %1, %3, %4 : tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<3xf32>
}

// The broadcasts also repeat along another axis, of size 1.
// CHECK-LABEL: func.func @sum_of_stretched(
func.func @sum_of_stretched(%i: tensor<1xi32>, %g: tensor<1xf32>) -> tensor<2xf32> {
  // CHECK: hfta.reduce sum
  %position = hfta.iota [2, 5] along 1 : i32
  %index = hfta.broadcast %i to [2, 5] along [0] : tensor<1xi32>
  %chosen = hfta.compare equal, %position, %index : tensor<2x5xi32>, tensor<2x5xi32>
  %values = hfta.broadcast %g to [2, 5] along [0] : tensor<1xf32>
  %zero = hfta.constant dense<0.0> : tensor<2x5xf32>
  %placed = hfta.select %chosen, %values, %zero : tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>
  %sum = hfta.reduce sum %placed over [1] : tensor<2x5xf32>
  return %sum : tensor<2xf32>
}

// A relu is applied behind the maximum of each window.
// CHECK-LABEL: func.func @relu_before_max_pool(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x8x8xf32>
func.func @relu_before_max_pool(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32> {
  // CHECK-NEXT: %[[V:.*]], %{{.*}} = hfta.max_pool %[[X]] {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<2x3x8x8xf32>
  // CHECK-NEXT: %[[R:.*]] = hfta.relu %[[V]] : tensor<2x3x4x4xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = hfta.relu %x : tensor<2x3x8x8xf32>
  %1, %i = hfta.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  return %1 : tensor<2x3x4x4xf32>
}

// A single window overlaps no other, whatever its stride.
// CHECK-LABEL: func.func @relu_before_global_max_pool(
func.func @relu_before_global_max_pool(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x1x1xf32> {
  // CHECK: hfta.max_pool
  // CHECK-NEXT: hfta.relu %{{.*}} : tensor<2x3x1x1xf32>
  %0 = hfta.relu %x : tensor<2x3x8x8xf32>
  %1, %i = hfta.max_pool %0 {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  return %1 : tensor<2x3x1x1xf32>
}

// Windows overlap, so that their maxima are almost as many as the elements.
// CHECK-LABEL: func.func @relu_before_overlapping_windows(
func.func @relu_before_overlapping_windows(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x6x6xf32> {
  // CHECK-NEXT: hfta.relu
  // CHECK-NEXT: hfta.max_pool
  // CHECK-NEXT: return
  %0 = hfta.relu %x : tensor<2x3x8x8xf32>
  %1, %i = hfta.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  return %1 : tensor<2x3x6x6xf32>
}

// The window may hold padding alone, whose maximum is negative.
// CHECK-LABEL: func.func @relu_before_padded_max_pool(
func.func @relu_before_padded_max_pool(%x: tensor<2x3x1x2xf32>) -> tensor<2x3x1x1xf32> {
  // CHECK-NEXT: hfta.relu
  // CHECK-NEXT: hfta.max_pool
  // CHECK-NEXT: return
  %0 = hfta.relu %x : tensor<2x3x1x2xf32>
  %1, %i = hfta.max_pool %0 {kernel = array<i64: 1, 2>, strides = array<i64: 1, 2>, dilations = array<i64: 1, 3>, padding = array<i64: 0, 1, 0, 1>} : tensor<2x3x1x2xf32>
  return %1 : tensor<2x3x1x1xf32>
}

// Its result is needed elsewhere, or the positions of the maxima are.
// CHECK-LABEL: func.func @relu_for_others(
func.func @relu_for_others(%x: tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3x8x8xf32>, tensor<2x3x4x4xi32>) {
  // CHECK-COUNT-2: hfta.max_pool
  // CHECK-NEXT: return
  %0 = hfta.relu %x : tensor<2x3x8x8xf32>
  %1, %i = hfta.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  %2 = hfta.relu %0 : tensor<2x3x8x8xf32>
  %3, %j = hfta.max_pool %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  return %1, %0, %j : tensor<2x3x4x4xf32>, tensor<2x3x8x8xf32>, tensor<2x3x4x4xi32>
}
