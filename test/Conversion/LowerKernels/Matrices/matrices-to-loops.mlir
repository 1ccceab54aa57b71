// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-matrices-to-loops | FileCheck %s -enable-var-scope

// Each matrix is a work item. Results that nobody asks for lie in scratch memory.
// CHECK-LABEL: func.func private @inverse(
// CHECK-SAME: %[[F:[^ ,:]+]]: memref<3x36xf32>, %[[D:[^ ,:]+]]: memref<3xf32>, %[[O:[^ ,:]+]]: memref<3x36xf32>, %[[INVERSE:[^ ,:]+]]: memref<3x36xf32>, %[[ITEM:[^ ,:]+]]: index, %{{.*}}: memref<?xi8>) attributes {hfta.items = 3 : i64, hfta.kernel}
// CHECK: %[[TRIES:.*]] = memref.alloc() : memref<3xi32>
// CHECK: memref.load %[[D]][%[[ITEM]]]
// CHECK: memref.store %{{.*}}, %[[TRIES]][%[[ITEM]]]
func.func private @inverse(%f: tensor<3x36xf32>, %d: tensor<3xf32>, %o: tensor<3x36xf32>) -> tensor<3x36xf32>
    attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : tensor<3x36xf32>, tensor<3xf32>, tensor<3x36xf32>
  return %inverse : tensor<3x36xf32>
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
