// RUN: hfta-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(hfta-map-kernels-to-gpu))' | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(hfta-map-kernels-to-gpu{always}))' | FileCheck %s -check-prefix=ALWAYS

// A product with something done to an operand and to its elements is computed
// tile by tile.
// CHECK-LABEL: func.func private @linear(
// CHECK-NOT: hfta.sum_lanes
// CHECK: linalg.generic
// CHECK-SAME: hfta.tile = array<i64: 32, 32, 8, 2, 2, 4>
// CHECK-NOT: hfta.tile
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func private @linear(%x: tensor<64x784xf32>, %w: tensor<512x784xf32>, %b: tensor<512xf32>) -> tensor<64x512xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x784xf32>, tensor<512x784xf32>) outs(%zeros : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%product, %b : tensor<64x512xf32>, tensor<512xf32>) outs(%empty : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  return %sum : tensor<64x512xf32>
}

// -----

// The parts in which an op's terms are added follow from the op alone, not from
// the use of its result.
// CHECK-LABEL: func.func private @cut(
// CHECK-NOT: hfta.sum_lanes
// CHECK: hfta.tile = array<i64: {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}, 1>
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func private @cut(%x: tensor<64x16xf32>, %w: tensor<512x16xf32>) -> tensor<64x511xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x16xf32>, tensor<512x16xf32>) outs(%zeros : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %cut = tensor.extract_slice %product[0, 1] [64, 511] [1, 1] : tensor<64x512xf32> to tensor<64x511xf32>
  return %cut : tensor<64x511xf32>
}

// -----

// Few sums of many terms that are neighbours in memory.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: hfta.lanes_inside, hfta.sum_lanes = 128 : i64
// CHECK: linalg.generic
// CHECK-SAME: hfta.sum_lanes = 128 : i64
func.func private @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// -----

// The sums of columns are neighbours in memory.
// CHECK-LABEL: func.func private @columns(
// CHECK-NOT: hfta.lanes_inside
// CHECK-SAME: hfta.sum_lanes = 128 : i64
func.func private @columns(%x: tensor<1024x64xf32>) -> tensor<64xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(k, m) -> (k, m)>, affine_map<(k, m) -> (m)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1024x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// -----

// There is a sum for each thread, except in tests.
// CHECK-LABEL: func.func private @many(
// CHECK-NOT: hfta.sum_lanes
// ALWAYS-LABEL: func.func private @many(
// ALWAYS-SAME: hfta.sum_lanes = 4 : i64
func.func private @many(%x: tensor<4x100x40xf32>) -> tensor<100x40xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100x40xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<100x40xf32>) -> tensor<100x40xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m, n)>, affine_map<(k, m, n) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<4x100x40xf32>) outs(%zeros : tensor<100x40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<100x40xf32>
  return %sum : tensor<100x40xf32>
}

// -----

// On tensor cores: a step has at least as many terms as an instruction.
// CHECK-LABEL: func.func private @narrow(
// CHECK: hfta.multiply = bf16, hfta.tile = array<i64: 32, 32, 16, 2, 2, 4>
// ALWAYS-LABEL: func.func private @narrow(
// ALWAYS: hfta.multiply = bf16, hfta.tile = array<i64: 16, 16, 16, 2, 2, 4>
func.func private @narrow(%x: tensor<64x784xf32>, %w: tensor<512x784xf32>) -> tensor<64x512xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %product = linalg.generic {hfta.multiply = bf16, indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x784xf32>, tensor<512x784xf32>) outs(%zeros : tensor<64x512xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = math.fma %a, %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  return %product : tensor<64x512xf32>
}

// -----

// A row's sum, and the values of the row's elements that use it: the mapping says
// whose rows these are, and that a row's threads are neighbours, as its elements are.
// CHECK-LABEL: func.func private @shared_rows(
// CHECK-SAME: hfta.lanes_inside, hfta.row_axes = [array<i64: 0>, array<i64: 0>], hfta.run = 4 : i64, hfta.sum_lanes = 128 : i64
func.func private @shared_rows(%x: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<64xf32>) attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %all = tensor.empty() : tensor<64x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %part = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x1024xf32>
  return %part, %sum : tensor<64x1024xf32>, tensor<64xf32>
}

// -----

// Where channels lie last, rows are neighbours, and threads have those.
// CHECK-LABEL: func.func private @rows_last(
// CHECK-NOT: hfta.lanes_inside
// CHECK-SAME: hfta.row_axes = [array<i64: 0, 2>, array<i64: 0, 1>], hfta.sum_lanes = 32 : i64
func.func private @rows_last(%x: tensor<8x256x128xf32>) -> (tensor<8x256x128xf32>, tensor<8x128xf32>) attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<8x128xf32>
  %all = tensor.empty() : tensor<8x256x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x128xf32>) -> tensor<8x128xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k, n)>, affine_map<(m, k, n) -> (m, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x256x128xf32>) outs(%all : tensor<8x256x128xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = math.absf %a : f32
    linalg.yield %t : f32
  } -> tensor<8x256x128xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k, n)>, affine_map<(m, k, n) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%made : tensor<8x256x128xf32>) outs(%zeros : tensor<8x128xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8x128xf32>
  return %made, %sum : tensor<8x256x128xf32>, tensor<8x128xf32>
}

// -----

// Where there are many, a thread has as many neighbouring elements as it reads at
// once, along the last axis; what is done to elements by their number alone has
// one axis.
// CHECK-LABEL: func.func private @many(
// CHECK-SAME: %{{.+}}: tensor<82944xf32>, %{{.+}}: tensor<f32>) -> tensor<82944xbf16>
// CHECK-SAME: hfta.run = 8 : i64
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #{{.+}}, #{{.+}}], iterator_types = ["parallel"]}
// ALWAYS-LABEL: func.func private @many(
// ALWAYS-SAME: hfta.run = 8 : i64
func.func private @many(%x: tensor<96x96x3x3xf32>, %rate: tensor<f32>) -> tensor<96x96x3x3xbf16> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<96x96x3x3xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> ()>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %rate : tensor<96x96x3x3xf32>, tensor<f32>) outs(%empty : tensor<96x96x3x3xbf16>) {
  ^bb0(%a: f32, %r: f32, %o: bf16):
    %m = arith.mulf %a, %r : f32
    %n = arith.truncf %m : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<96x96x3x3xbf16>
  return %y : tensor<96x96x3x3xbf16>
}

// -----

// Spread along the last axis or another one; where there are few, a thread has
// one element, unless it is to be tested, and so it has where a row ends within
// a run, or elements are single bits.
// CHECK-LABEL: func.func private @spread(
// CHECK-SAME: tensor<4x32xf32>
// CHECK-NOT: hfta.run
// ALWAYS-LABEL: func.func private @spread(
// ALWAYS-SAME: hfta.run = 4 : i64
func.func private @spread(%x: tensor<4x32xf32>, %c: tensor<32xf32>, %r: tensor<4xf32>) -> tensor<4x32xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
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

// ALWAYS-LABEL: func.func private @short(
// ALWAYS-NOT: hfta.run
func.func private @short(%x: tensor<4x6xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<4x6xf32>, tensor<6xf32>) outs(%empty : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// ALWAYS-LABEL: func.func private @bits(
// ALWAYS-NOT: hfta.run
func.func private @bits(%x: tensor<4x32xf32>, %c: tensor<32xf32>) -> tensor<4x32xi1> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<4x32xi1>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<4x32xf32>, tensor<32xf32>) outs(%empty : tensor<4x32xi1>) {
  ^bb0(%a: f32, %b: f32, %o: i1):
    %m = arith.cmpf olt, %a, %b : f32
    linalg.yield %m : i1
  } -> tensor<4x32xi1>
  return %y : tensor<4x32xi1>
}
