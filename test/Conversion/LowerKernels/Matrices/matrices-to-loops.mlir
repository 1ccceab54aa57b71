// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-matrices-to-loops | FileCheck %s -enable-var-scope

// Each matrix is a work item. Results without users lie in scratch memory.
// CHECK-LABEL: func.func private @inverse(
// CHECK-SAME: %[[F:[^ ,:]+]]: memref<3x2145xf32>, %[[D:[^ ,:]+]]: memref<3xf32>, %[[O:[^ ,:]+]]: memref<3x2145xf32>, %[[INVERSE:[^ ,:]+]]: memref<3x2145xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>) attributes {hfta.items = 3 : i64, hfta.kernel}
// CHECK: %[[TRIES:.*]] = memref.alloc() : memref<3xi32>
// CHECK: memref.load %[[D]][%[[ITEM]]]
// CHECK: memref.store %{{.*}}, %[[TRIES]][%[[ITEM]]]
func.func private @inverse(%f: tensor<3x2145xf32>, %d: tensor<3xf32>, %o: tensor<3x2145xf32>) -> tensor<3x2145xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : tensor<3x2145xf32>, tensor<3xf32>, tensor<3x2145xf32>
  return %inverse : tensor<3x2145xf32>
}

// -----

// Small matrices are in lanes, one in each, and eight with f64: a list of
// memory for each lane, then the items.
// CHECK-LABEL: func.func private @lanes(
// CHECK-SAME: %[[F0:[^ ,:]+]]: memref<3x36xf64>, %[[D0:[^ ,:]+]]: memref<3xf64>, %[[INVERSE0:[^ ,:]+]]: memref<3x36xf64>, %[[TRIES0:[^ ,:]+]]: memref<3xi32>, %[[F1:[^ ,:]+]]: memref<3x36xf64>, %[[D1:[^ ,:]+]]: memref<3xf64>,
// CHECK-SAME: memref<3xi32>, %[[ITEM0:[^ ,:]+]]: index, %[[ITEM1:[^ ,:]+]]: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: index, %{{[^ ,:]+}}: memref<?xi8>)
// CHECK-SAME: attributes {hfta.items = 3 : i64, hfta.kernel, hfta.lanes = 8 : i64}
// CHECK: memref.load %[[D0]][%[[ITEM0]]]
// CHECK: memref.load %[[D1]][%[[ITEM1]]]
// CHECK: memref.store %{{.*}}, %[[TRIES0]][%[[ITEM0]]]
func.func private @lanes(%f: tensor<3x36xf64>, %d: tensor<3xf64>) -> (tensor<3x36xf64>, tensor<3xi32>)
    attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %inverse, %tries = hfta.spd_inverse %f, %d, %f : tensor<3x36xf64>, tensor<3xf64>, tensor<3x36xf64>
  return %inverse, %tries : tensor<3x36xf64>, tensor<3xi32>
}

// -----

func.func private @not_alone(%f: tensor<3x36xf32>, %o: tensor<3x36xf32>) -> tensor<3x36xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %d = arith.constant dense<1.0> : tensor<3xf32>
  // expected-error@+1 {{must be all of its kernel}}
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : tensor<3x36xf32>, tensor<3xf32>, tensor<3x36xf32>
  return %inverse : tensor<3x36xf32>
}

// -----

// CHECK-LABEL: func.func private @eigen(
// CHECK-SAME: %[[F:[^ ,:]+]]: memref<2x36xf64>, %{{.*}}: memref<2x8x8xf64>, %[[BASIS:[^ ,:]+]]: memref<2x8x8xf64>, %[[VALUES:[^ ,:]+]]: memref<2x8xf64>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>) attributes {hfta.items = 2 : i64, hfta.kernel}
// CHECK: memref.load %[[F]][%[[ITEM]], %{{.*}}]
// CHECK: memref.store %{{.*}}, %[[VALUES]][%[[ITEM]], %{{.*}}]
// CHECK: memref.store %{{.*}}, %[[BASIS]][%[[ITEM]], %{{.*}}, %{{.*}}]
func.func private @eigen(%f: tensor<2x36xf64>, %s: tensor<2x8x8xf64>) -> (tensor<2x8x8xf64>, tensor<2x8xf64>)
    attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %basis, %values = hfta.symmetric_eigen %f, %s : tensor<2x36xf64>, tensor<2x8x8xf64>
  return %basis, %values : tensor<2x8x8xf64>, tensor<2x8xf64>
}

// -----

// Each sequence is a work item. Loops go over steps and, in vectors, over states.
// CHECK-LABEL: func.func private @ctc(
// CHECK-SAME: %[[X:[^ ,:]+]]: memref<3x50x27xf32>, %[[L:[^ ,:]+]]: memref<3x10xi64>, %[[N:[^ ,:]+]]: memref<3xi64>, %[[T:[^ ,:]+]]: memref<3xi32>, %[[LOSSES:[^ ,:]+]]: memref<3xf32>, %[[GRADIENT:[^ ,:]+]]: memref<3x50x27xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>) attributes {hfta.items = 3 : i64, hfta.kernel}
// CHECK: memref.load %[[T]][%[[ITEM]]]
// CHECK: memref.load %[[N]][%[[ITEM]]]
// CHECK: memref.load %[[L]][%[[ITEM]], %{{.*}}]
// CHECK: memref.load %[[X]][%[[ITEM]], %{{.*}}, %{{.*}}]
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: memref.store %{{.*}}, %[[LOSSES]][%[[ITEM]]]
// CHECK: memref.store %{{.*}}, %[[GRADIENT]][%[[ITEM]], %{{.*}}, %{{.*}}]
func.func private @ctc(%x: tensor<3x50x27xf32>, %l: tensor<3x10xi64>, %n: tensor<3xi64>, %t: tensor<3xi32>)
    -> (tensor<3xf32>, tensor<3x50x27xf32>) attributes {hfta.kernel, hfta.ties = array<i64: -1, -1>} {
  %losses, %gradient = hfta.ctc_loss %x, %l, %n, %t {blank = 0 : i64} : tensor<3x50x27xf32>, tensor<3x10xi64>, tensor<3xi64>, tensor<3xi32>
  return %losses, %gradient : tensor<3xf32>, tensor<3x50x27xf32>
}

// -----

// An evaluation doesn't compute the gradient. Narrow types are computed in f32.
// CHECK-LABEL: func.func private @ctc_alone(
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.truncf
// CHECK-NOT: memref.store %{{.*}} : memref<2x4x3xbf16>
// CHECK: return
func.func private @ctc_alone(%x: tensor<2x4x3xbf16>, %l: tensor<2x1xi64>, %n: tensor<2xi64>) -> tensor<2xbf16>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %losses, %gradient = hfta.ctc_loss %x, %l, %n {blank = 2 : i64} : tensor<2x4x3xbf16>, tensor<2x1xi64>, tensor<2xi64>
  return %losses : tensor<2xbf16>
}

// -----

// Where the iteration isn't due, the basis is copied.
// CHECK-LABEL: func.func private @iteration(
// CHECK-SAME: %[[F:[^ ,:]+]]: memref<2x36xf32>, %[[START:[^ ,:]+]]: memref<2x8x8xf32>, %[[DUE:[^ ,:]+]]: memref<2xf32>, %[[BASIS:[^ ,:]+]]: memref<2x8x8xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>) attributes {hfta.items = 2 : i64, hfta.kernel}
// CHECK: %[[D:.*]] = memref.load %[[DUE]][%[[ITEM]]]
// CHECK: %[[IS_DUE:.*]] = arith.cmpf une, %[[D]], %{{.*}}
// CHECK: scf.if %[[IS_DUE]]
// CHECK: memref.load %[[F]][%[[ITEM]], %{{.*}}]
// CHECK: %[[IS_NOT_DUE:.*]] = arith.xori %[[IS_DUE]], %{{.*}}
// CHECK: scf.if %[[IS_NOT_DUE]]
// CHECK: %[[OLD:.*]] = memref.load %[[START]][%[[ITEM]], %[[I:.*]], %[[J:.*]]]
// CHECK: memref.store %[[OLD]], %[[BASIS]][%[[ITEM]], %[[I]], %[[J]]]
func.func private @iteration(%f: tensor<2x36xf32>, %s: tensor<2x8x8xf32>, %d: tensor<2xf32>) -> tensor<2x8x8xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %basis = hfta.orthogonal_iteration %f, %s, %d : tensor<2x36xf32>, tensor<2x8x8xf32>, tensor<2xf32>
  return %basis : tensor<2x8x8xf32>
}
