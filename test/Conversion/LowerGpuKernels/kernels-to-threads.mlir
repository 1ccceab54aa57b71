// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-kernels-to-threads | FileCheck %s -enable-var-scope

// One element of each operand, and the memory of an argument that a result
// takes the place of.
// CHECK-LABEL: func.func private @elementwise(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x32xf32>, %[[Y:[^ ,:]+]]: memref<4x32xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>
// CHECK-SAME: hfta.items = 128 : i64
// CHECK: %[[A:.+]] = memref.load %[[X]]
// CHECK: %[[B:.+]] = memref.load %[[Y]]
// CHECK: %[[SUM:.+]] = arith.addf %[[A]], %[[B]]
// CHECK: memref.store %[[SUM]], %[[Y]]
func.func private @elementwise(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x32xf32> attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  %empty = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x32xf32>, tensor<4x32xf32>) outs(%empty : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  return %sum : tensor<4x32xf32>
}

// -----

// Four neighbours: what is next to each other is read and stored together, what
// they share is read once.
// CHECK-LABEL: func.func private @neighbours(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x32xf32>, %[[C:[^ ,:]+]]: memref<32xf32>, %[[R:[^ ,:]+]]: memref<4xf32>, %[[OUT:[^ ,:]+]]: memref<4x32xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 32 : i64
// CHECK: vector.load %[[X]][{{.+}}] {alignment = 16 : i64} : memref<4x32xf32>, vector<4xf32>
// CHECK: vector.load %[[C]][{{.+}}] {alignment = 16 : i64} : memref<32xf32>, vector<4xf32>
// CHECK: memref.load %[[R]]
// CHECK-NOT: load
// CHECK: %[[ALL:.+]] = vector.from_elements %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK: vector.store %[[ALL]], %[[OUT]][{{.+}}] {alignment = 16 : i64}
func.func private @neighbours(%x: tensor<4x32xf32>, %c: tensor<32xf32>, %r: tensor<4xf32>) -> tensor<4x32xf32> attributes {hfta.kernel, hfta.run = 4 : i64, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<4x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %c, %r : tensor<4x32xf32>, tensor<32xf32>, tensor<4xf32>) outs(%empty : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %d : f32
    linalg.yield %n : f32
  } -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// A value that several ops read is read once, however many paths lead to it.
// CHECK-LABEL: func.func private @chain(
// CHECK-COUNT-1: vector.load
// CHECK-NOT: load
// CHECK: return
#same = affine_map<(a) -> (a)>
func.func private @chain(%x0: tensor<128xf32>) -> tensor<128xf32> attributes {hfta.kernel, hfta.run = 4 : i64, hfta.ties = array<i64: -1>} {
  %e = tensor.empty() : tensor<128xf32>
  %x1 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x0, %x0 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x1, %x1 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x3 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x2, %x2 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x4 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x3, %x3 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x5 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x4, %x4 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x6 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x5, %x5 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x7 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x6, %x6 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x8 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x7, %x7 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x9 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x8, %x8 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x10 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x9, %x9 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x11 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x10, %x10 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x12 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x11, %x11 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x13 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x12, %x12 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x14 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x13, %x13 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x15 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x14, %x14 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x16 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x15, %x15 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x17 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x16, %x16 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x18 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x17, %x17 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x19 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x18, %x18 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x20 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x19, %x19 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x21 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x20, %x20 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x22 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x21, %x21 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x23 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x22, %x22 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x24 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x23, %x23 : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %x24 : tensor<128xf32>
}

// -----

// The number of a sum's term may exceed 32 bits as well.
// CHECK-LABEL: func.func private @terms(
// CHECK-SAME: hfta.wide_indices
func.func private @terms(%x: tensor<65536xf32>, %y: tensor<65536xf32>) -> tensor<f32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x, %y : tensor<65536xf32>, tensor<65536xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.minnumf %a, %b : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

// An element of a tensor that isn't stored may have an index beyond 32 bits.
// CHECK-LABEL: func.func private @spread(
// CHECK-SAME: hfta.items = 65536 : i64
// CHECK-SAME: hfta.wide_indices
func.func private @spread(%x: tensor<65536xf32>) -> tensor<65536xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<65536x65536xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<65536xf32>) outs(%empty : tensor<65536x65536xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<65536x65536xf32>
  %first = tensor.extract_slice %all[0, 0] [65536, 1] [1, 1] : tensor<65536x65536xf32> to tensor<65536xf32>
  return %first : tensor<65536xf32>
}

// -----

// The terms of a sum in their order, and before the loop what doesn't depend on
// it. Padding is a condition.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x30xf32>, %[[SCALE:[^ ,:]+]]: memref<4xf32>, %[[OUT:[^ ,:]+]]: memref<4xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 4 : i64
// CHECK: %[[SCALED:.+]] = memref.load %[[SCALE]][%[[ITEM]]]
// CHECK: %[[SUM:.+]] = scf.for %[[I:.+]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OLD:.+]] = %{{.*}}) -> (f32)
// CHECK: scf.if
// CHECK: memref.load %[[X]][%[[ITEM]],
// CHECK: } else {
// CHECK-NOT: memref.load
// CHECK: %[[TERM:.+]] = arith.mulf %{{.*}}, %[[SCALED]]
// CHECK: %[[NEW:.+]] = arith.addf %[[OLD]], %[[TERM]]
// CHECK: scf.yield %[[NEW]]
// CHECK: memref.store %[[SUM]], %[[OUT]][%{{.*}}]
func.func private @sum(%x: tensor<4x30xf32>, %scale: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x30xf32> to tensor<4x32xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%padded, %scale : tensor<4x32xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// The smaller one of two results has fewer elements than there are threads.
// CHECK-LABEL: func.func private @two(
// CHECK-SAME: %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 8 : i64
// CHECK: %[[LAST:.+]] = arith.minui %[[ITEM]]
// CHECK: memref.load %{{.*}}[%[[LAST]]]
// CHECK: %[[OWN:.+]] = arith.cmpi ult, %[[ITEM]]
// CHECK: scf.if %[[OWN]]
func.func private @two(%x: tensor<2xf32>, %y: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %e = tensor.empty() : tensor<2xf32>
  %f = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%v: f32, %w: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%v: f32, %w: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %a, %b : tensor<2xf32>, tensor<8xf32>
}

// -----

func.func private @whole(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %0 = tensor.cast %x : tensor<4x4xf32> to tensor<?x?xf32>
  // expected-error @+1 {{can't be computed element by element}}
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// expected-error @+1 {{expected one entry of hfta.ties a result, -1 or an argument}}
func.func private @ties(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: 3>} {
  return %x : tensor<4xf32>
}

// -----

// Nothing is read of what has no elements.
// CHECK-LABEL: func.func private @empty(
// CHECK-SAME: memref<0xf32>, %{{.*}}: memref<20x3xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func private @empty(%x: tensor<0x3xf32>) -> tensor<20x3xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[20, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<0x3xf32> to tensor<20x3xf32>
  return %p : tensor<20x3xf32>
}

// -----

// Four threads add up a sum: each every fourth term, from its own on, and the
// first one from where the sum starts; then pairs of what they have.
// CHECK-LABEL: func.func private @shared(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<8x64xf32>, %[[OUT:[^ ,:]+]]: memref<8xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.block_threads = 256 : i64, hfta.items = 256 : i64, hfta.kernel
// CHECK: %[[MEMORY:.+]] = memref.get_global @shared{{.*}} : memref<1024xi8, 3>
// CHECK: %[[VALUES:.+]] = memref.view %[[MEMORY]]
// CHECK: affine.apply
// CHECK: %[[BEGIN:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : f32
// CHECK: %[[OWN:.+]] = scf.for %{{.+}} = %[[LANE:.+]] to %{{.+}} step %{{.+}} iter_args(%{{.+}} = %[[BEGIN]]) -> (f32)
// CHECK: hfta_gpu.barrier
// CHECK: memref.store %[[OWN]], %[[VALUES]]
// CHECK: hfta_gpu.barrier
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: hfta_gpu.barrier
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: hfta_gpu.barrier
// CHECK-NOT: hfta_gpu.barrier
// CHECK: %[[SUM:.+]] = memref.load %[[VALUES]]
// CHECK: scf.if
// CHECK: memref.store %[[SUM]], %[[OUT]]
func.func private @shared(%x: tensor<8x64xf32>) -> tensor<8xf32> attributes {hfta.kernel, hfta.lanes_inside, hfta.sum_lanes = 4 : i64, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {hfta.sum_lanes = 4 : i64, indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// This sum can't be shared, as threads don't reach it together: one thread does
// the work of four, in the same order.
// CHECK-LABEL: func.func private @alone(
// CHECK-NOT: hfta_gpu.barrier
// CHECK: %[[VALUES:.+]] = memref.alloc() : memref<4xf32>
// CHECK: scf.for %[[LANE:.+]] = %c0 to %c4
// CHECK: arith.select
// CHECK: %[[OWN:.+]] = scf.for %{{.+}} = %[[LANE]] to %c64 step %c4
// CHECK: memref.store %[[OWN]], %[[VALUES]][%[[LANE]]]
// CHECK: scf.for %{{.+}} = %c0 to %c2 step %c1
// CHECK: arith.addf
// CHECK: scf.for %{{.+}} = %c0 to %c1 step %c1
// CHECK: arith.addf
// CHECK: memref.load %[[VALUES]][%c0]
// CHECK-NOT: hfta_gpu.barrier
func.func private @alone(%x: tensor<8x64xf32>) -> tensor<8xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {hfta.sum_lanes = 4 : i64, indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// A product of which no tile is computed has a tile's groups of terms.
// CHECK-LABEL: func.func private @groups(
// CHECK-NOT: hfta_gpu.barrier
// CHECK: %[[FIRST:.+]] = scf.for %{{.+}} = %c0 to %c12 step %c1
// CHECK: math.fma
// CHECK: %[[SECOND:.+]] = scf.for %{{.+}} = %c12 to %c18 step %c1
// CHECK: math.fma
// CHECK: arith.addf %[[FIRST]], %[[SECOND]]
// CHECK-NOT: hfta_gpu.barrier
func.func private @groups(%x: tensor<4x18xf32>, %w: tensor<5x18xf32>) -> tensor<4x4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %product = linalg.generic {hfta.tile = array<i64: 4, 4, 4, 2, 2, 2>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x18xf32>, tensor<5x18xf32>) outs(%zeros : tensor<4x5xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x5xf32>
  %cut = tensor.extract_slice %product[0, 1] [4, 4] [1, 1] : tensor<4x5xf32> to tensor<4x4xf32>
  return %cut : tensor<4x4xf32>
}

// -----

// A tile of 4 by 4, of which a thread has 2 by 2, four terms at a time: those
// of the next step are computed before those of this one are added. There are
// 18 terms, followed by 0 and -0. Columns from number 5 on are not stored.
// CHECK-LABEL: func.func private @tiles(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x18xf32>, %[[W:[^ ,:]+]]: memref<5x18xf32>, %[[OUT:[^ ,:]+]]: memref<4x5xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.block_threads = 4 : i64, hfta.items = 8 : i64, hfta.kernel
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.0
// CHECK-DAG: %[[NEGATIVE:.+]] = arith.constant -0.0
// CHECK-DAG: %[[LHS:.+]] = memref.view %{{.+}} : memref<512xi8, 3> to memref<1x2x4x8xf32, 3>
// CHECK-DAG: %[[RHS:.+]] = memref.view %{{.+}} : memref<512xi8, 3> to memref<1x2x4x8xf32, 3>
// CHECK: memref.load %[[X]]
// CHECK: memref.load %[[W]]
// CHECK: hfta_gpu.barrier
// CHECK: %[[SUMS:.+]]:4 = scf.for
// CHECK: scf.if
// CHECK: memref.load %[[X]]
// CHECK: else
// CHECK: scf.yield %[[ZERO]]
// CHECK: memref.load %[[W]]
// CHECK: else
// CHECK: scf.yield %[[NEGATIVE]]
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
// CHECK: hfta_gpu.barrier
// CHECK: scf.yield
// CHECK-COUNT-4: scf.if
func.func private @tiles(%x: tensor<4x18xf32>, %w: tensor<5x18xf32>) -> tensor<4x5xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %product = linalg.generic {hfta.tile = array<i64: 4, 4, 4, 2, 2, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x18xf32>, tensor<5x18xf32>) outs(%zeros : tensor<4x5xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x5xf32>
  return %product : tensor<4x5xf32>
}

// -----

// Two warps multiply a tile of 16 by 16, 16 terms at a time: a thread stores four
// words of two neighbouring terms each, and has four sums.
// CHECK-LABEL: func.func private @tensor_cores(
// CHECK-SAME: hfta.block_threads = 64 : i64, hfta.items = 64 : i64, hfta.kernel
// CHECK-COUNT-2: memref.view %{{.+}} : memref<2048xi8, 3> to memref<512xi16, 3>
// CHECK: hfta_gpu.barrier
// CHECK: %[[SUMS:.+]]:4 = scf.for {{.*}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}, %[[C:.+]] = %{{.+}}, %[[D:.+]] = %{{.+}}) -> (f32, f32, f32, f32)
// CHECK: %[[ROW:.+]] = hfta_gpu.address %{{.+}}[%{{.+}}] : memref<512xi16, 3> -> !llvm.ptr<3>
// CHECK: %[[LHS:.+]]:4 = hfta_gpu.load_matrices %[[ROW]] : i32, i32, i32, i32
// CHECK: %[[RHS:.+]]:2 = hfta_gpu.load_matrices %{{.+}} : i32, i32
// CHECK: hfta_gpu.multiply bf16(%[[LHS]]#0, %[[LHS]]#1, %[[LHS]]#2, %[[LHS]]#3) (%[[RHS]]#0, %[[RHS]]#1) (%[[A]], %[[B]], %[[C]], %[[D]])
// CHECK-NOT: hfta_gpu.multiply
// CHECK: vector.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : memref<512xi16, 3>, vector<8xi16>
// CHECK: hfta_gpu.barrier
func.func private @tensor_cores(%x: tensor<16x32xf32>, %w: tensor<16x32xf32>) -> tensor<16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x32xf32>, tensor<16x32xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %product : tensor<16x16xf32>
}

// -----

// Operands that memory holds in the shared form are copied, two steps ahead of
// the one whose terms are added, in three buffers: neighbouring channels
// together, and zeros where there is padding.
// CHECK-LABEL: func.func private @runs(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<4x15x16xbf16>, %[[W:[^ ,:]+]]: memref<16x3x16xbf16>
// CHECK-DAG: %[[STEPS:.+]] = arith.constant 3 : index
// CHECK-DAG: memref.view %{{.+}} : memref<3072xi8, 3> to memref<768xi16, 3>
// CHECK: %[[TO:.+]] = hfta_gpu.address %{{.+}}[%{{.+}}] : memref<768xbf16, 3> -> !llvm.ptr<3>
// CHECK: %[[PLACE:.+]] = hfta_gpu.address %[[X]][{{.+}}] : memref<4x15x16xbf16> -> !llvm.ptr
// CHECK: %[[FROM:.+]] = llvm.addrspacecast %[[PLACE]] : !llvm.ptr to !llvm.ptr<1>
// CHECK: %[[ALL:.+]] = arith.constant 16 : i32
// CHECK: %[[SIZE:.+]] = arith.select %{{.+}}, %[[ALL]], %{{.+}} : i32
// CHECK: hfta_gpu.begin_copy %[[TO]] from %[[FROM]] count %[[SIZE]]
// CHECK: hfta_gpu.address %[[W]][{{.+}}] : memref<16x3x16xbf16> -> !llvm.ptr
// CHECK: hfta_gpu.begin_copy %{{.+}} from %{{[^ ]+}}{{$}}
// CHECK: hfta_gpu.commit_copies
// CHECK-COUNT-2: hfta_gpu.begin_copy
// CHECK: hfta_gpu.commit_copies
// CHECK-NEXT: hfta_gpu.wait_for_copies but 1
// CHECK-NEXT: hfta_gpu.barrier
// CHECK: scf.for %[[STEP:.+]] = %{{.+}} to %[[STEPS]]
// CHECK: %[[IS_STEP:.+]] = arith.cmpi ult, %{{.+}}, %[[STEPS]] : index
// CHECK-NEXT: scf.if %[[IS_STEP]] {
// CHECK-COUNT-2: hfta_gpu.begin_copy
// CHECK: hfta_gpu.commit_copies
// CHECK: hfta_gpu.multiply bf16
// CHECK: hfta_gpu.wait_for_copies but 1
// CHECK-NEXT: hfta_gpu.barrier
// CHECK-NOT: memref.load %[[X]]
// CHECK-NOT: vector.store
// CHECK: return
func.func private @runs(%x: tensor<4x15x16xbf16>, %w: tensor<16x3x16xbf16>) -> tensor<4x16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.000000e+00 : f32
  %xe = tensor.empty() : tensor<4x15x16xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x15x16xbf16>) outs(%xe : tensor<4x15x16xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<4x15x16xf32>
  %we = tensor.empty() : tensor<16x3x16xf32>
  %weight = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<16x3x16xbf16>) outs(%we : tensor<16x3x16xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<16x3x16xf32>
  %padded = tensor.pad %wide low[0, 2, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<4x15x16xf32> to tensor<4x18x16xf32>
  %empty = tensor.empty() : tensor<4x16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(n, p, o, t, c) -> (n, p + t, c)>, affine_map<(n, p, o, t, c) -> (o, t, c)>, affine_map<(n, p, o, t, c) -> (n, p, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%padded, %weight : tensor<4x18x16xf32>, tensor<16x3x16xf32>) outs(%zeros : tensor<4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<4x16x16xf32>
  return %product : tensor<4x16x16xf32>
}

// -----

// CHECK-LABEL: func.func private @short_rows(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<16x3x12xf32>, %[[W:[^ ,:]+]]: memref<16x3x12xf32>
// CHECK-NOT: vector.load
// CHECK: memref.load %[[X]]
// CHECK-NOT: vector.load %{{.+}} : memref<16x3x12xf32>
// CHECK: return
func.func private @short_rows(%x: tensor<16x3x12xf32>, %w: tensor<16x3x12xf32>) -> tensor<16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.000000e+00 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(n, o, t, c) -> (n, t, c)>, affine_map<(n, o, t, c) -> (o, t, c)>, affine_map<(n, o, t, c) -> (n, o)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<16x3x12xf32>, tensor<16x3x12xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<16x16xf32>
  return %product : tensor<16x16xf32>
}

// -----

// If neighbours in memory are neighbouring rows, or columns, a unit of one term
// is copied at once, and zeros where there is padding. They are shared term by
// term, and their warp reads small matrices of them transposed.
// CHECK-LABEL: func.func private @along(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<30x24xbf16>, %[[W:[^ ,:]+]]: memref<30x16xbf16>
// CHECK-DAG: memref.view %{{.+}} : memref<2048xi8, 3> to memref<512xi16, 3>
// CHECK: hfta_gpu.address %[[X]][{{.+}}] : memref<30x24xbf16> -> !llvm.ptr
// CHECK: %[[SIZE:.+]] = arith.select
// CHECK: hfta_gpu.begin_copy %{{.+}} count %[[SIZE]]
// CHECK: hfta_gpu.address %[[W]][{{.+}}] : memref<30x16xbf16> -> !llvm.ptr
// CHECK: hfta_gpu.begin_copy %{{.+}} count
// CHECK: hfta_gpu.commit_copies
// CHECK-NEXT: hfta_gpu.wait_for_copies but 0
// CHECK-NEXT: hfta_gpu.barrier
// CHECK: scf.for
// CHECK: %[[LEFT:.+]]:4 = hfta_gpu.load_matrices %{{.+}} transposed : i32, i32, i32, i32
// CHECK: %[[RIGHT:.+]]:2 = hfta_gpu.load_matrices %{{.+}} transposed : i32, i32
// CHECK: hfta_gpu.multiply bf16(%[[LEFT]]#0, {{.*}}) (%[[RIGHT]]#0,
// CHECK-NOT: memref.load
// CHECK: return
func.func private @along(%x: tensor<30x24xbf16>, %w: tensor<30x16xbf16>) -> tensor<24x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %xe = tensor.empty() : tensor<30x24xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<30x24xbf16>) outs(%xe : tensor<30x24xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<30x24xf32>
  %we = tensor.empty() : tensor<30x16xf32>
  %weight = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<30x16xbf16>) outs(%we : tensor<30x16xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<30x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x16xf32>) -> tensor<24x16xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%wide, %weight : tensor<30x24xf32>, tensor<30x16xf32>) outs(%zeros : tensor<24x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = math.fma %a, %b, %s : f32
    linalg.yield %t : f32
  } -> tensor<24x16xf32>
  return %product : tensor<24x16xf32>
}

// -----

// Words that hold one element are read as they are, and where a unit would go on
// in another row, elements are read one by one, while the other operand is
// copied.
// CHECK-LABEL: func.func private @along_words(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<32x16xf32>, %[[W:[^ ,:]+]]: memref<32x3x6xf32>
// CHECK-COUNT-2: memref.view %{{.+}} : memref<4096xi8, 3> to memref<512xi32, 3>
// CHECK: hfta_gpu.address %{{.+}} : memref<512xf32, 3> -> !llvm.ptr<3>
// CHECK: hfta_gpu.address %[[X]][{{.+}}] : memref<32x16xf32> -> !llvm.ptr
// CHECK: hfta_gpu.begin_copy
// CHECK: hfta_gpu.commit_copies
// CHECK: memref.load %[[W]]
// CHECK: vector.store %{{.+}} {alignment = 16 : i64} : memref<512xi32, 3>, vector<4xi32>
// CHECK: hfta_gpu.wait_for_copies but 0
// CHECK-NEXT: hfta_gpu.barrier
// CHECK: scf.for
// CHECK: hfta_gpu.address %[[X]]
// CHECK: hfta_gpu.begin_copy
// CHECK: hfta_gpu.commit_copies
// CHECK: memref.load %[[W]]
// CHECK-COUNT-4: memref.load %{{.+}} : memref<512xi32, 3>
// CHECK: hfta_gpu.address %{{.+}} : memref<512xi32, 3> -> !llvm.ptr<3>
// CHECK: hfta_gpu.load_matrices %{{.+}} : i32, i32
// CHECK: vector.store %{{.+}} {alignment = 16 : i64} : memref<512xi32, 3>, vector<4xi32>
// CHECK: hfta_gpu.wait_for_copies but 0
// CHECK-NEXT: hfta_gpu.barrier
// CHECK: return
func.func private @along_words(%x: tensor<32x16xf32>, %w: tensor<32x3x6xf32>) -> tensor<16x3x6xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x3x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x3x6xf32>) -> tensor<16x3x6xf32>
  %product = linalg.generic {hfta.multiply = tf32, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, t, n, k) -> (k, m)>, affine_map<(m, t, n, k) -> (k, t, n)>, affine_map<(m, t, n, k) -> (m, t, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<32x16xf32>, tensor<32x3x6xf32>) outs(%zeros : tensor<16x3x6xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x3x6xf32>
  return %product : tensor<16x3x6xf32>
}

// -----

// Neighbours of a slice are copied together if it begins with such a unit of its
// source, which the second one doesn't.
// CHECK-LABEL: func.func private @slices(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<2x16x48xf32>, %[[W:[^ ,:]+]]: memref<32x24xf32>
// CHECK: hfta_gpu.address %[[X]][{{.+}}] : memref<2x16x48xf32> -> !llvm.ptr
// CHECK: hfta_gpu.begin_copy
// CHECK-NOT: hfta_gpu.address %[[W]]
// CHECK: memref.load %[[W]]
// CHECK-NOT: memref.load %[[X]]
// CHECK-NOT: vector.load %[[W]]
// CHECK: return
func.func private @slices(%x: tensor<2x16x48xf32>, %w: tensor<32x24xf32>) -> tensor<16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %queries = tensor.extract_slice %x[1, 0, 16] [1, 16, 32] [1, 1, 1] : tensor<2x16x48xf32> to tensor<16x32xf32>
  %shifted = tensor.extract_slice %w[0, 2] [32, 16] [1, 1] : tensor<32x24xf32> to tensor<32x16xf32>
  %empty = tensor.empty() : tensor<16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.generic {hfta.multiply = tf32, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%queries, %shifted : tensor<16x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = math.fma %a, %b, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %product : tensor<16x16xf32>
}

// -----

// Where only a sum of two loops says which element it is, neighbours aren't read
// together.
// CHECK-LABEL: func.func private @along_windows(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<8x18xf32>, %[[W:[^ ,:]+]]: memref<8x3x16xf32>
// CHECK-COUNT-2: memref.view %{{.+}} : memref<2048xi8, 3> to memref<512xi16, 3>
// CHECK-NOT: vector.load %[[X]]
// CHECK: memref.load %[[X]]
// CHECK: vector.load %[[W]][{{.+}}] {alignment = 16 : i64} : memref<8x3x16xf32>, vector<4xf32>
// CHECK-NOT: vector.load %[[X]]
// CHECK: return
func.func private @along_windows(%x: tensor<8x18xf32>, %w: tensor<8x3x16xf32>) -> tensor<16x16xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 1>, indexing_maps = [affine_map<(m, o, n, t) -> (n, m + t)>, affine_map<(m, o, n, t) -> (n, t, o)>, affine_map<(m, o, n, t) -> (m, o)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<8x18xf32>, tensor<8x3x16xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = math.fma %a, %b, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %product : tensor<16x16xf32>
}

// -----

// The threads that share a row add it up, and then each has every fourth of its
// elements; one stores the row's values. The block has more threads than there
// are rows; those after the last row have no elements.
// CHECK-LABEL: func.func private @shared_rows(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<60x32xf32>, %[[OUT:[^ ,:]+]]: memref<60x32xf32>, %[[SUMS:[^ ,:]+]]: memref<60xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.block_threads = 256 : i64
// CHECK-SAME: hfta.items = 256 : i64
// CHECK-SAME: hfta.shares_sums
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[LENGTH:.+]] = arith.constant 32 : index
// CHECK-DAG: %[[STEP:.+]] = arith.constant 4 : index
// CHECK: %[[IS_ROW:.+]] = arith.cmpi ule, %{{.+}}, %{{.+}} : index
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[LENGTH]] step %[[STEP]] iter_args
// CHECK: arith.addf
// CHECK-COUNT-3: hfta_gpu.barrier
// CHECK: hfta_gpu.barrier
// CHECK-NEXT: %[[SUM:[^ ]+]] = memref.load %{{.+}} : memref<256xf32, 3>
// CHECK-NEXT: %[[END:.+]] = arith.select %[[IS_ROW]], %[[LENGTH]], %[[NONE]]
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %[[END]] step %[[STEP]] {
// CHECK: %[[ELEMENT:.+]] = memref.load %[[X]][%[[ROW:.+]], %[[I]]]
// CHECK: %[[PART:.+]] = arith.divf %[[ELEMENT]], %[[SUM]]
// CHECK: memref.store %[[PART]], %[[OUT]][%[[ROW]], %[[I]]]
// CHECK: scf.if
// CHECK-NEXT: memref.store %[[SUM]], %[[SUMS]][%[[ROW]]]
func.func private @shared_rows(%x: tensor<60x32xf32>) -> (tensor<60x32xf32>, tensor<60xf32>) attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>, hfta.sum_lanes = 4 : i64, hfta.lanes_inside, hfta.row_axes = [array<i64: 0>, array<i64: 0>]} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<60xf32>
  %all = tensor.empty() : tensor<60x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<60xf32>) -> tensor<60xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<60x32xf32>) outs(%zeros : tensor<60xf32>) attrs = {hfta.sum_lanes = 4 : i64} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<60xf32>
  %part = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<60x32xf32>, tensor<60xf32>) outs(%all : tensor<60x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<60x32xf32>
  return %part, %sum : tensor<60x32xf32>, tensor<60xf32>
}

// -----

// A loop whose ends others compute: a thread reads what its element's segment
// adds up in it, and nothing of that outside, where there may be no such place.
// CHECK-LABEL: func.func private @segments(
// CHECK-SAME: %[[U:[^ ,:]+]]: memref<6x8xf32>, %[[ORDER:[^ ,:]+]]: memref<6xi32>, %[[OFFSETS:[^ ,:]+]]: memref<5xi32>, %[[OUT:[^ ,:]+]]: memref<4x8xf32>, %[[ITEM:[^ ,:]+]]: index
// CHECK-SAME: hfta.items = 32 : i64
// CHECK: %[[COLUMN:[^ ]+]] = affine.apply #{{.+}}()[%[[ITEM]]]
// CHECK: %[[ROW:[^ ]+]] = affine.apply #{{.+}}()[%[[ITEM]]]
// CHECK: %[[O0:[^ ]+]] = memref.load %[[OFFSETS]][%[[ROW]]]
// CHECK: %[[BEGIN:[^ ]+]] = arith.index_cast %[[O0]]
// CHECK: %[[O1:[^ ]+]] = memref.load %[[OFFSETS]]
// CHECK: %[[END:[^ ]+]] = arith.index_cast %[[O1]]
// CHECK: %[[TOTAL:[^ ]+]] = scf.for %[[N:[^ ]+]] = %[[BEGIN]] to %[[END]] step %{{.+}} iter_args(%[[SUM:[^ ]+]] = %{{.+}}) -> (f32) {
// CHECK-NEXT: %[[P:[^ ]+]] = memref.load %[[ORDER]][%[[N]]]
// CHECK-NEXT: %[[PLACE:[^ ]+]] = arith.index_cast %[[P]]
// CHECK-NEXT: %[[UPDATE:[^ ]+]] = memref.load %[[U]][%[[PLACE]], %[[COLUMN]]]
// CHECK-NEXT: %[[NEXT:[^ ]+]] = arith.addf %[[SUM]], %[[UPDATE]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK: memref.store %[[TOTAL]], %[[OUT]]
func.func private @segments(%u: tensor<6x8xf32>, %order: tensor<6xi32>, %offsets: tensor<5xi32>) -> tensor<4x8xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = scf.for %m = %c0 to %c4 step %c1 iter_args(%rows = %empty) -> tensor<4x8xf32> {
    %1 = scf.for %n = %c0 to %c8 step %c1 iter_args(%row = %rows) -> tensor<4x8xf32> {
      %next = arith.addi %m, %c1 : index
      %o0 = tensor.extract %offsets[%m] : tensor<5xi32>
      %begin = arith.index_cast %o0 : i32 to index
      %o1 = tensor.extract %offsets[%next] : tensor<5xi32>
      %end = arith.index_cast %o1 : i32 to index
      %total = scf.for %k = %begin to %end step %c1 iter_args(%sum = %zero) -> f32 {
        %p = tensor.extract %order[%k] : tensor<6xi32>
        %place = arith.index_cast %p : i32 to index
        %update = tensor.extract %u[%place, %n] : tensor<6x8xf32>
        %s = arith.addf %sum, %update : f32
        scf.yield %s : f32
      }
      %2 = tensor.insert %total into %row[%m, %n] : tensor<4x8xf32>
      scf.yield %2 : tensor<4x8xf32>
    }
    scf.yield %1 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
