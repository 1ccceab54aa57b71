// RUN: hfta-opt %s -hfta-round-factors | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-round-factors -hfta-form-kernels | FileCheck %s -check-prefix=NARROW -enable-var-scope

hfta.variable @x {role = #hfta.role<input>} : tensor<8x4xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<3x4xf32>
hfta.variable @y {role = #hfta.role<output>} : tensor<8x3xf32>

// Operands of a product are rounded to its type of factors, and still are f32:
// each element is in too few products to be packed as a part of a pair. For a
// GPU the rounded value is in memory, and widened by the kernel that multiplies
// it.
// CHECK-LABEL: func.func @bf16(
// CHECK: %[[X:.+]] = hfta.read @x
// CHECK: %[[W:.+]] = hfta.read @w
// CHECK: %[[XN:.+]] = hfta.cast %[[X]] : tensor<8x4xf32> to bf16
// CHECK: %[[XR:.+]] = hfta.cast %[[XN]] : tensor<8x4xbf16> to f32
// CHECK: %[[WN:.+]] = hfta.cast %[[W]] : tensor<3x4xf32> to bf16
// CHECK: %[[WR:.+]] = hfta.cast %[[WN]] : tensor<3x4xbf16> to f32
// CHECK: hfta.contract %[[XR]], %[[WR]] {{.*}}{hfta.multiply = bf16} : tensor<8x4xf32>, tensor<3x4xf32>
// NARROW-LABEL: func.func @bf16(
// NARROW: hfta.kernel "cast"({{.*}} -> tensor<8x4xbf16>
// NARROW: hfta.kernel "cast"({{.*}} -> tensor<3x4xbf16>
// NARROW: hfta.kernel "contract"({{.*}}) : (tensor<{{.*}}xbf16>, tensor<{{.*}}xbf16>) -> tensor<8x3xf32>
// NARROW: hfta.cast %{{.+}} {hfta.repeated} : tensor<{{.*}}xbf16> to f32
// NARROW: hfta.contract {{.*}} {hfta.multiply = bf16}
func.func @bf16() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<8x4xf32>
  %w = hfta.read @w : tensor<3x4xf32>
  %y = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {hfta.multiply = bf16} : tensor<8x4xf32>, tensor<3x4xf32>
  hfta.write %y, @y : tensor<8x3xf32>
  return
}

// No element of tf32 is stored: it is an f32 whose last bits are zero. Other
// products are left alone.
// CHECK-LABEL: func.func @tf32(
// CHECK-DAG: %[[X:.+]] = hfta.read @x
// CHECK-DAG: %[[W:.+]] = hfta.read @w
// CHECK: hfta.contract %[[X]], %[[W]]
// CHECK: %[[XR:.+]] = hfta.round_to_tf32 %[[X]] : tensor<8x4xf32>
// CHECK: %[[WR:.+]] = hfta.round_to_tf32 %[[W]] : tensor<3x4xf32>
// CHECK: hfta.contract %[[XR]], %[[WR]]
func.func @tf32() attributes {hfta.task = #hfta.task<forward, 1>} {
  %x = hfta.read @x : tensor<8x4xf32>
  %w = hfta.read @w : tensor<3x4xf32>
  %y = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<8x4xf32>, tensor<3x4xf32>
  %z = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {hfta.multiply = tf32} : tensor<8x4xf32>, tensor<3x4xf32>
  %s = hfta.add %y, %z : tensor<8x3xf32>, tensor<8x3xf32>
  hfta.write %s, @y : tensor<8x3xf32>
  return
}

// On a CPU pairs of bf16 are multiplied where each element is in many products.
// They are packed along an axis that is summed over: the longest one of an even
// size.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<32x6x50xf32>, %[[W:[^ ,:#]+]]: tensor<6x24x50xf32>
// CHECK: %[[XP:.+]] = hfta.pair_factors %[[X]] along 2
// CHECK: %[[WP:.+]] = hfta.pair_factors %[[W]] along 2
// CHECK: hfta.contract %[[XP]], %[[WP]]
// CHECK-NOT: hfta.multiply
// CHECK-SAME: : tensor<32x6x25xi32>, tensor<6x24x25xi32>
// NARROW-LABEL: func.func @pairs(
// NARROW-NOT: hfta.pair_factors
func.func @pairs(%x: tensor<32x6x50xf32>, %w: tensor<6x24x50xf32>) -> tensor<32x24xf32> {
  %y = hfta.contract %x, %w maps [affine_map<(m, n, i, k) -> (m, i, k)>, affine_map<(m, n, i, k) -> (i, n, k)>, affine_map<(m, n, i, k) -> (m, n)>] {hfta.multiply = bf16} : tensor<32x6x50xf32>, tensor<6x24x50xf32>
  return %y : tensor<32x24xf32>
}

// An odd size is better than none, but not than a shorter even one.
// CHECK-LABEL: func.func @odd(
// CHECK-COUNT-2: hfta.pair_factors %{{.+}} along 1 : tensor<{{[0-9]+}}x50xf32>
// CHECK-COUNT-2: hfta.pair_factors %{{.+}} along 1 : tensor<{{[0-9]+}}x6x51xf32>
// CHECK-COUNT-2: hfta.pair_factors %{{.+}} along 1 : tensor<{{[0-9]+}}x51xf32>
func.func @odd(%x: tensor<32x50xf32>, %w: tensor<24x50xf32>, %y: tensor<32x6x51xf32>, %v: tensor<24x6x51xf32>, %z: tensor<32x51xf32>, %u: tensor<24x51xf32>) -> (tensor<32x24xf32>, tensor<32x24xf32>, tensor<32x24xf32>) {
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {hfta.multiply = bf16} : tensor<32x50xf32>, tensor<24x50xf32>
  %1 = hfta.contract %y, %v maps [affine_map<(m, n, i, k) -> (m, i, k)>, affine_map<(m, n, i, k) -> (n, i, k)>, affine_map<(m, n, i, k) -> (m, n)>] {hfta.multiply = bf16} : tensor<32x6x51xf32>, tensor<24x6x51xf32>
  %2 = hfta.contract %z, %u maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {hfta.multiply = bf16} : tensor<32x51xf32>, tensor<24x51xf32>
  return %0, %1, %2 : tensor<32x24xf32>, tensor<32x24xf32>, tensor<32x24xf32>
}

// Convolutions add up over input channels, their input gradients over output
// channels, their weight gradients over samples.
// CHECK-LABEL: func.func @convolutions(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<4x16x9x9xf32>, %[[W:[^ ,:#]+]]: tensor<32x16x3x3xf32>, %[[G:[^ ,:#]+]]: tensor<4x32x9x9xf32>
// CHECK: %[[XP:.+]] = hfta.pair_factors %[[X]] along 1
// CHECK: %[[WP:.+]] = hfta.pair_factors %[[W]] along 1
// CHECK: hfta.conv %[[XP]], %[[WP]]
// CHECK: %[[GP:.+]] = hfta.pair_factors %[[G]] along 1
// CHECK: %[[VP:.+]] = hfta.pair_factors %[[W]] along 0
// CHECK: hfta.conv_input_gradient %[[GP]], %[[VP]]
// CHECK: %[[XS:.+]] = hfta.pair_factors %[[X]] along 0
// CHECK: %[[GS:.+]] = hfta.pair_factors %[[G]] along 0
// CHECK: hfta.conv_weight_gradient %[[XS]], %[[GS]]
func.func @convolutions(%x: tensor<4x16x9x9xf32>, %w: tensor<32x16x3x3xf32>, %g: tensor<4x32x9x9xf32>) -> (tensor<4x32x9x9xf32>, tensor<4x16x9x9xf32>, tensor<32x16x3x3xf32>) {
  %0 = hfta.conv %x, %w {hfta.multiply = bf16, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x16x9x9xf32>, tensor<32x16x3x3xf32>
  %1 = hfta.conv_input_gradient %g, %w {hfta.multiply = bf16, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, input_shape = array<i64: 4, 16, 9, 9>} : tensor<4x32x9x9xf32>, tensor<32x16x3x3xf32>
  %2 = hfta.conv_weight_gradient %x, %g {hfta.multiply = bf16, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, weight_shape = array<i64: 32, 16, 3, 3>} : tensor<4x16x9x9xf32>, tensor<4x32x9x9xf32>
  return %0, %1, %2 : tensor<4x32x9x9xf32>, tensor<4x16x9x9xf32>, tensor<32x16x3x3xf32>
}

// A pair's channels must be of one group, and one sample makes no pair.
// CHECK-LABEL: func.func @groups(
// CHECK-NOT: hfta.pair_factors
// CHECK: hfta.conv
// CHECK-NOT: hfta.pair_factors
// CHECK: hfta.conv_weight_gradient
func.func @groups(%x: tensor<1x32x9x9xf32>, %w: tensor<32x16x3x3xf32>, %g: tensor<1x32x9x9xf32>) -> (tensor<1x32x9x9xf32>, tensor<32x16x3x3xf32>) {
  %0 = hfta.conv %x, %w {hfta.multiply = bf16, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<1x32x9x9xf32>, tensor<32x16x3x3xf32>
  %1 = hfta.conv_weight_gradient %x, %g {hfta.multiply = bf16, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64, weight_shape = array<i64: 32, 16, 3, 3>} : tensor<1x32x9x9xf32>, tensor<1x32x9x9xf32>
  return %0, %1 : tensor<1x32x9x9xf32>, tensor<32x16x3x3xf32>
}
