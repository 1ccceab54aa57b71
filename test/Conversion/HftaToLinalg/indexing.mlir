// RUN: hfta-opt %s -convert-hfta-to-linalg | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$INDICES:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<4x100x8xf32>, %[[I:.*]]: tensor<6xi64>
func.func @gather(%x: tensor<4x100x8xf32>, %i: tensor<6xi64>) -> tensor<4x6x8xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$INDICES]], #[[$RESULT]]]
  // CHECK-SAME: ins(%[[I]] : tensor<6xi64>)
  // CHECK: ^bb0(%[[INDEX:.*]]: i64, %{{.*}}: f32):
  // CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[INDEX]]
  // CHECK: %[[PLACE:.*]] = arith.select %[[NEGATIVE]], %{{.*}}, %[[INDEX]]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]]
  // CHECK: %[[WITHIN:.*]] = arith.select %[[INSIDE]], %[[PLACE]]
  // CHECK: %[[SAFE:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
  // CHECK: %[[ELEMENT:.*]] = tensor.extract %[[X]][%{{.*}}, %[[SAFE]], %{{.*}}]
  // CHECK: arith.select %[[INSIDE]], %[[ELEMENT]], %{{.*}} : f32
  %0 = hfta.gather %x[%i] along 1 : tensor<4x100x8xf32>, tensor<6xi64>
  return %0 : tensor<4x6x8xf32>
}

// Updates are added in the order of the indices: they are the outermost loop.
// CHECK-LABEL: func.func @scatter_add(
// CHECK-SAME: %[[U:.*]]: tensor<6x8xf32>, %[[I:.*]]: tensor<6xi64>
func.func @scatter_add(%u: tensor<6x8xf32>, %i: tensor<6xi64>) -> tensor<100x8xf32> {
  // CHECK: %[[ZEROS:.*]] = linalg.fill
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
  // CHECK: scf.for %[[C:.*]] = {{.*}} iter_args(%[[SUM:.*]] =
  // CHECK: tensor.extract %[[I]][%[[N]]]
  // CHECK: %[[UPDATE:.*]] = tensor.extract %[[U]][%[[N]], %[[C]]]
  // CHECK: %[[OLD:.*]] = tensor.extract %[[SUM]][%{{.*}}, %[[C]]]
  // CHECK: %[[NEXT:.*]] = arith.addf %[[OLD]], %[[UPDATE]]
  // CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[NEXT]], %[[OLD]]
  // CHECK: tensor.insert %[[CHOSEN]] into %[[SUM]]
  %0 = hfta.scatter_add %u at %i along 0 size 100 : tensor<6x8xf32>, tensor<6xi64>
  return %0 : tensor<100x8xf32>
}

// Updates are combined with what is there, in the order of the indices.
// CHECK-LABEL: func.func @scatter_reduce(
// CHECK-SAME: %[[U:.*]]: tensor<6x8xf32>, %[[I:.*]]: tensor<6xi64>, %[[X:.*]]: tensor<100x8xf32>
func.func @scatter_reduce(%u: tensor<6x8xf32>, %i: tensor<6xi64>, %x: tensor<100x8xf32>) -> tensor<100x8xf32> {
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%{{.*}} = %[[X]])
  // CHECK: scf.for %[[C:.*]] = {{.*}} iter_args(%[[RUNNING:.*]] =
  // CHECK: tensor.extract %[[I]][%[[N]]]
  // CHECK: %[[UPDATE:.*]] = tensor.extract %[[U]][%[[N]], %[[C]]]
  // CHECK: %[[OLD:.*]] = tensor.extract %[[RUNNING]][%{{.*}}, %[[C]]]
  // CHECK: %[[NEXT:.*]] = arith.mulf %[[OLD]], %[[UPDATE]]
  // CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[NEXT]], %[[OLD]]
  // CHECK: tensor.insert %[[CHOSEN]] into %[[RUNNING]]
  %0 = hfta.scatter_reduce product %u at %i into %x along 0 : tensor<6x8xf32>, tensor<6xi64>, tensor<100x8xf32>
  return %0 : tensor<100x8xf32>
}

// Each element adds the updates of its segment in their order.
// CHECK-LABEL: func.func @segment_sum(
// CHECK-SAME: %[[U:.*]]: tensor<4x6x8xf32>, %[[O:.*]]: tensor<6xi32>, %[[S:.*]]: tensor<101xi64>
func.func @segment_sum(%u: tensor<4x6x8xf32>, %o: tensor<6xi32>, %s: tensor<101xi64>) -> tensor<4x100x8xf32> {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: scf.for %[[B:[^ ]+]] =
  // CHECK: scf.for %[[SEGMENT:[^ ]+]] =
  // CHECK: scf.for %[[C:[^ ]+]] = {{.*}} iter_args(%[[RUNNING:[^ ]+]] =
  // CHECK: %[[NEXT:[^ ]+]] = arith.addi %[[SEGMENT]],
  // CHECK: %[[S0:[^ ]+]] = tensor.extract %[[S]][%[[SEGMENT]]]
  // CHECK: %[[BEGIN:[^ ]+]] = arith.index_cast %[[S0]]
  // CHECK: %[[S1:[^ ]+]] = tensor.extract %[[S]][%[[NEXT]]]
  // CHECK: %[[END:[^ ]+]] = arith.index_cast %[[S1]]
  // CHECK: %[[TOTAL:[^ ]+]] = scf.for %[[N:[^ ]+]] = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[SUM:[^ ]+]] = %[[ZERO]]) -> (f32)
  // CHECK: %[[O0:[^ ]+]] = tensor.extract %[[O]][%[[N]]]
  // CHECK: %[[PLACE:[^ ]+]] = arith.index_cast %[[O0]]
  // CHECK: %[[UPDATE:[^ ]+]] = tensor.extract %[[U]][%[[B]], %[[PLACE]], %[[C]]]
  // CHECK: arith.addf %[[SUM]], %[[UPDATE]]
  // CHECK: tensor.insert %[[TOTAL]] into %[[RUNNING]][%[[B]], %[[SEGMENT]], %[[C]]]
  %0 = hfta.segment_sum %u at %o in %s along 1 : tensor<4x6x8xf32>, tensor<6xi32>, tensor<101xi64>
  return %0 : tensor<4x100x8xf32>
}
