// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @unary(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>
func.func @unary(%x: tensor<4x3xf32>) {
  // CHECK: hfta.neg %[[X]] : tensor<4x3xf32>
  %0 = hfta.neg %x : tensor<4x3xf32>
  // CHECK: hfta.abs %[[X]] : tensor<4x3xf32>
  %1 = hfta.abs %x : tensor<4x3xf32>
  // CHECK: hfta.sign %[[X]] : tensor<4x3xf32>
  %2 = hfta.sign %x : tensor<4x3xf32>
  // CHECK: hfta.exp %[[X]] : tensor<4x3xf32>
  %3 = hfta.exp %x : tensor<4x3xf32>
  // CHECK: hfta.log %[[X]] : tensor<4x3xf32>
  %4 = hfta.log %x : tensor<4x3xf32>
  // CHECK: hfta.log1p %[[X]] : tensor<4x3xf32>
  %5 = hfta.log1p %x : tensor<4x3xf32>
  // CHECK: hfta.sqrt %[[X]] : tensor<4x3xf32>
  %6 = hfta.sqrt %x : tensor<4x3xf32>
  // CHECK: hfta.rsqrt %[[X]] : tensor<4x3xf32>
  %7 = hfta.rsqrt %x : tensor<4x3xf32>
  // CHECK: hfta.tanh %[[X]] : tensor<4x3xf32>
  %8 = hfta.tanh %x : tensor<4x3xf32>
  // CHECK: hfta.sigmoid %[[X]] : tensor<4x3xf32>
  %9 = hfta.sigmoid %x : tensor<4x3xf32>
  // CHECK: hfta.erf %[[X]] : tensor<4x3xf32>
  %10 = hfta.erf %x : tensor<4x3xf32>
  // CHECK: hfta.relu %[[X]] : tensor<4x3xf32>
  %11 = hfta.relu %x : tensor<4x3xf32>
  // CHECK: hfta.floor %[[X]] : tensor<4x3xf32>
  %12 = hfta.floor %x : tensor<4x3xf32>
  // CHECK: hfta.ceil %[[X]] : tensor<4x3xf32>
  %13 = hfta.ceil %x : tensor<4x3xf32>
  // CHECK: hfta.sin %[[X]] : tensor<4x3xf32>
  %14 = hfta.sin %x : tensor<4x3xf32>
  // CHECK: hfta.cos %[[X]] : tensor<4x3xf32>
  %15 = hfta.cos %x : tensor<4x3xf32>
  // CHECK: hfta.softplus %[[X]] : tensor<4x3xf32>
  %16 = hfta.softplus %x : tensor<4x3xf32>
  // CHECK: hfta.stop_gradient %[[X]] : tensor<4x3xf32>
  %17 = hfta.stop_gradient %x : tensor<4x3xf32>
  // CHECK: hfta.averaged %[[X]] : tensor<4x3xf32>
  %averaged = hfta.averaged %x : tensor<4x3xf32>
  // CHECK: hfta.asin %[[X]] : tensor<4x3xf32>
  %18 = hfta.asin %x : tensor<4x3xf32>
  // CHECK: hfta.acos %[[X]] : tensor<4x3xf32>
  %19 = hfta.acos %x : tensor<4x3xf32>
  // CHECK: hfta.atan %[[X]] : tensor<4x3xf32>
  %20 = hfta.atan %x : tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @binary(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32, #hfta.copies<2>>)
    -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK: %[[SUM:.*]] = hfta.add %[[X]], %[[Y]] : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
  %0 = hfta.add %x, %y : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
  // CHECK: hfta.sub %[[SUM]], %[[X]] : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
  %1 = hfta.sub %0, %x : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
  // CHECK: hfta.mul %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>
  %2 = hfta.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.div
  %3 = hfta.div %x, %2 : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.pow
  %4 = hfta.pow %x, %3 : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.max
  %5 = hfta.max %x, %4 : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.min
  %6 = hfta.min %x, %5 : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.remainder
  %7 = hfta.remainder %x, %6 : tensor<4xf32>, tensor<4xf32>
  // CHECK: return {{.*}} : tensor<4xf32, #hfta.copies<2>>
  return %1 : tensor<4xf32, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @logic(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xi1>, %[[B:[a-z0-9]+]]: tensor<4xi1>
func.func @logic(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // CHECK: hfta.and %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %0 = hfta.and %a, %b : tensor<4xi1>, tensor<4xi1>
  // CHECK: hfta.or %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %1 = hfta.or %a, %b : tensor<4xi1>, tensor<4xi1>
  // CHECK: hfta.xor %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %2 = hfta.xor %a, %b : tensor<4xi1>, tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32, #hfta.copies<2>>
func.func @compare(%x: tensor<4xf32>, %y: tensor<4xf32, #hfta.copies<2>>)
    -> tensor<4xi1, #hfta.copies<2>> {
  // CHECK: hfta.compare equal, %[[X]], %[[X]]
  %0 = hfta.compare equal, %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.compare not_equal
  %1 = hfta.compare not_equal, %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.compare less_equal
  %2 = hfta.compare less_equal, %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.compare greater,
  %3 = hfta.compare greater, %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.compare greater_equal
  %4 = hfta.compare greater_equal, %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: hfta.compare less, %[[X]], %[[Y]] : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
  %5 = hfta.compare less, %x, %y : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
  return %5 : tensor<4xi1, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @select_and_cast(
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4xi1, #hfta.copies<2>>, %[[X:[a-z0-9]+]]: tensor<4xui8>
func.func @select_and_cast(%c: tensor<4xi1, #hfta.copies<2>>, %x: tensor<4xui8>)
    -> tensor<4xf16, #hfta.copies<2>> {
  // CHECK: %[[F:.*]] = hfta.cast %[[X]] : tensor<4xui8> to f16
  %0 = hfta.cast %x : tensor<4xui8> to f16
  // CHECK: hfta.select %[[C]], %[[F]], %[[F]] : tensor<4xi1, #hfta.copies<2>>, tensor<4xf16>, tensor<4xf16>
  %1 = hfta.select %c, %0, %0 : tensor<4xi1, #hfta.copies<2>>, tensor<4xf16>, tensor<4xf16>
  return %1 : tensor<4xf16, #hfta.copies<2>>
}

// CHECK-LABEL: func.func @round_to_tf32(
func.func @round_to_tf32(%x: tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
  // CHECK: hfta.round_to_tf32 %{{.+}} : tensor<4xf32, #hfta.copies<2>>
  %0 = hfta.round_to_tf32 %x : tensor<4xf32, #hfta.copies<2>>
  return %0 : tensor<4xf32, #hfta.copies<2>>
}
