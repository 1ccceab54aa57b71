// RUN: hfta-opt %s -hfta-bufferize-kernels -canonicalize -split-input-file | FileCheck %s -enable-var-scope

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func private @to_memory(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<64xf32>, %[[OUT:[^ ,:#]+]]: memref<64xf32>, %[[ITEM:[^ ,:#]+]]: index
// CHECK: %[[BEGIN:[^ ,:#]+]] = arith.muli %[[ITEM]]
// CHECK: %[[INPUT:[^ ,:#]+]] = memref.subview %[[X]][%[[BEGIN]]] [16] [1]
// CHECK: %[[RESULT:[^ ,:#]+]] = memref.subview %[[OUT]][%[[BEGIN]]] [16] [1]
// CHECK: linalg.generic {{.*}} ins(%[[INPUT]] : {{.*}}) outs(%[[RESULT]] :
// CHECK-NOT: copy
// CHECK: return
func.func private @to_memory(%x: memref<64xf32>, %out: memref<64xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 4 : i64} {
  %c16 = arith.constant 16 : index
  %result = bufferization.to_tensor %out restrict writable : memref<64xf32> to tensor<64xf32>
  %input = bufferization.to_tensor %x restrict : memref<64xf32> to tensor<64xf32>
  %begin = arith.muli %item, %c16 : index
  %part = tensor.extract_slice %input[%begin] [16] [1] : tensor<64xf32> to tensor<16xf32>
  %empty = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%part : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %whole = tensor.insert_slice %0 into %result[%begin] [16] [1] : tensor<16xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %whole in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<64xf32>, %[[Y:[^ ,:#]+]]: memref<64xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[INPUT:[^ ,:#]+]] = memref.subview %[[X]]
// CHECK: %[[RESULT:[^ ,:#]+]] = memref.subview %[[Y]]
// CHECK: linalg.generic {{.*}} ins(%[[INPUT]], %[[RESULT]] : {{.*}}) outs(%[[RESULT]] :
// CHECK-NOT: copy
// CHECK: return
func.func private @in_place(%x: memref<64xf32>, %y: memref<64xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 4 : i64} {
  %c16 = arith.constant 16 : index
  %input = bufferization.to_tensor %x restrict : memref<64xf32> to tensor<64xf32>
  %result = bufferization.to_tensor %y restrict writable : memref<64xf32> to tensor<64xf32>
  %begin = arith.muli %item, %c16 : index
  %part = tensor.extract_slice %input[%begin] [16] [1] : tensor<64xf32> to tensor<16xf32>
  %old = tensor.extract_slice %result[%begin] [16] [1] : tensor<64xf32> to tensor<16xf32>
  %empty = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%part, %old : tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %whole = tensor.insert_slice %0 into %result[%begin] [16] [1] : tensor<16xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %whole in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Sums that start with the same zeros are filled where each of them belongs.
// CHECK-LABEL: func.func private @filled(
// CHECK-SAME: %[[OUT:[^ ,:#]+]]: memref<2x4x8xf32>
// CHECK: %[[ONE:[^ ,:#]+]] = memref.subview %[[OUT]][0, 0, 0]
// CHECK: linalg.fill {{.*}} outs(%[[ONE]] :
// CHECK: linalg.generic {{.*}} outs(%[[ONE]] :
// CHECK: %[[OTHER:[^ ,:#]+]] = memref.subview %[[OUT]][1, 0, 0]
// CHECK: linalg.fill {{.*}} outs(%[[OTHER]] :
// CHECK: linalg.generic {{.*}} outs(%[[OTHER]] :
// CHECK-NOT: linalg.copy
// CHECK: return
func.func private @filled(%x: memref<4x6xf32>, %w: memref<6x8xf32>, %v: memref<6x8xf32>, %out: memref<2x4x8xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %result = bufferization.to_tensor %out restrict writable : memref<2x4x8xf32> to tensor<2x4x8xf32>
  %a = bufferization.to_tensor %x restrict : memref<4x6xf32> to tensor<4x6xf32>
  %b = bufferization.to_tensor %w restrict : memref<6x8xf32> to tensor<6x8xf32>
  %c = bufferization.to_tensor %v restrict : memref<6x8xf32> to tensor<6x8xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %first = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = math.fma %l, %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %some = tensor.insert_slice %first into %result[0, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<2x4x8xf32>
  %second = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %c : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = math.fma %l, %r, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %whole = tensor.insert_slice %second into %some[1, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<2x4x8xf32>
  bufferization.materialize_in_destination %whole in writable %out : (tensor<2x4x8xf32>, memref<2x4x8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func private @pad(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<4x6xf32>, %[[OUT:[^ ,:#]+]]: memref<6x6xf32>
// CHECK: linalg.fill {{.*}} outs(%[[OUT]] :
// CHECK: %[[INNER:[^ ,:#]+]] = memref.subview %[[OUT]][1, 0] [4, 6] [1, 1]
// CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[INNER]] :
// CHECK-NEXT: return
func.func private @pad(%x: memref<4x6xf32>, %out: memref<6x6xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %result = bufferization.to_tensor %out restrict writable : memref<6x6xf32> to tensor<6x6xf32>
  %input = bufferization.to_tensor %x restrict : memref<4x6xf32> to tensor<4x6xf32>
  %padded = tensor.pad %input low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x6xf32> to tensor<6x6xf32>
  %whole = bufferization.materialize_in_destination %padded in %result : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  bufferization.materialize_in_destination %whole in writable %out : (tensor<6x6xf32>, memref<6x6xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Only the borders of a padded operand are filled.
// CHECK-LABEL: func.func private @pad_operand(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<4x6xf32>, %[[OUT:[^ ,:#]+]]: memref<6x7xf32>
// CHECK: %[[PADDED:[^ ,:#]+]] = memref.alloc() {{.*}} : memref<6x7xf32>
// CHECK: %[[ABOVE:[^ ,:#]+]] = memref.subview %[[PADDED]][0, 0] [1, 7] [1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[ABOVE]] :
// CHECK: %[[BELOW:[^ ,:#]+]] = memref.subview %[[PADDED]][5, 0] [1, 7] [1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[BELOW]] :
// CHECK: %[[RIGHT:[^ ,:#]+]] = memref.subview %[[PADDED]][1, 6] [4, 1] [1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[RIGHT]] :
// CHECK: %[[INNER:[^ ,:#]+]] = memref.subview %[[PADDED]][1, 0] [4, 6] [1, 1]
// CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[INNER]] :
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]] : {{.*}}) outs(%[[OUT]] :
func.func private @pad_operand(%x: memref<4x6xf32>, %out: memref<6x7xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %result = bufferization.to_tensor %out restrict writable : memref<6x7xf32> to tensor<6x7xf32>
  %input = bufferization.to_tensor %x restrict : memref<4x6xf32> to tensor<4x6xf32>
  %padded = tensor.pad %input low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x6xf32> to tensor<6x7xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%padded : tensor<6x7xf32>) outs(%result : tensor<6x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<6x7xf32>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<6x7xf32>, memref<6x7xf32>) -> ()
  return
}
