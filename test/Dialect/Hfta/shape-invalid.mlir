// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @reshape(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{cannot reshape 'tensor<4x3xf32>' of 12 elements to [2, 5] of 10}}
  %0 = hfta.reshape %x to [2, 5] : tensor<4x3xf32>
  return
}

// -----

func.func @reshape_negative(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{negative size -1}}
  %0 = hfta.reshape %x to [-1, 12] : tensor<4x3xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{[1, 1] is not a permutation of the axes of 'tensor<4x3xf32>'}}
  %0 = hfta.transpose %x by [1, 1] : tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_count(%x: tensor<3xf32>) {
  // expected-error@+1 {{expected 1 dimensions, got 2}}
  %0 = hfta.broadcast %x to [4, 3] along [0, 1] : tensor<3xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimensions [1, 0] must ascend and lie within rank 2}}
  %0 = hfta.broadcast %x to [3, 4] along [1, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<3xf32>) {
  // expected-error@+1 {{axis 0 of 'tensor<3xf32>' does not broadcast to size 5}}
  %0 = hfta.broadcast %x to [4, 5] along [1] : tensor<3xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<6x7xf32>) {
  // expected-error@+1 {{expected 2 sizes, got 1}}
  %0 = hfta.slice %x from [0, 0] size [2] stride [1, 1] : tensor<6x7xf32>
  return
}

// -----

func.func @slice_end(%x: tensor<6xf32>) {
  // expected-error@+1 {{slice leaves axis 0 of 'tensor<6xf32>'}}
  %0 = hfta.slice %x from [1] size [3] stride [3] : tensor<6xf32>
  return
}

// -----

func.func @slice_begin(%x: tensor<6xf32>) {
  // expected-error@+1 {{slice leaves axis 0 of 'tensor<6xf32>'}}
  %0 = hfta.slice %x from [1] size [3] stride [-1] : tensor<6xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<6xf32>) {
  // expected-error@+1 {{stride 0 on axis 0}}
  %0 = hfta.slice %x from [1] size [3] stride [0] : tensor<6xf32>
  return
}

// -----

func.func @pad_count(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected 1 entries a padding, got 2}}
  %0 = hfta.pad %x low [1, 1] high [0] interior [0] with 0.0 : f32 : tensor<6xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<6xf32>) {
  // expected-error@+1 {{padding [-1] is negative or too large}}
  %0 = hfta.pad %x low [1] high [-1] interior [0] with 0.0 : f32 : tensor<6xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<6xf32>) {
  // expected-error@+1 {{padding value of type 'i64' for 'tensor<6xf32>'}}
  %0 = hfta.pad %x low [1] high [1] interior [0] with 0 : i64 : tensor<6xf32>
  return
}

// -----

func.func @concat(%x: tensor<3x4xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{cannot concatenate 'tensor<3x4xf32>' and 'tensor<2x4xf32>' along axis 1}}
  %0 = hfta.concat %x, %y along 1 : tensor<3x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @concat_axis(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.concat %x, %x along 2 : tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+1 {{axis 1 is outside of a tensor of rank 1}}
  %0 = hfta.iota [4] along 1 : i64
  return
}

// -----

func.func @cumulative_sum_axis(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.cumulative_sum %x along 2 : tensor<3x4xf32>
  return
}

// -----

func.func @reduce_axis(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.reduce sum %x over [2] : tensor<3x4xf32>
  return
}

// -----

func.func @reduce_order(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{axes [1, 0] must ascend}}
  %0 = hfta.reduce sum %x over [1, 0] : tensor<3x4xf32>
  return
}

// -----

func.func @gather_axis(%x: tensor<3x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.gather %x[%i] along 2 : tensor<3x4xf32>, tensor<2xi64>
  return
}

// -----

func.func @gather_indices(%x: tensor<3x4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = hfta.gather %x[%i] along 0 : tensor<3x4xf32>, tensor<2xf32>
  return
}

// -----

func.func @scatter(%g: tensor<3x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{updates 'tensor<3x4xf32>' do not have the indices' shape 'tensor<2xi64>' at axis 0}}
  %0 = hfta.scatter_add %g at %i along 0 size 8 : tensor<3x4xf32>, tensor<2xi64>
  return
}

// -----

func.func @scatter_reduce_sum(%u: tensor<2x4xf32>, %i: tensor<2xi64>, %x: tensor<8x4xf32>) {
  // expected-error@+1 {{expected max, min or product, a sum is scatter_add's}}
  %0 = hfta.scatter_reduce sum %u at %i into %x along 0 : tensor<2x4xf32>, tensor<2xi64>, tensor<8x4xf32>
  return
}

// -----

func.func @scatter_reduce_axis(%u: tensor<2x4xf32>, %i: tensor<2xi64>, %x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.scatter_reduce max %u at %i into %x along 2 : tensor<2x4xf32>, tensor<2xi64>, tensor<8x4xf32>
  return
}

// -----

func.func @scatter_reduce_indices(%u: tensor<3x4xf32>, %i: tensor<2xi64>, %x: tensor<8x4xf32>) {
  // expected-error@+1 {{updates 'tensor<3x4xf32>' do not have the indices' shape 'tensor<2xi64>' at axis 0}}
  %0 = hfta.scatter_reduce max %u at %i into %x along 0 : tensor<3x4xf32>, tensor<2xi64>, tensor<8x4xf32>
  return
}

// -----

func.func @scatter_reduce_slices(%u: tensor<2x4xf32>, %i: tensor<2xi64>, %x: tensor<8x5xf32>) {
  // expected-error@+1 {{updates 'tensor<2x4xf32>' do not fit the slices of 'tensor<8x5xf32>' along axis 0}}
  %0 = hfta.scatter_reduce min %u at %i into %x along 0 : tensor<2x4xf32>, tensor<2xi64>, tensor<8x5xf32>
  return
}

// -----

func.func @segment_axis(%g: tensor<3x4xf32>, %o: tensor<3xi32>, %s: tensor<5xi32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.segment_sum %g at %o in %s along 2 : tensor<3x4xf32>, tensor<3xi32>, tensor<5xi32>
  return
}

// -----

func.func @segment_order(%g: tensor<3x4xf32>, %o: tensor<3xi32>, %s: tensor<5xi32>) {
  // expected-error@+1 {{expected an order of 4 slices, those of updates 'tensor<3x4xf32>' along axis 1, got 'tensor<3xi32>'}}
  %0 = hfta.segment_sum %g at %o in %s along 1 : tensor<3x4xf32>, tensor<3xi32>, tensor<5xi32>
  return
}

// -----

func.func @segment_order_rank(%g: tensor<3x4xf32>, %o: tensor<3x1xi32>, %s: tensor<5xi32>) {
  // expected-error@+1 {{expected an order of 3 slices, those of updates 'tensor<3x4xf32>' along axis 0, got 'tensor<3x1xi32>'}}
  %0 = hfta.segment_sum %g at %o in %s along 0 : tensor<3x4xf32>, tensor<3x1xi32>, tensor<5xi32>
  return
}

// -----

func.func @segment_offsets(%g: tensor<3x4xf32>, %o: tensor<3xi32>, %s: tensor<0xi32>) {
  // expected-error@+1 {{expected offsets along one axis, one more than there are segments, got 'tensor<0xi32>'}}
  %0 = hfta.segment_sum %g at %o in %s along 0 : tensor<3x4xf32>, tensor<3xi32>, tensor<0xi32>
  return
}

// -----

func.func @part_sums_column(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.part_sums %x of 4 along 2 : tensor<8x4xf32>
  return
}

// -----

func.func @part_sums_length(%x: tensor<8x4x3xf32>) {
  // expected-error@+1 {{expected parts of a length that divides 24 rows, those of 'tensor<8x4x3xf32>' beside its axis 1, got 16}}
  %0 = hfta.part_sums %x of 16 along 1 : tensor<8x4x3xf32>
  return
}

// -----

func.func @part_sums_empty(%x: tensor<8x4x3xf32>) {
  // expected-error@+1 {{expected parts of a length that divides 24 rows, those of 'tensor<8x4x3xf32>' beside its axis 1, got 0}}
  %0 = hfta.part_sums %x of 0 along 1 : tensor<8x4x3xf32>
  return
}
