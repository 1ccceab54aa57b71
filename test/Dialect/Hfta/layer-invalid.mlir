// RUN: hfta-opt %s -split-input-file -verify-diagnostics

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_size(%x: tensor<4x5xf32>, %w: tensor<3x6xf32>) {
  // expected-error@+1 {{axis 2 of the contraction has size 5 in lhs but 6 in rhs}}
  %0 = hfta.contract %x, %w maps [#mk, #nk, #mn] : tensor<4x5xf32>, tensor<3x6xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
func.func @contract_count(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{expected 3 indexing maps, got 2}}
  %0 = hfta.contract %x, %x maps [#mk, #mk] : tensor<4x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @contract_maps(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute}}
  %0 = hfta.contract %x, %x maps [1, 2, 3] : tensor<4x5xf32>, tensor<4x5xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_rank(%x: tensor<4x5xf32>, %w: tensor<5xf32>) {
  // expected-error@+1 {{is not a projected permutation of rank 1 over 3 axes}}
  %0 = hfta.contract %x, %w maps [#mk, #nk, #mn] : tensor<4x5xf32>, tensor<5xf32>
  return
}

// -----

#lhs = affine_map<(m, n) -> (m)>
#result = affine_map<(m, n) -> (m, n)>
func.func @contract_new_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{an axis stands in neither operand}}
  %0 = hfta.contract %x, %x maps [#lhs, #lhs, #result] : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @conv_attribute(%x: tensor<8x3x9xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error@+1 {{'hfta.conv' op requires attribute 'groups'}}
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>}
      : tensor<8x3x9xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<8x3x9xf32>, %w: tensor<6x2x3xf32>) {
  // expected-error@+1 {{cannot convolve 3 channels with weight [6, 2, 3] in 1 groups}}
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64}
      : tensor<8x3x9xf32>, tensor<6x2x3xf32>
  return
}

// -----

func.func @conv_rank(%x: tensor<8x3x9x9xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error@+1 {{input and weight need one rank of at least 3, got 4 and 3}}
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64}
      : tensor<8x3x9x9xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @conv_window(%x: tensor<8x3x9xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error@+1 {{window does not fit 1 spatial axes}}
  %0 = hfta.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 1 : i64}
      : tensor<8x3x9xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @conv_extent(%x: tensor<8x3x4xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error@+1 {{window of 5 elements does not fit spatial axis 0 of 4}}
  %0 = hfta.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 2>, padding = array<i64: 0, 0>, groups = 1 : i64}
      : tensor<8x3x4xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @conv_input_gradient(%g: tensor<8x6x6xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error@+1 {{gradient must have shape [8, 6, 7], got 'tensor<8x6x6xf32>'}}
  %0 = hfta.conv_input_gradient %g, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>,
      groups = 1 : i64, input_shape = array<i64: 8, 3, 9>} : tensor<8x6x6xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @conv_weight_gradient_parts(%x: tensor<8x3x9xf32>, %g: tensor<8x6x7xf32>) {
  // expected-error@+1 {{batch_parts must divide the batch of 8, got 3}}
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>,
      groups = 1 : i64, weight_shape = array<i64: 6, 3, 3>, batch_parts = 3 : i64} : tensor<8x3x9xf32>, tensor<8x6x7xf32>
  return
}

// -----

func.func @conv_weight_gradient(%x: tensor<8x3x9xf32>, %g: tensor<8x5x7xf32>) {
  // expected-error@+1 {{gradient must have shape [8, 6, 7], got 'tensor<8x5x7xf32>'}}
  %0 = hfta.conv_weight_gradient %x, %g {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>,
      groups = 1 : i64, weight_shape = array<i64: 6, 3, 3>} : tensor<8x3x9xf32>, tensor<8x5x7xf32>
  return
}

// -----

func.func @pool_attribute(%x: tensor<8x3x9xf32>) {
  // expected-error@+1 {{'hfta.max_pool' op requires attribute 'kernel'}}
  %0, %1 = hfta.max_pool %x {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>}
      : tensor<8x3x9xf32>
  return
}

// -----

func.func @pool_rank(%x: tensor<8x3xf32>) {
  // expected-error@+1 {{input needs rank 3 or more, got 2}}
  %0, %1 = hfta.max_pool %x {kernel = array<i64>, strides = array<i64>, dilations = array<i64>, padding = array<i64>}
      : tensor<8x3xf32>
  return
}

// -----

func.func @pool_stride(%x: tensor<8x3x9xf32>) {
  // expected-error@+1 {{kernel 2, stride 0, dilation 1 or padding 0, 0 is out of range on spatial axis 0}}
  %0, %1 = hfta.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 0>, dilations = array<i64: 1>, padding = array<i64: 0, 0>}
      : tensor<8x3x9xf32>
  return
}

// -----

func.func @max_pool_gradient(%g: tensor<8x3x8xf32>, %i: tensor<8x3x7xi32>) {
  // expected-error@+1 {{operand must have shape [8, 3, 8], got 'tensor<8x3x7xi32>'}}
  %0 = hfta.max_pool_gradient %g, %i {kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>,
      padding = array<i64: 0, 0>, input_shape = array<i64: 8, 3, 9>} : tensor<8x3x8xf32>, tensor<8x3x7xi32>
  return
}

// -----

func.func @softmax(%x: tensor<8x3xf32>) {
  // expected-error@+1 {{axis 2 is outside of 'tensor<8x3xf32>'}}
  %0 = hfta.softmax %x along 2 : tensor<8x3xf32>
  return
}

// -----

func.func @batch_norm_rank(%x: tensor<8xf32>) {
  // expected-error@+1 {{input needs rank 2 or more, got 'tensor<8xf32>'}}
  %0:5 = hfta.batch_norm %x, %x, %x, %x, %x {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_channels(%x: tensor<8x3xf32>, %s: tensor<3xf32>, %m: tensor<4xf32>) {
  // expected-error@+1 {{expected 3 channels, got 'tensor<4xf32>'}}
  %0:5 = hfta.batch_norm %x, %s, %s, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
      : tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// C1
func.func @batch_norm_without_variance(%x: tensor<8x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+2 {{needs a running mean and variance, or neither of them}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:5 = "hfta.batch_norm"(%x, %s, %s, %s) <{epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}>
      : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_frozen(%x: tensor<8x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{'hfta.frozen' has no value and belongs on a batch normalization with running statistics}}
  %0:5 = hfta.batch_norm %x, %s, %s {epsilon = 1.0e-5 : f64, hfta.frozen, momentum = 0.9 : f64}
      : tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @dropout(%x: tensor<8x3xf32>, %rate: tensor<1xf32>) {
  // expected-error@+1 {{rate must be a scalar and random of the input's shape, got 'tensor<1xf32>' and 'tensor<8x3xf32>'}}
  %0 = hfta.dropout %x, %rate, %x : tensor<8x3xf32>, tensor<1xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @random(%seed: tensor<i32>, %step: tensor<i64>) {
  // expected-error@+1 {{keys must be i64 scalars, got 'tensor<i32>'}}
  %0 = hfta.random_uniform %seed, %step, %step [4] stream 0 : f32, tensor<i32>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @seeds_of_samples(%seed: tensor<4xi64>, %step: tensor<i64>) {
  // expected-error@+1 {{keys must be i64 scalars, got 'tensor<4xi64>'}}
  %0 = hfta.random_uniform %seed, %step, %step [4] stream 0 {per_sample} : f32, tensor<4xi64>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @numbers_of_no_samples(%seed: tensor<i64>, %samples: tensor<4xi64>) {
  // expected-error@+1 {{keys must be i64 scalars, got 'tensor<4xi64>'}}
  %0 = hfta.random_uniform %seed, %seed, %samples [4] stream 0 : f32, tensor<i64>, tensor<i64>, tensor<4xi64>
  return
}

// -----

func.func @modes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{operands have different types: 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = hfta.by_mode %x, %y : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

// C4
func.func @sgd(%p: tensor<4xf32>, %g: tensor<5xf32>, %h: tensor<f32>) {
  // expected-error@+1 {{operand #1 has the wrong shape: 'tensor<5xf32>' for a parameter of 'tensor<4xf32>'}}
  %0:2 = hfta.optimizer_update "sgd" given [] %p, %g, %p, %h, %h, %h
      : tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// C4
func.func @sgd_scalar(%p: tensor<4xf32>, %h: tensor<f32>) {
  // expected-error@+1 {{operand #3 has the wrong shape: 'tensor<4xf32>' for a parameter of 'tensor<4xf32>'}}
  %0:2 = hfta.optimizer_update "sgd" given [] %p, %p, %p, %p, %h, %h
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  return
}

// -----

// C1
func.func @unknown_optimizer(%p: tensor<4xf32>) {
  // expected-error@+1 {{unknown optimizer 'sdg'}}
  %0 = hfta.optimizer_update "sdg" given [] %p, %p : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// C2
func.func @unknown_option(%p: tensor<4xf32>, %h: tensor<f32>) {
  // expected-error@+1 {{'sgd' has no option 'momentum'}}
  %0:2 = hfta.optimizer_update "sgd" given ["momentum"] %p, %p, %p, %h, %h, %h
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// C3
func.func @operand_count(%p: tensor<4xf32>, %h: tensor<f32>) {
  // expected-error@+1 {{'sgd' takes 6 operands, got 5}}
  %0:2 = hfta.optimizer_update "sgd" given [] %p, %p, %p, %h, %h
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  return
}

// -----

// C4
func.func @state_of_outputs(%p: tensor<3x4xf32>, %rows: tensor<3xf32>, %h: tensor<f64>) {
  // expected-error@+1 {{operand #3 has the wrong shape: 'tensor<3xf32>' for a parameter of 'tensor<3x4xf32>'}}
  %0:3 = hfta.optimizer_update "normuon" given [] outputs [1] %p, %p, %p, %rows, %h, %h, %h, %h, %h
      : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<f64>, tensor<f64>, tensor<f64>,
        tensor<f64>, tensor<f64>
  return
}

// -----

// C5
func.func @output_axes(%p: tensor<3x4xf32>, %h: tensor<f64>) {
  // expected-error@+1 {{outputs [2] are not ascending axes of a parameter of 'tensor<3x4xf32>'}}
  %0:2 = hfta.optimizer_update "muon" given [] outputs [2] %p, %p, %p, %h, %h, %h, %h
      : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c1_none(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has indexing maps if and only if it is dense}}
  hfta.layer dense @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c1_other(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has indexing maps if and only if it is dense}}
  hfta.layer norm @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {indexing_maps = [#mk, #mn, #nk]}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c1_count(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expected 3 indexing maps, got 2}}
  hfta.layer dense @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {indexing_maps = [#mk, #mn]}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c1_rank(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expected 2 results of indexing map 1, got 1}}
  hfta.layer dense @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {indexing_maps = [#mk, affine_map<(m, n, k) -> (n)>, #nk]}
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c2_none(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has strides if and only if it is a convolution}}
  hfta.layer convolution @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %k : tensor<6x2x3x3xf32> loss_divisor terms 8
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c2_other(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has padding if and only if it is a convolution}}
  hfta.layer norm @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {padding = array<i64: 1, 1>}
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c2_count(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expected 4 padding, got 2}}
  hfta.layer transposed_convolution @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %k : tensor<6x2x3x3xf32> loss_divisor terms 8 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1>}
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c3_none(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has an input unless its kind is other}}
  hfta.layer norm @w output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c3_other(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{has an input unless its kind is other}}
  hfta.layer other @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c4(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{says that its bias is a column, but has none}}
  hfta.layer norm @w input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {bias_column}
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c5_unknown(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{names @v, which is no parameter}}
  hfta.layer other @v output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
hfta.variable @s {role = #hfta.role<statistics>} : tensor<3xf32>
func.func @layer_c5_bias(%x: tensor<8x5xf32>, %g: tensor<8x3xf32>, %w: tensor<3x5xf32>, %k: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{names @s, which is no parameter}}
  hfta.layer norm @w bias @s input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8
  return
}

// -----

hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32>
func.func @layer_c6(%g: tensor<8x3xf32>, %w: tensor<3x5xf32>) {
  // expected-error@+1 {{has samples at a stride of 0}}
  hfta.layer other @w output_gradient %g : tensor<8x3xf32> weight_gradient %w : tensor<3x5xf32> loss_divisor terms 8 {output_samples = 0 : i64}
  return
}
