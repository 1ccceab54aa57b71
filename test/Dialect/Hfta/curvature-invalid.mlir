// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @block_outside(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{block axis 2 is outside of a tensor of rank 2}}
  %0 = hfta.second_moment %x blocks [2] columns [1] scale 1.0 : tensor<4x5xf32>
  return
}

// -----

func.func @column_outside(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{column axis -1 is outside of a tensor of rank 2}}
  %0 = hfta.second_moment %x blocks [] columns [-1] scale 1.0 : tensor<4x5xf32>
  return
}

// -----

func.func @column_twice(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{column axis 1 is listed twice}}
  %0 = hfta.second_moment %x blocks [] columns [1, 1] scale 1.0 : tensor<4x5xf32>
  return
}

// -----

func.func @block_and_column(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{column axis 0 is listed twice}}
  %0 = hfta.second_moment %x blocks [0] columns [0] scale 1.0 : tensor<4x5xf32>
  return
}

// -----

func.func @sum_shape(%x: tensor<4x5xf32>, %sum: tensor<1x15xf32>) {
  // expected-error@+1 {{sum must have shape [1, 21], got 'tensor<1x15xf32>'}}
  %0 = hfta.second_moment %x, %sum blocks [] columns [1] scale 1.0 {ones} : tensor<4x5xf32>, tensor<1x15xf32>
  return
}

// -----

func.func @sum_type(%x: tensor<4x5xf32>, %sum: tensor<1x15xf64>) {
  // expected-error@+1 {{operands have different element types: 'f32' and 'f64'}}
  %0 = hfta.second_moment %x, %sum blocks [] columns [1] scale 1.0 : tensor<4x5xf32>, tensor<1x15xf64>
  return
}

// -----

func.func @too_large(%x: tensor<0x4000000000xf32>) {
  // expected-error@+1 {{moment has too many elements}}
  %0 = hfta.second_moment %x blocks [] columns [1] scale 1.0 : tensor<0x4000000000xf32>
  return
}

// -----

func.func @too_many_columns(%x: tensor<0x4294967296x4294967296xf32>) {
  // expected-error@+1 {{moment has too many elements}}
  %0 = hfta.second_moment %x blocks [] columns [1, 2] scale 1.0 : tensor<0x4294967296x4294967296xf32>
  return
}

// -----

func.func @patch_rank(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{input needs rank 3 or more, got 2}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64>, strides = array<i64>,
      dilations = array<i64>, padding = array<i64>, groups = 1 : i64} : tensor<4x5xf32>
  return
}

// -----

func.func @patch_groups(%x: tensor<4x5x9xf32>) {
  // expected-error@+1 {{cannot divide 5 channels into 2 groups}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 2 : i64} : tensor<4x5x9xf32>
  return
}

// -----

func.func @patch_no_groups(%x: tensor<4x5x9xf32>) {
  // expected-error@+1 {{cannot divide 5 channels into 0 groups}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 0 : i64} : tensor<4x5x9xf32>
  return
}

// -----

func.func @patch_window(%x: tensor<4x5x9xf32>) {
  // expected-error@+1 {{window does not fit 1 spatial axes}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3, 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64} : tensor<4x5x9xf32>
  return
}

// -----

func.func @patch_extent(%x: tensor<4x5x9xf32>) {
  // expected-error@+1 {{window of 11 elements does not fit spatial axis 0 of 10}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 5>, padding = array<i64: 1, 0>, groups = 1 : i64} : tensor<4x5x9xf32>
  return
}

// -----

func.func @patch_missing(%x: tensor<4x5x9xf32>) {
  // expected-error@+1 {{'hfta.patch_moment' op requires attribute 'groups'}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 1, 0>} : tensor<4x5x9xf32>
  return
}

// -----

func.func @patch_sum(%x: tensor<4x2x9xf32>, %sum: tensor<1x3xf32>) {
  // expected-error@+1 {{sum must have shape [1, 21], got 'tensor<1x3xf32>'}}
  %0 = hfta.patch_moment %x, %sum scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 1, 0>, groups = 1 : i64} : tensor<4x2x9xf32>, tensor<1x3xf32>
  return
}

// -----

func.func @unpack_size(%p: tensor<2x20xf32>) {
  // expected-error@+1 {{expected blocks of n (n + 1) / 2 elements, got 'tensor<2x20xf32>'}}
  %0 = hfta.unpack_symmetric %p : tensor<2x20xf32>
  return
}

// -----

func.func @unpack_rank(%p: tensor<21xf32>) {
  // expected-error@+1 {{expected blocks of n (n + 1) / 2 elements, got 'tensor<21xf32>'}}
  %0 = hfta.unpack_symmetric %p : tensor<21xf32>
  return
}

// -----

func.func @patch_blocks(%x: tensor<4x2x9xf32>) {
  // expected-error@+1 {{blocks need a column or more, got 0}}
  %0 = hfta.patch_moment %x scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 1, 0>, groups = 1 : i64,
      block_columns = 0 : i64} : tensor<4x2x9xf32>
  return
}

// -----

func.func @patch_block_sum(%x: tensor<4x2x9xf32>, %sum: tensor<1x28xf32>) {
  // expected-error@+1 {{sum must have shape [2, 10], got 'tensor<1x28xf32>'}}
  %0 = hfta.patch_moment %x, %sum scale 1.0 {kernel = array<i64: 3>, strides = array<i64: 1>,
      dilations = array<i64: 1>, padding = array<i64: 1, 0>, groups = 1 : i64, ones,
      block_columns = 4 : i64} : tensor<4x2x9xf32>, tensor<1x28xf32>
  return
}
