// RUN: hfta-opt %s -hfta-round-factors | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target=target=cuda -hfta-round-factors -hfta-form-kernels | FileCheck %s -check-prefix=NARROW -enable-var-scope

hfta.variable @x {role = #hfta.role<input>} : tensor<8x4xf32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<3x4xf32>
hfta.variable @y {role = #hfta.role<output>} : tensor<8x3xf32>

// Operands of a product are rounded to its type of factors, and still are f32.
// The rounded value is in memory, and widened by the kernel that multiplies it.
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
