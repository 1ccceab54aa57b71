// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-sort-indices))' | FileCheck %s -enable-var-scope

// For each update: the slice, 1000 for none, and its number; how many are less;
// which update has each rank; how many updates belong to slices before.
// CHECK-LABEL: func.func @embedding(
// CHECK-SAME: %[[U:.+]]: tensor<8x64x48xf32, #hfta.copies<2>>, %[[I:.+]]: tensor<8x64xi64>
// CHECK: %[[FLAT:.+]] = hfta.reshape %[[I]] to [512]
// CHECK: %[[IS_NEGATIVE:.+]] = hfta.compare less, %[[FLAT]], %{{.+}} :
// CHECK: %[[FROM_END:.+]] = hfta.add %[[FLAT]], %{{.+}} :
// CHECK: %[[WRAPPED:.+]] = hfta.select %[[IS_NEGATIVE]], %[[FROM_END]], %[[FLAT]]
// CHECK: %[[IS_OUTSIDE:.+]] = hfta.compare less, %[[WRAPPED]], %{{.+}} :
// CHECK: %[[UPPER:.+]] = hfta.select %[[IS_OUTSIDE]], %[[LAST:.+]], %[[WRAPPED]]
// CHECK: %[[SLICE:.+]] = hfta.min %[[UPPER]], %[[LAST]]
// CHECK: %[[NARROW:.+]] = hfta.cast %[[SLICE]] : tensor<512xi64> to i32
// CHECK: %[[FIRST:.+]] = hfta.mul %[[NARROW]], %{{.+}} :
// CHECK: %[[NUMBER:.+]] = hfta.iota [512] along 0 : i32
// CHECK: %[[KEYS:.+]] = hfta.add %[[FIRST]], %[[NUMBER]]
// CHECK: %[[OTHERS:.+]] = hfta.broadcast %[[KEYS]] to [512, 512] along [1]
// CHECK: %[[OWN:.+]] = hfta.broadcast %[[KEYS]] to [512, 512] along [0]
// CHECK: %[[ARE_LESS:.+]] = hfta.compare less, %[[OTHERS]], %[[OWN]]
// CHECK: %[[COUNTED:.+]] = hfta.cast %[[ARE_LESS]]
// CHECK: %[[RANKS:.+]] = hfta.reduce sum %[[COUNTED]] over [1] : tensor<512x512xi32>
// CHECK: %[[SPREAD:.+]] = hfta.broadcast %[[RANKS]] to [512, 512] along [1]
// CHECK: %[[WANTED:.+]] = hfta.iota [512, 512] along 0 : i32
// CHECK: %[[IS_IT:.+]] = hfta.compare equal, %[[SPREAD]], %[[WANTED]]
// CHECK: %[[NUMBERS:.+]] = hfta.iota [512, 512] along 1 : i32
// CHECK: %[[CHOSEN:.+]] = hfta.select %[[IS_IT]], %[[NUMBERS]], %{{.+}} :
// CHECK: %[[ORDER:.+]] = hfta.reduce sum %[[CHOSEN]] over [1] : tensor<512x512xi32>
// CHECK: %[[SLICES:.+]] = hfta.iota [1001] along 0 : i32
// CHECK: %[[ENDS:.+]] = hfta.mul %[[SLICES]], %{{.+}} :
// CHECK-DAG: %[[BEGINS:.+]] = hfta.broadcast %[[ENDS]] to [1001, 512] along [0]
// CHECK-DAG: %[[ALL:.+]] = hfta.broadcast %[[KEYS]] to [1001, 512] along [1]
// CHECK: %[[ARE_BEFORE:.+]] = hfta.compare less, %[[ALL]], %[[BEGINS]]
// CHECK: %[[BEFORE:.+]] = hfta.cast %[[ARE_BEFORE]]
// CHECK: %[[OFFSETS:.+]] = hfta.reduce sum %[[BEFORE]] over [1] : tensor<1001x512xi32>
// CHECK: %[[UPDATES:.+]] = hfta.reshape %[[U]] to [512, 48]
// CHECK: %[[G:.+]] = hfta.segment_sum %[[UPDATES]] at %[[ORDER]] in %[[OFFSETS]] along 0 : tensor<512x48xf32, #hfta.copies<2>>, tensor<512xi32>, tensor<1001xi32>
// CHECK: return %[[G]]
func.func @embedding(%u: tensor<8x64x48xf32, #hfta.copies<2>>, %i: tensor<8x64xi64>) -> tensor<1000x48xf32, #hfta.copies<2>> {
  %g = hfta.scatter_add %u at %i along 0 size 1000 : tensor<8x64x48xf32, #hfta.copies<2>>, tensor<8x64xi64>
  return %g : tensor<1000x48xf32, #hfta.copies<2>>
}

// An op that adds by the same indices into as many slices shares the tables.
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-3: hfta.reduce sum
// CHECK: hfta.segment_sum %{{.+}} at %[[ORDER:.+]] in %[[OFFSETS:.+]] along 0
// CHECK-NOT: hfta.reduce
// CHECK: hfta.segment_sum %{{.+}} at %[[ORDER]] in %[[OFFSETS]] along 1
// CHECK-COUNT-3: hfta.reduce sum
// CHECK: hfta.segment_sum
// CHECK-NOT: hfta.segment_sum
func.func @shared(%u: tensor<512x48xf32>, %v: tensor<4x512x3xf32>, %i: tensor<512xi32>) -> (tensor<1000x48xf32>, tensor<4x1000x3xf32>, tensor<900x48xf32>) {
  %0 = hfta.scatter_add %u at %i along 0 size 1000 : tensor<512x48xf32>, tensor<512xi32>
  %1 = hfta.scatter_add %v at %i along 1 size 1000 : tensor<4x512x3xf32>, tensor<512xi32>
  %2 = hfta.scatter_add %u at %i along 0 size 900 : tensor<512x48xf32>, tensor<512xi32>
  return %0, %1, %2 : tensor<1000x48xf32>, tensor<4x1000x3xf32>, tensor<900x48xf32>
}

// A value that each kernel recomputes isn't stored for the sum.
// CHECK-LABEL: func.func @repeated(
// CHECK: %[[U:.+]] = hfta.broadcast
// CHECK: %[[UPDATES:.+]] = hfta.reshape %[[U]] to [512, 48] {hfta.repeated}
// CHECK: hfta.segment_sum %[[UPDATES]]
func.func @repeated(%x: tensor<8x48xf32>, %i: tensor<8x64xi64>) -> tensor<1000x48xf32> {
  %u = hfta.broadcast %x to [8, 64, 48] along [0, 2] : tensor<8x48xf32>
  %0 = hfta.scatter_add %u at %i along 0 size 1000 : tensor<8x64x48xf32>, tensor<8x64xi64>
  return %0 : tensor<1000x48xf32>
}

// Numbers of many slices and updates need 64 bits.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME: , %[[I:[^ ,:]+]]: tensor<4096xi32>
// CHECK: hfta.cast %[[I]] : tensor<4096xi32> to i64
// CHECK: hfta.segment_sum %{{.+}} along 0 : tensor<4096x8xf32>, tensor<4096xi64>, tensor<1000001xi64>
func.func @wide(%u: tensor<4096x8xf32>, %i: tensor<4096xi32>) -> tensor<1000000x8xf32> {
  %0 = hfta.scatter_add %u at %i along 0 size 1000000 : tensor<4096x8xf32>, tensor<4096xi32>
  return %0 : tensor<1000000x8xf32>
}

// The tables of constant indices are known: 5 is out of range, -1 the last slice.
// CHECK-LABEL: func.func @constant(
// CHECK-NOT: hfta.reduce
// CHECK-DAG: %[[ORDER:.+]] = hfta.constant dense<[1, 4, 0, 3, 5, 2]> : tensor<6xi32>
// CHECK-DAG: %[[OFFSETS:.+]] = hfta.constant dense<[0, 2, 2, 5]> : tensor<4xi32>
// CHECK: hfta.segment_sum %{{.+}} at %[[ORDER]] in %[[OFFSETS]] along 0
func.func @constant(%u: tensor<2x3x4xf32>) -> tensor<3x4xf32> {
  %i = hfta.constant dense<[[2, 0, 5], [-1, -3, 2]]> : tensor<2x3xi64>
  %0 = hfta.scatter_add %u at %i along 0 size 3 : tensor<2x3x4xf32>, tensor<2x3xi64>
  return %0 : tensor<3x4xf32>
}

// Few indices are compared by every element; so are those of single elements,
// of which tables would need more comparisons.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: hfta.scatter_add
// CHECK-NOT: hfta.segment_sum
func.func @others(%u: tensor<64x16xf32>, %i: tensor<64xi64>, %v: tensor<20000xf32>, %j: tensor<20000xi64>, %w: tensor<0x16xf32>, %k: tensor<0xi64>) -> (tensor<100x16xf32>, tensor<20000xf32>, tensor<100x16xf32>) {
  %0 = hfta.scatter_add %u at %i along 0 size 100 : tensor<64x16xf32>, tensor<64xi64>
  %1 = hfta.scatter_add %v at %j along 0 size 20000 : tensor<20000xf32>, tensor<20000xi64>
  %2 = hfta.scatter_add %w at %k along 0 size 100 : tensor<0x16xf32>, tensor<0xi64>
  return %0, %1, %2 : tensor<100x16xf32>, tensor<20000xf32>, tensor<100x16xf32>
}
