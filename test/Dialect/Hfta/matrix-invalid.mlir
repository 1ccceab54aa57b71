// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @C1_rank(%f: tensor<36xf32>, %d: tensor<1xf32>) {
  // expected-error@+1 {{expected factors [matrices, elements], got 'tensor<36xf32>'}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<36xf32>, tensor<1xf32>, tensor<36xf32>
  return
}

// -----

func.func @C1_triangle(%f: tensor<2x35xf32>, %d: tensor<2xf32>) {
  // expected-error@+1 {{no triangle has 35 elements, as the rows of 'tensor<2x35xf32>' do}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<2x35xf32>, tensor<2xf32>, tensor<2x35xf32>
  return
}

// -----

func.func @C1_empty(%f: tensor<2x0xf32>, %d: tensor<2xf32>) {
  // expected-error@+1 {{no triangle has 0 elements}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<2x0xf32>, tensor<2xf32>, tensor<2x0xf32>
  return
}

// -----

func.func @C1_type(%f: tensor<2x36xbf16>, %d: tensor<2xbf16>) {
  // expected-error@+1 {{expected factors of f32 or f64, got 'tensor<2x36xbf16>'}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<2x36xbf16>, tensor<2xbf16>, tensor<2x36xbf16>
  return
}

// -----

func.func @C2_damping(%f: tensor<2x36xf32>, %d: tensor<3xf32>) {
  // expected-error@+1 {{expected damping 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<2x36xf32>, tensor<3xf32>, tensor<2x36xf32>
  return
}

// -----

func.func @C2_damping_type(%f: tensor<2x36xf32>, %d: tensor<2xf64>) {
  // expected-error@+1 {{expected damping 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0, %1 = hfta.spd_inverse %f, %d, %f : tensor<2x36xf32>, tensor<2xf64>, tensor<2x36xf32>
  return
}

// -----

func.func @C3_old(%f: tensor<2x36xf32>, %d: tensor<2xf32>, %o: tensor<1x36xf32>) {
  // expected-error@+1 {{expected old inverses 'tensor<2x36xf32>', got 'tensor<1x36xf32>'}}
  %0, %1 = hfta.spd_inverse %f, %d, %o : tensor<2x36xf32>, tensor<2xf32>, tensor<1x36xf32>
  return
}

// -----

func.func @eigen_C1_triangle(%f: tensor<2x2xf32>, %s: tensor<2x2x2xf32>) {
  // expected-error@+1 {{no triangle has 2 elements, as the rows of 'tensor<2x2xf32>' do}}
  %0, %1 = hfta.symmetric_eigen %f, %s : tensor<2x2xf32>, tensor<2x2x2xf32>
  return
}

// -----

func.func @eigen_C2_start(%f: tensor<2x3xf32>, %s: tensor<2x3x3xf32>) {
  // expected-error@+1 {{expected start 'tensor<2x2x2xf32>', got 'tensor<2x3x3xf32>'}}
  %0, %1 = hfta.symmetric_eigen %f, %s : tensor<2x3xf32>, tensor<2x3x3xf32>
  return
}

// -----

func.func @eigen_C3_due(%f: tensor<2x3xf32>, %s: tensor<2x2x2xf32>, %d: tensor<1xf32>) {
  // expected-error@+1 {{expected due 'tensor<2xf32>', got 'tensor<1xf32>'}}
  %0, %1 = hfta.symmetric_eigen %f, %s if %d : tensor<2x3xf32>, tensor<2x2x2xf32>, tensor<1xf32>
  return
}

// -----

func.func @iteration_C2_start(%f: tensor<2x3xf32>, %s: tensor<2x3x3xf32>, %d: tensor<2xf32>) {
  // expected-error@+1 {{expected start 'tensor<2x2x2xf32>', got 'tensor<2x3x3xf32>'}}
  %0 = hfta.orthogonal_iteration %f, %s, %d : tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @iteration_C3_due(%f: tensor<2x3xf32>, %s: tensor<2x2x2xf32>, %d: tensor<2xf64>) {
  // expected-error@+1 {{expected due 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0 = hfta.orthogonal_iteration %f, %s, %d : tensor<2x3xf32>, tensor<2x2x2xf32>, tensor<2xf64>
  return
}

// -----

func.func @orthogonalize_C1_rank(%m: tensor<2x3xf32>, %e: tensor<2xf64>) {
  // expected-error@+1 {{expected matrices [matrices, rows, columns], got 'tensor<2x3xf32>'}}
  %0 = hfta.orthogonalize %m, %e by [3.0, -4.0, 2.0] : tensor<2x3xf32>, tensor<2xf64>
  return
}

// -----

func.func @orthogonalize_C2_least(%m: tensor<4x2x3xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{expected least norms 'tensor<4xf64>', got 'tensor<4xf32>'}}
  %0 = hfta.orthogonalize %m, %e by [3.0, -4.0, 2.0] : tensor<4x2x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @orthogonalize_C3_coefficients(%m: tensor<4x2x3xf32>, %e: tensor<4xf64>) {
  // expected-error@+1 {{expected three coefficients a step, got 4}}
  %0 = hfta.orthogonalize %m, %e by [3.0, -4.0, 2.0, 1.0] : tensor<4x2x3xf32>, tensor<4xf64>
  return
}

// -----

func.func @orthogonalize_C4_first(%m: tensor<4x2x3xf32>, %e: tensor<4xf64>) {
  // expected-error@+1 {{expected restarts that ascend from 0 and are less than 1, the number of steps}}
  %0 = hfta.orthogonalize %m, %e by [3.0, -4.0, 2.0] restarts [1] : tensor<4x2x3xf32>, tensor<4xf64>
  return
}

// -----

func.func @orthogonalize_C4_order(%m: tensor<4x2x3xf32>, %e: tensor<4xf64>) {
  // expected-error@+1 {{expected restarts that ascend from 0 and are less than 2, the number of steps}}
  %0 = hfta.orthogonalize %m, %e by [3.0, -4.0, 2.0, 3.0, -4.0, 2.0] restarts [0, 0] : tensor<4x2x3xf32>, tensor<4xf64>
  return
}
