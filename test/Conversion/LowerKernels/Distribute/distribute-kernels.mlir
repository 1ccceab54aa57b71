// RUN: hfta-opt %s -hfta-distribute-kernels -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s -enable-var-scope

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func private @elementwise(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<64x8192xf32>, %[[OUT:[^ ,:#]+]]: memref<64x8192xf32>, %[[ITEM:[^ ,:#]+]]: index, %{{.*}}: memref<?xi8>)
// CHECK-SAME: attributes {hfta.items = 16 : i64, hfta.kernel}
// CHECK-DAG: %[[SIZE:[^ ,:#]+]] = arith.constant 4 : index
// CHECK-DAG: %[[RESULT:[^ ,:#]+]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK-DAG: %[[BEGIN:[^ ,:#]+]] = arith.muli %[[ITEM]], %[[SIZE]]
// CHECK-DAG: %[[INPUT:[^ ,:#]+]] = bufferization.to_tensor %[[X]] restrict :
// CHECK: %[[PART:[^ ,:#]+]] = tensor.extract_slice %[[INPUT]][%[[BEGIN]], 0] [4, 8192] [1, 1]
// CHECK: %[[SQUARE:[^ ,:#]+]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<4x8192xf32>)
// CHECK: %[[WHOLE:[^ ,:#]+]] = tensor.insert_slice %[[SQUARE]] into %[[RESULT]][%[[BEGIN]], 0] [4, 8192] [1, 1]
// CHECK: bufferization.materialize_in_destination %[[WHOLE]] in writable %[[OUT]]
// CHECK-NEXT: return
func.func private @elementwise(%x: tensor<64x8192xf32>) -> tensor<64x8192xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<64x8192xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x8192xf32>) outs(%empty : tensor<64x8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Other copies keep threads busy too.
// CHECK-LABEL: func.func private @many_copies(
// CHECK-SAME: hfta.items = 2 : i64
func.func private @many_copies(%x: tensor<64x8192xf32>) -> tensor<64x8192xf32>
    attributes {hfta.copies = 16 : i64, hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<64x8192xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x8192xf32>) outs(%empty : tensor<64x8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Items of several passes are few rows, which stay in the first-level cache.
// CHECK-LABEL: func.func private @passes(
// CHECK-SAME: hfta.items = 8192 : i64
func.func private @passes(%x: tensor<8192x1000xf32>) -> tensor<8192x1000xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<8192xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8192xf32>) -> tensor<8192xf32>
  %sums = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8192x1000xf32>) outs(%start : tensor<8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8192xf32>
  %empty = tensor.empty() : tensor<8192x1000xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<8192x1000xf32>, tensor<8192xf32>) outs(%empty : tensor<8192x1000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<8192x1000xf32>
  return %0 : tensor<8192x1000xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8xf32>, %[[Y:[^ ,:#]+]]: memref<8xf32>, %[[OUT:[^ ,:#]+]]: memref<8xf32>, %{{.*}}: index, %{{.*}}: memref<?xi8>)
// CHECK-DAG: %[[SECOND:[^ ,:#]+]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK-DAG: %[[FIRST:[^ ,:#]+]] = bufferization.to_tensor %[[Y]] restrict writable
// CHECK: %[[RESULTS:[^ ,:#]+]]:2 = linalg.generic
// CHECK: %[[WRITTEN:[^ ,:#]+]] = bufferization.materialize_in_destination %[[RESULTS]]#0 in %[[FIRST]]
// CHECK: bufferization.materialize_in_destination %[[WRITTEN]] in writable %[[Y]]
// CHECK: bufferization.materialize_in_destination %[[RESULTS]]#1 in %[[SECOND]]
func.func private @in_place(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {hfta.kernel, hfta.ties = array<i64: 1, -1>} {
  %empty = tensor.empty() : tensor<8xf32>
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty, %empty : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %s = arith.mulf %a, %b : f32
    %d = arith.subf %a, %b : f32
    linalg.yield %s, %d : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

#data = affine_map<(n, o, k, c) -> (n, o + k)>
#kernel = affine_map<(n, o, k, c) -> (k, c)>
#result = affine_map<(n, o, k, c) -> (n, o, c)>

// Pad, packing and fill are cut along; the part of an axis is the item's number
// in mixed radix, the last axis fastest.
// CHECK-LABEL: func.func private @padded(
// CHECK-SAME: %[[ITEM:[^ ]+]]: index
// CHECK-SAME: hfta.items = 16 : i64
// CHECK-DAG: %[[C2:[^ ,:#]+]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:[^ ,:#]+]] = arith.constant 32 : index
// CHECK: %[[LOW:[^ ,:#]+]] = arith.remui %[[ITEM]], %[[C2]]
// CHECK: %[[HIGH:[^ ,:#]+]] = arith.divui %[[ITEM]], %[[C2]]
// CHECK: %[[CHANNEL:[^ ,:#]+]] = arith.muli %[[LOW]], %[[C32]]
// CHECK: %[[SAMPLE:[^ ,:#]+]] = arith.muli %[[HIGH]], %[[C2]]
// CHECK: %[[X:[^ ,:#]+]] = tensor.extract_slice %{{.*}}[%[[SAMPLE]], 0] [2, 126] [1, 1]
// CHECK: %[[PADDED:[^ ,:#]+]] = tensor.pad %[[X]] low[0, 1] high[0, 1]
// CHECK: %[[W:[^ ,:#]+]] = tensor.extract_slice %{{.*}}[%[[CHANNEL]], 0] [32, 3] [1, 1]
// CHECK: %[[PACKED:[^ ,:#]+]] = linalg.transpose ins(%[[W]] : tensor<32x3xf32>)
// CHECK: linalg.fill {{.*}} -> tensor<2x126x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]], %[[PACKED]] : tensor<2x128xf32>, tensor<3x32xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[SAMPLE]], 0, %[[CHANNEL]]] [2, 126, 32]
func.func private @padded(%x: tensor<16x126xf32>, %w: tensor<64x3xf32>) -> tensor<16x126x64xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x126xf32> to tensor<16x128xf32>
  %none = tensor.empty() : tensor<3x64xf32>
  %packed = linalg.transpose ins(%w : tensor<64x3xf32>) outs(%none : tensor<3x64xf32>) permutation = [1, 0]
  %empty = tensor.empty() : tensor<16x126x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x126x64xf32>) -> tensor<16x126x64xf32>
  %0 = linalg.generic {indexing_maps = [#data, #kernel, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%padded, %packed : tensor<16x128xf32>, tensor<3x64xf32>) outs(%fill : tensor<16x126x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  } -> tensor<16x126x64xf32>
  return %0 : tensor<16x126x64xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// Sums are never cut.
// CHECK-LABEL: func.func private @whole_sum(
// CHECK-SAME: hfta.items = 1 : i64
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1024x1024xf32>)
func.func private @whole_sum(%x: tensor<1024x1024xf32>) -> tensor<f32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#all, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<1024x1024xf32>) outs(%fill : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func private @index(
// CHECK: %[[BEGIN:[^ ,:#]+]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: linalg.generic
// CHECK: %[[INDEX:[^ ,:#]+]] = linalg.index 0
// CHECK-NEXT: %[[SHIFTED:[^ ,:#]+]] = arith.addi %[[INDEX]], %[[BEGIN]]
// CHECK-NEXT: arith.index_cast %[[SHIFTED]]
func.func private @index(%x: tensor<1048576xi32>) -> tensor<1048576xi32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %empty = tensor.empty() : tensor<1048576xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%empty : tensor<1048576xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %s = arith.index_cast %i : index to i32
    linalg.yield %s : i32
  } -> tensor<1048576xi32>
  return %0 : tensor<1048576xi32>
}

// -----

// CHECK-LABEL: func.func private @copies(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<8xf32>, %[[COPY:[^ ,:#]+]]: memref<8xf32>, %[[SPLAT:[^ ,:#]+]]: memref<4xf32>
// CHECK: %[[INPUT:[^ ,:#]+]] = bufferization.to_tensor %[[X]] restrict :
// CHECK: %[[FILLED:[^ ,:#]+]] = linalg.fill
// CHECK: bufferization.materialize_in_destination %[[INPUT]] in
// CHECK: bufferization.materialize_in_destination %[[FILLED]] in
func.func private @copies(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>)
    attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  return %x, %c : tensor<8xf32>, tensor<4xf32>
}

// -----

#columns = affine_map<(d0, d1, d2) -> (d2, d0)>
#vectors = affine_map<(d0, d1, d2) -> (d2, d1)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>

// Items of a weight's gradient are rows, although four equal parts of rows
// don't exist: items of columns would each pack the same rows again.
// CHECK-LABEL: func.func private @packed_rows(
// CHECK-SAME: hfta.items = 7 : i64
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}] [1024, 4754] [1, 1]
func.func private @packed_rows(%g: tensor<1024x33278xf32>, %x: tensor<1024x128xf32>) -> tensor<33278x128xf32> attributes {hfta.kernel, hfta.copies = 8 : i64} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<33278x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<33278x128xf32>) -> tensor<33278x128xf32>
  %2 = linalg.generic {indexing_maps = [#columns, #vectors, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g, %x : tensor<1024x33278xf32>, tensor<1024x128xf32>) outs(%1 : tensor<33278x128xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %3 = math.fma %a, %b, %sum : f32
    linalg.yield %3 : f32
  } -> tensor<33278x128xf32>
  return %2 : tensor<33278x128xf32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#vectors = affine_map<(d0, d1, d2) -> (d2, d1)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>

// Neighbours in memory that belong to one row of the result aren't packed, so
// that items may cut columns, too.
// CHECK-LABEL: func.func private @unpacked_rows(
// CHECK-SAME: hfta.items = 4 : i64
// CHECK-DAG: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [16639, 1024] [1, 1]
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, %{{.*}}] [1024, 64] [1, 1]
func.func private @unpacked_rows(%g: tensor<33278x1024xf32>, %x: tensor<1024x128xf32>) -> tensor<33278x128xf32> attributes {hfta.kernel, hfta.copies = 8 : i64} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<33278x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<33278x128xf32>) -> tensor<33278x128xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #vectors, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g, %x : tensor<33278x1024xf32>, tensor<1024x128xf32>) outs(%1 : tensor<33278x128xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %3 = math.fma %a, %b, %sum : f32
    linalg.yield %3 : f32
  } -> tensor<33278x128xf32>
  return %2 : tensor<33278x128xf32>
}

// -----

// Not a kernel.
// CHECK-LABEL: func.func @task(
// CHECK-SAME: tensor<8xf32>) -> tensor<8xf32>
func.func @task(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{expected one entry of hfta.ties a result, -1 or an argument}}
func.func private @bad_ties(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: 1>} {
  return %x : tensor<8xf32>
}

// -----

// A loop over parts that is the only result: an item has its share of the
// iterations and writes them where they belong.
// CHECK-LABEL: func.func private @parts(
// CHECK-SAME: %[[OUT:[^ ,:#]+]]: memref<30x64xf32>, %[[ITEM:[^ ,:#]+]]: index, %{{.*}}: memref<?xi8>)
// CHECK-SAME: attributes {hfta.items = 16 : i64, hfta.kernel}
// CHECK-DAG: %[[RESULT:[^ ,:#]+]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK: %[[BEFORE:[^ ,:#]+]] = arith.muli %[[ITEM]], %c30
// CHECK: %[[BEGIN:[^ ,:#]+]] = arith.divui %[[BEFORE]], %c16
// CHECK: %[[NEXT:[^ ,:#]+]] = arith.addi %[[ITEM]], %c1
// CHECK: %[[AFTER:[^ ,:#]+]] = arith.muli %[[NEXT]], %c30
// CHECK: %[[END:[^ ,:#]+]] = arith.divui %[[AFTER]], %c16
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1 iter_args(%{{.*}} = %[[RESULT]])
func.func private @parts() -> tensor<30x64xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<30x64xf32>
  %0 = scf.for %i = %c0 to %c30 step %c1 iter_args(%out = %empty) -> tensor<30x64xf32> {
    %next = tensor.insert %one into %out[%i, %c0] : tensor<30x64xf32>
    scf.yield %next : tensor<30x64xf32>
  } {hfta.parts = 10000000 : i64}
  return %0 : tensor<30x64xf32>
}

// -----

// A result that begins with another tensor's elements isn't cut, as each item
// would copy them all. It is cut if it overwrites them.
// CHECK-LABEL: func.func private @from_other(
// CHECK-SAME: hfta.items = 1 : i64
// CHECK: scf.for %{{.*}} = %c0 to %c30
// CHECK-LABEL: func.func private @from_tied(
// CHECK-SAME: hfta.items = 16 : i64
func.func private @from_other(%x: tensor<30x64xf32>) -> tensor<30x64xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %one = arith.constant 1.0 : f32
  %0 = scf.for %i = %c0 to %c30 step %c1 iter_args(%out = %x) -> tensor<30x64xf32> {
    %next = tensor.insert %one into %out[%i, %c0] : tensor<30x64xf32>
    scf.yield %next : tensor<30x64xf32>
  } {hfta.parts = 10000000 : i64}
  return %0 : tensor<30x64xf32>
}
func.func private @from_tied(%x: tensor<30x64xf32>) -> tensor<30x64xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %one = arith.constant 1.0 : f32
  %0 = scf.for %i = %c0 to %c30 step %c1 iter_args(%out = %x) -> tensor<30x64xf32> {
    %next = tensor.insert %one into %out[%i, %c0] : tensor<30x64xf32>
    scf.yield %next : tensor<30x64xf32>
  } {hfta.parts = 10000000 : i64}
  return %0 : tensor<30x64xf32>
}
