// RUN: hfta-opt %s -hfta-expand-math | FileCheck %s -enable-var-scope

// CHECK: func.func private @cbrt(f64) -> f64
// CHECK-NOT: func.func private @{{sin|cos}}

// CHECK-LABEL: func.func private @polynomial(
func.func private @polynomial(%x: vector<16xf32>) -> vector<16xf32> attributes {hfta.kernel} {
  // CHECK-NOT: math.exp
  // CHECK-NOT: call
  // CHECK: math.fma {{.*}} : vector<16xf32>
  // CHECK: return
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func private @double(
func.func private @double(%x: vector<2xf64>, %y: f32) -> (vector<2xf64>, vector<2xf64>, f32) attributes {hfta.kernel} {
  // CHECK-NOT: call
  // CHECK: math.fma {{.*}} : vector<2xf64>
  // Powers of f32 are computed in f64.
  // CHECK: math.fma {{.*}} : f64
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK-NOT: call
  // CHECK: return
  %0 = math.exp %x : vector<2xf64>
  %1 = math.log1p %x : vector<2xf64>
  %2 = math.powf %y, %y : f32
  return %0, %1, %2 : vector<2xf64>, vector<2xf64>, f32
}

// Very large arguments are reduced with all the digits that it takes.
// CHECK-LABEL: func.func private @circular(
func.func private @circular(%x: f64, %y: vector<8xf32>) -> (f64, vector<8xf32>) attributes {hfta.kernel} {
  // CHECK: scf.if
  // CHECK: arith.mului_extended {{.*}} : i64
  // CHECK: vector.reduction <or>
  // CHECK: scf.if
  // CHECK: arith.mului_extended {{.*}} : vector<8xi64>
  // CHECK-NOT: call
  // CHECK: return
  %0 = math.cos %x : f64
  %1 = math.sin %y : vector<8xf32>
  return %0, %1 : f64, vector<8xf32>
}

// Where there is no polynomial.
// CHECK-LABEL: func.func private @library(
// CHECK-SAME: %[[X:[^ ,:#]+]]: f64)
func.func private @library(%x: f64) -> f64 attributes {hfta.kernel} {
  // CHECK: call @cbrt(%[[X]])
  %0 = math.cbrt %x : f64
  return %0 : f64
}

// CHECK-LABEL: func.func private @instructions(
func.func private @instructions(%x: vector<4xf64>) -> vector<4xf64> attributes {hfta.kernel} {
  // CHECK: math.sqrt
  // CHECK: math.absf
  // CHECK: math.floor
  // CHECK: math.ceil
  // CHECK: math.fma
  %0 = math.sqrt %x : vector<4xf64>
  %1 = math.absf %0 : vector<4xf64>
  %2 = math.floor %1 : vector<4xf64>
  %3 = math.ceil %2 : vector<4xf64>
  %4 = math.fma %1, %2, %3 : vector<4xf64>
  return %4 : vector<4xf64>
}

// In kernels without functions, too.
// CHECK-LABEL: func.func private @extremes(
// CHECK-SAME: %[[X:[^ ,:#]+]]: vector<4xf32>, %[[Y:[^ ,:#]+]]: vector<4xf32>)
func.func private @extremes(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> attributes {hfta.kernel} {
  // CHECK-NOT: arith.maximumf
  // CHECK: %[[GREATER:.*]] = arith.cmpf ogt, %[[Y]], %[[X]]
  // CHECK: %[[LARGER:.*]] = arith.select %[[GREATER]], %[[Y]], %[[X]]
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
  // CHECK: arith.select %[[NAN]], %{{.*}}, %[[LARGER]]
  // CHECK-NOT: arith.minimumf
  // CHECK: arith.cmpf olt
  // CHECK: return
  %0 = arith.maximumf %x, %y : vector<4xf32>
  %1 = arith.minimumf %0, %y : vector<4xf32>
  return %1 : vector<4xf32>
}

// CHECK-LABEL: func.func private @integer_power(
// CHECK-SAME: %[[BASE:[^ ,:#]+]]: i64, %[[EXPONENT:[^ ,:#]+]]: i64)
func.func private @integer_power(%x: i64, %n: i64) -> i64 attributes {hfta.kernel} {
  // CHECK-DAG: %[[BITS:[^ ,:#]+]] = arith.constant 64 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[BITS]] {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[BASE]], %{{.*}} = %[[EXPONENT]])
  %0 = math.ipowi %x, %n : i64
  return %0 : i64
}

// Only kernels are touched.
// CHECK-LABEL: func.func @other(
func.func @other(%x: f64) -> f64 {
  // CHECK: math.exp
  %0 = math.exp %x : f64
  return %0 : f64
}
