// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-split-variances))' | FileCheck %s -enable-var-scope

// A large tensor's variance is made of its samples'.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %[[X:.+]]: tensor<8x32x256xf32>
// CHECK: %[[SUMS:.+]] = hfta.reduce sum %[[X]] over [2]
// CHECK: %[[MEANS:.+]] = hfta.div %[[SUMS]], %{{.+}} : tensor<8x32xf32>
// CHECK: %[[SPREAD:.+]] = hfta.broadcast %[[MEANS]] to [8, 32, 256] along [0, 1]
// CHECK: %[[REST:.+]] = hfta.sub %[[X]], %[[SPREAD]]
// CHECK: %[[SQUARE:.+]] = hfta.mul %[[REST]], %[[REST]]
// CHECK: %[[SQUARES:.+]] = hfta.reduce sum %[[SQUARE]] over [2]
// CHECK: %[[SUM:.+]] = hfta.reduce sum %[[SUMS]] over [0]
// CHECK: %[[MEAN:.+]] = hfta.div %[[SUM]]
// CHECK: %[[OF_ALL:.+]] = hfta.broadcast %[[MEAN]] to [8, 32] along [1]
// CHECK: %[[DIFFERENCE:.+]] = hfta.sub %[[MEANS]], %[[OF_ALL]]
// CHECK: %[[D2:.+]] = hfta.mul %[[DIFFERENCE]], %[[DIFFERENCE]]
// CHECK: %[[D3:.+]] = hfta.mul %[[D2]]
// CHECK: %[[ALL:.+]] = hfta.add %[[SQUARES]], %[[D3]]
// CHECK: %[[V:.+]] = hfta.reduce sum %[[ALL]] over [0]
// CHECK: return %[[MEAN]], %[[V]]
func.func @large(%x: tensor<8x32x256xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %n = hfta.constant dense<2048.0> : tensor<32xf32>
  %s = hfta.reduce sum %x over [0, 2] : tensor<8x32x256xf32>
  %mean = hfta.div %s, %n : tensor<32xf32>, tensor<32xf32>
  %b = hfta.broadcast %mean to [8, 32, 256] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %b : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q = hfta.mul %c, %c : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x32x256xf32>
  return %mean, %v : tensor<32xf32>, tensor<32xf32>
}

// Small tensors, and those with short samples, are read twice; sums of other
// squares are no variances.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: over [0]
// CHECK-NOT: over [2]
// CHECK: return
func.func @others(%x: tensor<8x32x16xf32>, %y: tensor<64x64x16xf32>, %z: tensor<8x32x256xf32>, %m: tensor<32xf32>) -> (tensor<32xf32>, tensor<64xf32>, tensor<32xf32>) {
  %n = hfta.constant dense<128.0> : tensor<32xf32>
  %s = hfta.reduce sum %x over [0, 2] : tensor<8x32x16xf32>
  %mean = hfta.div %s, %n : tensor<32xf32>, tensor<32xf32>
  %b = hfta.broadcast %mean to [8, 32, 16] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %b : tensor<8x32x16xf32>, tensor<8x32x16xf32>
  %q = hfta.mul %c, %c : tensor<8x32x16xf32>, tensor<8x32x16xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x32x16xf32>
  %n1 = hfta.constant dense<1024.0> : tensor<64xf32>
  %s1 = hfta.reduce sum %y over [0, 2] : tensor<64x64x16xf32>
  %mean1 = hfta.div %s1, %n1 : tensor<64xf32>, tensor<64xf32>
  %b1 = hfta.broadcast %mean1 to [64, 64, 16] along [1] : tensor<64xf32>
  %c1 = hfta.sub %y, %b1 : tensor<64x64x16xf32>, tensor<64x64x16xf32>
  %q1 = hfta.mul %c1, %c1 : tensor<64x64x16xf32>, tensor<64x64x16xf32>
  %v1 = hfta.reduce sum %q1 over [0, 2] : tensor<64x64x16xf32>
  %b2 = hfta.broadcast %m to [8, 32, 256] along [1] : tensor<32xf32>
  %c2 = hfta.sub %z, %b2 : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q2 = hfta.mul %c2, %c2 : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v2 = hfta.reduce sum %q2 over [0, 2] : tensor<8x32x256xf32>
  return %v, %v1, %v2 : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// Nor is what differs from a mean of other channels, or is cut off to integers.
// CHECK-LABEL: func.func @no_variance(
// CHECK-NOT: over [0]
// CHECK-NOT: over [2]
// CHECK: return
func.func @no_variance(%x: tensor<8x256x256xf32>, %y: tensor<8x32x256xi64>) -> (tensor<256xf32>, tensor<32xi64>) {
  %n = hfta.constant dense<2048.0> : tensor<256xf32>
  %s = hfta.reduce sum %x over [0, 2] : tensor<8x256x256xf32>
  %mean = hfta.div %s, %n : tensor<256xf32>, tensor<256xf32>
  %b = hfta.broadcast %mean to [8, 256, 256] along [2] : tensor<256xf32>
  %c = hfta.sub %x, %b : tensor<8x256x256xf32>, tensor<8x256x256xf32>
  %q = hfta.mul %c, %c : tensor<8x256x256xf32>, tensor<8x256x256xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x256x256xf32>
  %n1 = hfta.constant dense<2048> : tensor<32xi64>
  %s1 = hfta.reduce sum %y over [0, 2] : tensor<8x32x256xi64>
  %mean1 = hfta.div %s1, %n1 : tensor<32xi64>, tensor<32xi64>
  %b1 = hfta.broadcast %mean1 to [8, 32, 256] along [1] : tensor<32xi64>
  %c1 = hfta.sub %y, %b1 : tensor<8x32x256xi64>, tensor<8x32x256xi64>
  %q1 = hfta.mul %c1, %c1 : tensor<8x32x256xi64>, tensor<8x32x256xi64>
  %v1 = hfta.reduce sum %q1 over [0, 2] : tensor<8x32x256xi64>
  return %v, %v1 : tensor<256xf32>, tensor<32xi64>
}

// Of two that share a sum the first one is split.
// CHECK-LABEL: func.func @shared_sum(
// CHECK-COUNT-2: over [2]
// CHECK-NOT: over [2]
// CHECK: hfta.reduce sum %{{.+}} over [0, 2]
// CHECK-NOT: over [2]
// CHECK: return
func.func @shared_sum(%x: tensor<8x32x256xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %n = hfta.constant dense<2048.0> : tensor<32xf32>
  %m = hfta.constant dense<2047.0> : tensor<32xf32>
  %s = hfta.reduce sum %x over [0, 2] : tensor<8x32x256xf32>
  %mean = hfta.div %s, %n : tensor<32xf32>, tensor<32xf32>
  %b = hfta.broadcast %mean to [8, 32, 256] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %b : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q = hfta.mul %c, %c : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x32x256xf32>
  %mean1 = hfta.div %s, %m : tensor<32xf32>, tensor<32xf32>
  %b1 = hfta.broadcast %mean1 to [8, 32, 256] along [1] : tensor<32xf32>
  %c1 = hfta.sub %x, %b1 : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q1 = hfta.mul %c1, %c1 : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v1 = hfta.reduce sum %q1 over [0, 2] : tensor<8x32x256xf32>
  return %v, %v1 : tensor<32xf32>, tensor<32xf32>
}

// What is declared alone has no ops.
// CHECK: func.func private @elsewhere(tensor<32xf32>) -> tensor<32xf32>
func.func private @elsewhere(tensor<32xf32>) -> tensor<32xf32>
