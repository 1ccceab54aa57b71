// RUN: hfta-opt %s -hfta-fold-casts -canonicalize | FileCheck %s -enable-var-scope

#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]

// CHECK-LABEL: func.func @contract
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<3x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = hfta.contract %[[X]], %[[W]] {{.*}} {accumulate = f64} : tensor<8x4xf32>, tensor<3x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @contract(%x: tensor<8x4xf32>, %w: tensor<3x4xf32>) -> tensor<8x3xf32> {
  %x64 = hfta.cast %x : tensor<8x4xf32> to f64
  %w64 = hfta.cast %w : tensor<3x4xf32> to f64
  %1 = hfta.contract %x64, %w64 maps #maps : tensor<8x4xf64>, tensor<3x4xf64>
  %y = hfta.cast %1 : tensor<8x3xf64> to f32
  return %y : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @reduce
// CHECK: hfta.reduce sum %{{.*}} over [1] {accumulate = f64} : tensor<8x4xf32>
func.func @reduce(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %x64 = hfta.cast %x : tensor<8x4xf32> to f64
  %1 = hfta.reduce sum %x64 over [1] : tensor<8x4xf64>
  %y = hfta.cast %1 : tensor<8xf64> to f32
  return %y : tensor<8xf32>
}

// Ops that only move elements use the narrow type, also if the wide one is used.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[B:.*]]: tensor<4xf32>)
// CHECK: %[[WIDE:.*]] = hfta.broadcast %{{.*}} : tensor<4xf64>
// CHECK: %[[NARROW:.*]] = hfta.broadcast %[[B]] {{.*}} : tensor<4xf32>
// CHECK: return %[[NARROW]], %[[WIDE]]
func.func @broadcast(%b: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf64>) {
  %b64 = hfta.cast %b : tensor<4xf32> to f64
  %1 = hfta.broadcast %b64 to [8, 4] along [1] : tensor<4xf64>
  %y = hfta.cast %1 : tensor<8x4xf64> to f32
  return %y, %1 : tensor<8x4xf32>, tensor<8x4xf64>
}

// A sum that is read in its own type, too, and one of wider terms stay.
// CHECK-LABEL: func.func @stay
// CHECK: hfta.reduce sum %{{.*}} over [1] : tensor<8x4xf64>
// CHECK: hfta.reduce sum %{{.*}} over [1] : tensor<8x4xf64>
func.func @stay(%x: tensor<8x4xf32>, %z: tensor<8x4xf64>) -> (tensor<8xf32>, tensor<8xf64>, tensor<8xf32>) {
  %x64 = hfta.cast %x : tensor<8x4xf32> to f64
  %1 = hfta.reduce sum %x64 over [1] : tensor<8x4xf64>
  %y = hfta.cast %1 : tensor<8xf64> to f32
  %2 = hfta.reduce sum %z over [1] : tensor<8x4xf64>
  %v = hfta.cast %2 : tensor<8xf64> to f32
  return %y, %1, %v : tensor<8xf32>, tensor<8xf64>, tensor<8xf32>
}
