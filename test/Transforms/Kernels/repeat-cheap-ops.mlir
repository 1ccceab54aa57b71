// RUN: hfta-opt %s -hfta-repeat-cheap-ops | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-repeat-cheap-ops=whole-rows | FileCheck %s --check-prefix=ROWS

// A value that a sum and an elementwise op compute from a tensor that is in
// memory anyway, and from a much smaller one, is computed by both.
// CHECK-LABEL: func.func @centered(
// CHECK: hfta.sub %{{.+}}, %{{.+}} {hfta.repeated}
// CHECK: hfta.mul
// CHECK-NOT: hfta.repeated
// ROWS-LABEL: func.func @centered(
// ROWS: hfta.sub %{{.+}}, %{{.+}} {hfta.repeated}
// ROWS: hfta.mul
// ROWS-NOT: hfta.repeated
func.func @centered(%x: tensor<8x32x64xf32>, %mean: tensor<32xf32>, %y: tensor<8x32x64xf32>) -> (tensor<32xf32>, tensor<8x32x64xf32>) {
  %m = hfta.broadcast %mean to [8, 32, 64] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %m : tensor<8x32x64xf32>, tensor<8x32x64xf32>
  %square = hfta.mul %c, %c : tensor<8x32x64xf32>, tensor<8x32x64xf32>
  %variance = hfta.reduce sum %square over [0, 2] : tensor<8x32x64xf32>
  %result = hfta.mul %c, %y : tensor<8x32x64xf32>, tensor<8x32x64xf32>
  return %variance, %result : tensor<32xf32>, tensor<8x32x64xf32>
}

// So is what follows from it alone.
// CHECK-LABEL: func.func @chain(
// ROWS-LABEL: func.func @chain(
// CHECK: hfta.sub %{{.+}}, %{{.+}} {hfta.repeated}
// CHECK: hfta.abs %{{.+}} {hfta.repeated}
// CHECK-NOT: hfta.repeated
func.func @chain(%x: tensor<8x32x64xf32>, %mean: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %m = hfta.broadcast %mean to [8, 32, 64] along [1] : tensor<32xf32>
  %c = hfta.sub %x, %m : tensor<8x32x64xf32>, tensor<8x32x64xf32>
  %a = hfta.abs %c : tensor<8x32x64xf32>
  %0 = hfta.reduce sum %c over [0, 2] : tensor<8x32x64xf32>
  %1 = hfta.reduce sum %a over [0, 2] : tensor<8x32x64xf32>
  %2 = hfta.reduce max %a over [0, 2] : tensor<8x32x64xf32>
  return %0, %1, %2 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// A value that only such an op needs is computed with it; one that reads
// nothing large is so even for one reader.
// CHECK-LABEL: func.func @path(
// CHECK: hfta.compare equal, %{{.+}}, %{{.+}} {hfta.repeated}
// CHECK: hfta.cast %{{.+}} {hfta.repeated}
// CHECK: hfta.compare equal, %{{.+}}, %{{.+}} {hfta.repeated}
// CHECK-NOT: hfta.repeated
// With `whole-rows`, only the second comparison is marked: one kernel computes
// the sum of a row and what follows from the row.
// ROWS-LABEL: func.func @path(
// ROWS: hfta.iota
// ROWS: hfta.compare equal, %{{.+}}, %{{.+}} {hfta.repeated}
// ROWS-NOT: hfta.repeated
func.func @path(%x: tensor<8x32x64xf32>, %most: tensor<8x32xf32>, %label: tensor<8xi64>) -> (tensor<8x32xf32>, tensor<8x32x64xf32>, tensor<8x1000xf32>) {
  %m = hfta.broadcast %most to [8, 32, 64] along [0, 1] : tensor<8x32xf32>
  %is = hfta.compare equal, %x, %m : tensor<8x32x64xf32>, tensor<8x32x64xf32>
  %one = hfta.cast %is : tensor<8x32x64xi1> to f32
  %count = hfta.reduce sum %one over [2] : tensor<8x32x64xf32>
  %exp = hfta.exp %one : tensor<8x32x64xf32>
  %class = hfta.iota [8, 1000] along 1 : i64
  %label2 = hfta.broadcast %label to [8, 1000] along [0] : tensor<8xi64>
  %hot = hfta.compare equal, %class, %label2 : tensor<8x1000xi64>, tensor<8x1000xi64>
  %zero = hfta.constant dense<0.0> : tensor<8x1000xf32>
  %big = hfta.constant dense<1.0> : tensor<8x1000xf32>
  %e = hfta.exp %big : tensor<8x1000xf32>
  %s = hfta.select %hot, %e, %zero : tensor<8x1000xi1>, tensor<8x1000xf32>, tensor<8x1000xf32>
  return %count, %exp, %s : tensor<8x32xf32>, tensor<8x32x64xf32>, tensor<8x1000xf32>
}

// A sum's kernel computes the values that use the sum.
// CHECK-LABEL: func.func @of_sum(
// CHECK-NOT: hfta.repeated
func.func @of_sum(%x: tensor<8x64xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %s = hfta.reduce sum %x over [1] : tensor<8x64xf32>
  %n = hfta.neg %s : tensor<8xf32>
  %t = hfta.reduce sum %n over [0] : tensor<8xf32>
  %e = hfta.exp %n : tensor<8xf32>
  return %t, %e : tensor<f32>, tensor<8xf32>
}

// There is no gain with one reader, with two large tensors to be read, or if
// the computation takes long; a product would compute each element many times,
// and a value without other readers isn't in memory.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: hfta.repeated
func.func @others(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %v: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %b = hfta.broadcast %v to [64, 64] along [1] : tensor<64xf32>
  %once = hfta.sub %x, %b : tensor<64x64xf32>, tensor<64x64xf32>
  %two = hfta.add %x, %y : tensor<64x64xf32>, tensor<64x64xf32>
  %s0 = hfta.reduce sum %two over [0] : tensor<64x64xf32>
  %s1 = hfta.reduce sum %two over [1] : tensor<64x64xf32>
  %costly = hfta.exp %x : tensor<64x64xf32>
  %s2 = hfta.reduce sum %costly over [0] : tensor<64x64xf32>
  %s3 = hfta.reduce sum %costly over [1] : tensor<64x64xf32>
  %factor = hfta.mul %y, %b : tensor<64x64xf32>, tensor<64x64xf32>
  %product = hfta.contract %factor, %x maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<64x64xf32>, tensor<64x64xf32>
  %s4 = hfta.reduce sum %factor over [0] : tensor<64x64xf32>
  %made = hfta.exp %y : tensor<64x64xf32>
  %behind = hfta.neg %made : tensor<64x64xf32>
  %s5 = hfta.reduce sum %behind over [0] : tensor<64x64xf32>
  %s6 = hfta.reduce sum %behind over [1] : tensor<64x64xf32>
  return %once, %s0, %s1, %s2, %s4, %product, %s5, %s6 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// A pooling computes what it chooses from, if that is in few of its windows.
// CHECK-LABEL: func.func @pooled(
// CHECK: hfta.relu %{{.+}} {hfta.repeated}
// CHECK: hfta.max_pool
// CHECK-NOT: hfta.repeated
// CHECK: hfta.average_pool
func.func @pooled(%x: tensor<8x4x16x16xf32>, %y: tensor<8x4x16x16xf32>) -> (tensor<8x4x8x8xf32>, tensor<8x4x16x16xf32>) {
  %a = hfta.relu %x : tensor<8x4x16x16xf32>
  %0, %i = hfta.max_pool %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<8x4x16x16xf32>
  %b = hfta.relu %y : tensor<8x4x16x16xf32>
  %1 = hfta.average_pool %b {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, ceil_padding = array<i64: 0, 0>} : tensor<8x4x16x16xf32>
  return %0, %1 : tensor<8x4x8x8xf32>, tensor<8x4x16x16xf32>
}

// A constant of different elements is a tensor in memory, of the size of the
// comparison.
// CHECK-LABEL: func.func @mask(
// CHECK-NOT: hfta.repeated
func.func @mask(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %ends = hfta.constant dense<[[1, 2, 3, 4], [4, 1, 2, 3], [3, 4, 1, 2], [2, 3, 4, 1]]> : tensor<4x4xi32>
  %position = hfta.iota [4, 4] along 1 : i32
  %chosen = hfta.compare less, %position, %ends : tensor<4x4xi32>, tensor<4x4xi32>
  %zero = hfta.constant dense<0.0> : tensor<4x4xf32>
  %masked = hfta.select %chosen, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>
  %sum = hfta.reduce sum %masked over [1] : tensor<4x4xf32>
  return %masked, %sum : tensor<4x4xf32>, tensor<4xf32>
}

// With `whole-rows`, what reads a sum of its row isn't marked: the kernel that
// computes the sum visits the row again. Nor is a small value, or one that the
// elements of a larger tensor would compute again.
// CHECK-LABEL: func.func @softmax(
// CHECK: hfta.sub %{{.+}}, %{{.+}} {hfta.repeated}
// ROWS-LABEL: func.func @softmax(
// ROWS-NOT: hfta.repeated
func.func @softmax(%x: tensor<256x64xf32>) -> (tensor<256xf32>, tensor<256x64xf32>) {
  %most = hfta.reduce max %x over [1] : tensor<256x64xf32>
  %m = hfta.broadcast %most to [256, 64] along [0] : tensor<256xf32>
  %below = hfta.sub %x, %m : tensor<256x64xf32>, tensor<256x64xf32>
  %e = hfta.exp %below : tensor<256x64xf32>
  %sum = hfta.reduce sum %e over [1] : tensor<256x64xf32>
  %twice = hfta.add %below, %below : tensor<256x64xf32>, tensor<256x64xf32>
  return %sum, %twice : tensor<256xf32>, tensor<256x64xf32>
}

// ROWS-LABEL: func.func @small(
// ROWS-NOT: hfta.repeated
func.func @small(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>) {
  %n = hfta.neg %x : tensor<8x64xf32>
  %e = hfta.exp %n : tensor<8x64xf32>
  %sum = hfta.reduce sum %n over [0] : tensor<8x64xf32>
  return %e, %sum : tensor<8x64xf32>, tensor<64xf32>
}

// ROWS-LABEL: func.func @larger(
// ROWS-NOT: hfta.repeated
func.func @larger(%x: tensor<256x64xf32>, %y: tensor<4x256x64xf32>) -> (tensor<4x256x64xf32>, tensor<64xf32>) {
  %n = hfta.neg %x : tensor<256x64xf32>
  %b = hfta.broadcast %n to [4, 256, 64] along [1, 2] : tensor<256x64xf32>
  %product = hfta.mul %y, %b : tensor<4x256x64xf32>, tensor<4x256x64xf32>
  %sum = hfta.reduce sum %n over [0] : tensor<256x64xf32>
  return %product, %sum : tensor<4x256x64xf32>, tensor<64xf32>
}
