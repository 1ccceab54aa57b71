// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-sum-by-parts))' | FileCheck %s -enable-var-scope

// A variance is computed from the means and variances of parts, right after
// their operand.
// CHECK-LABEL: func.func @variance(
// CHECK-SAME: %[[A:.+]]: tensor<8x32x256xf32>
// CHECK: %[[X:.+]] = hfta.neg %[[A]]
// CHECK-DAG: %[[SQUARES:.+]] = hfta.part_sums %[[X]] of 32 along 1 {centered}
// CHECK-DAG: %[[SUMS:.+]] = hfta.part_sums %[[X]] of 32 along 1 : tensor<8x32x256xf32>
// CHECK: hfta.exp %[[X]]
// CHECK: %[[SUM:.+]] = hfta.reduce sum %[[SUMS]] over [0] : tensor<64x32xf32>
// CHECK: %[[MEAN:.+]] = hfta.div %[[SUM]]
// CHECK: %[[MEANS:.+]] = hfta.div %[[SUMS]], %{{.+}} : tensor<64x32xf32>
// CHECK: %[[OF_ALL:.+]] = hfta.broadcast %[[MEAN]] to [64, 32] along [1]
// CHECK: %[[DIFFERENCE:.+]] = hfta.sub %[[MEANS]], %[[OF_ALL]]
// CHECK: %[[D2:.+]] = hfta.mul %[[DIFFERENCE]], %[[DIFFERENCE]]
// CHECK: %[[D3:.+]] = hfta.mul %[[D2]]
// CHECK: %[[ALL:.+]] = hfta.add %[[SQUARES]], %[[D3]]
// CHECK: %[[V:.+]] = hfta.reduce sum %[[ALL]] over [0]
// CHECK: return %[[MEAN]], %[[V]]
func.func @variance(%a: tensor<8x32x256xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<8x32x256xf32>) {
  %n = hfta.constant dense<2048.0> : tensor<32xf32>
  %x = hfta.neg %a : tensor<8x32x256xf32>
  %e = hfta.exp %x : tensor<8x32x256xf32>
  %s = hfta.reduce sum %x over [0, 2] : tensor<8x32x256xf32>
  %mean = hfta.div %s, %n : tensor<32xf32>, tensor<32xf32>
  %b = hfta.broadcast %mean to [8, 32, 256] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %b : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q = hfta.mul %c, %c : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x32x256xf32>
  return %mean, %v, %e : tensor<32xf32>, tensor<32xf32>, tensor<8x32x256xf32>
}

// Sums of other columns are too, even if these are the last axis.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.+]]: tensor<16x33x20xf32>, %[[Y:.+]]: tensor<250x40xf64>
// CHECK-DAG: %[[P:.+]] = hfta.part_sums %[[X]] of 16 along 2
// CHECK-DAG: %[[Q:.+]] = hfta.part_sums %[[Y]] of 25 along 1
// CHECK-DAG: hfta.reduce sum %[[P]] over [0] : tensor<33x20xf32>
// CHECK-DAG: hfta.reduce sum %[[Q]] over [0] : tensor<10x40xf64>
func.func @columns(%x: tensor<16x33x20xf32>, %y: tensor<250x40xf64>) -> (tensor<20xf32>, tensor<40xf64>) {
  %s = hfta.reduce sum %x over [0, 1] : tensor<16x33x20xf32>
  %t = hfta.reduce sum %y over [0] : tensor<250x40xf64>
  return %s, %t : tensor<20xf32>, tensor<40xf64>
}

// Sums of rows, of small tensors, of few or as many rows as no part divides, of
// integers, in other types and other reductions aren't.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: hfta.part_sums
// CHECK: return
func.func @others(%x: tensor<128x64xf32>, %y: tensor<32x16xf32>, %z: tensor<64x256xf32>, %p: tensor<127x64xf32>, %i: tensor<128x64xi32>, %h: tensor<128x64xbf16>) -> (tensor<128xf32>, tensor<16xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xbf16>, tensor<64xf32>) {
  %0 = hfta.reduce sum %x over [1] : tensor<128x64xf32>
  %1 = hfta.reduce sum %y over [0] : tensor<32x16xf32>
  %2 = hfta.reduce sum %z over [0] : tensor<64x256xf32>
  %3 = hfta.reduce sum %p over [0] : tensor<127x64xf32>
  %4 = hfta.reduce sum %i over [0] : tensor<128x64xi32>
  %5 = hfta.reduce sum %h over [0] {accumulate = f32} : tensor<128x64xbf16>
  %6 = hfta.reduce max %x over [0] : tensor<128x64xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<128xf32>, tensor<16xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xbf16>, tensor<64xf32>
}

// Squares of differences from another mean are a sum like any other.
// CHECK-LABEL: func.func @other_mean(
// CHECK-NOT: centered
// CHECK: hfta.part_sums
// CHECK-NOT: centered
// CHECK: return
func.func @other_mean(%x: tensor<8x32x256xf32>, %m: tensor<32xf32>) -> tensor<32xf32> {
  %b = hfta.broadcast %m to [8, 32, 256] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %b : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %q = hfta.mul %c, %c : tensor<8x32x256xf32>, tensor<8x32x256xf32>
  %v = hfta.reduce sum %q over [0, 2] : tensor<8x32x256xf32>
  return %v : tensor<32xf32>
}

// A sum of differences from other channels' means, or of integers, is no variance.
// CHECK-LABEL: func.func @no_variance(
// CHECK-NOT: centered
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

// If two share a sum, the first one is combined from parts.
// CHECK-LABEL: func.func @shared_sum(
// CHECK: centered
// CHECK-NOT: centered
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

// A function that is only declared has no ops.
// CHECK: func.func private @elsewhere(tensor<32xf32>) -> tensor<32xf32>
func.func private @elsewhere(tensor<32xf32>) -> tensor<32xf32>
