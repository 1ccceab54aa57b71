// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @spd_inverse(
func.func @spd_inverse(%f: tensor<2x36xf32>, %d: tensor<2xf32>, %o: tensor<2x36xf32>)
    -> (tensor<2x36xf32>, tensor<2xi32>) {
  // CHECK: %{{.*}}, %{{.*}} = hfta.spd_inverse %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x36xf32>, tensor<2xf32>, tensor<2x36xf32>
  %inverse, %tries = hfta.spd_inverse %f, %d, %o
      : tensor<2x36xf32>, tensor<2xf32>, tensor<2x36xf32>
  return %inverse, %tries : tensor<2x36xf32>, tensor<2xi32>
}

// A factor that all copies share, and damping of their own.
// CHECK-LABEL: func.func @of_each_copy(
func.func @of_each_copy(%f: tensor<1x1xf64>, %d: tensor<1xf64, #hfta.copies<3>>,
                        %o: tensor<1x1xf64, #hfta.copies<3>>)
    -> (tensor<1x1xf64, #hfta.copies<3>>, tensor<1xi32, #hfta.copies<3>>) {
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : tensor<1x1xf64>,
      tensor<1xf64, #hfta.copies<3>>, tensor<1x1xf64, #hfta.copies<3>>
  return %inverse, %tries : tensor<1x1xf64, #hfta.copies<3>>, tensor<1xi32, #hfta.copies<3>>
}

// CHECK-LABEL: func.func @symmetric_eigen(
func.func @symmetric_eigen(%f: tensor<2x36xf32>, %s: tensor<2x8x8xf32, #hfta.copies<2>>)
    -> (tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2x8xf32, #hfta.copies<2>>) {
  // CHECK: %{{.*}}, %{{.*}} = hfta.symmetric_eigen %{{.*}}, %{{.*}} : tensor<2x36xf32>, tensor<2x8x8xf32, #hfta.copies<2>>
  %basis, %values = hfta.symmetric_eigen %f, %s
      : tensor<2x36xf32>, tensor<2x8x8xf32, #hfta.copies<2>>
  return %basis, %values : tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2x8xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @where_due(
func.func @where_due(%f: tensor<2x36xf32>, %s: tensor<2x8x8xf32>,
                     %d: tensor<2xf32, #hfta.copies<2>>)
    -> (tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2x8x8xf32, #hfta.copies<2>>) {
  // CHECK: %[[BASIS:.*]], %{{.*}} = hfta.symmetric_eigen %{{.*}}, %{{.*}} if %{{.*}} : tensor<2x36xf32>, tensor<2x8x8xf32>, tensor<2xf32, #hfta.copies<2>>
  %basis, %values = hfta.symmetric_eigen %f, %s if %d
      : tensor<2x36xf32>, tensor<2x8x8xf32>, tensor<2xf32, #hfta.copies<2>>
  // CHECK: hfta.orthogonal_iteration %{{.*}}, %[[BASIS]], %{{.*}} : tensor<2x36xf32>, tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2xf32, #hfta.copies<2>>
  %next = hfta.orthogonal_iteration %f, %basis, %d
      : tensor<2x36xf32>, tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2xf32, #hfta.copies<2>>
  return %basis, %next : tensor<2x8x8xf32, #hfta.copies<2>>, tensor<2x8x8xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @orthogonalize(
func.func @orthogonalize(%m: tensor<4x2x3xf32, #hfta.copies<2>>, %e: tensor<4xf64>)
    -> (tensor<4x2x3xf32, #hfta.copies<2>>, tensor<4x2x3xf32, #hfta.copies<2>>) {
  // CHECK: hfta.orthogonalize %{{.*}}, %{{.*}} by [3.400000e+00, -4.700000e+00, 2.000000e+00] : tensor<4x2x3xf32, #hfta.copies<2>>, tensor<4xf64>
  %0 = hfta.orthogonalize %m, %e by [3.4, -4.7, 2.0]
      : tensor<4x2x3xf32, #hfta.copies<2>>, tensor<4xf64>
  // CHECK: hfta.orthogonalize %{{.*}}, %{{.*}} added by [3.000000e+00, -4.000000e+00, 2.000000e+00, 3.000000e+00, -4.000000e+00, 2.000000e+00] restarts [0, 1] :
  %1 = hfta.orthogonalize %m, %e added by [3.0, -4.0, 2.0, 3.0, -4.0, 2.0] restarts [0, 1]
      : tensor<4x2x3xf32, #hfta.copies<2>>, tensor<4xf64>
  return %0, %1 : tensor<4x2x3xf32, #hfta.copies<2>>, tensor<4x2x3xf32, #hfta.copies<2>>
}
