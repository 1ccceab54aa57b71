// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @ctc_loss(
func.func @ctc_loss(%x: tensor<8x50x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8xi64>)
    -> (tensor<8xf32>, tensor<8x50x27xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = hfta.ctc_loss %{{.*}}, %{{.*}}, %{{.*}} {blank = 26 : i64, zero_infinity} : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8xi64>
  %losses, %gradient = hfta.ctc_loss %x, %l, %n {blank = 26 : i64, zero_infinity}
      : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8xi64>
  return %losses, %gradient : tensor<8xf32>, tensor<8x50x27xf32>
}

// Outputs of three copies, and lengths and labels that these share.
// CHECK-LABEL: func.func @of_each_copy(
func.func @of_each_copy(%x: tensor<1x1x2xbf16, #hfta.copies<3>>, %l: tensor<1x1xi32>,
                        %n: tensor<1xi64>, %t: tensor<1xi32>)
    -> (tensor<1xbf16, #hfta.copies<3>>, tensor<1x1x2xbf16, #hfta.copies<3>>) {
  // CHECK: hfta.ctc_loss %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {blank = 0 : i64} : tensor<1x1x2xbf16, #hfta.copies<3>>, tensor<1x1xi32>, tensor<1xi64>, tensor<1xi32>
  %losses, %gradient = hfta.ctc_loss %x, %l, %n, %t {blank = 0 : i64}
      : tensor<1x1x2xbf16, #hfta.copies<3>>, tensor<1x1xi32>, tensor<1xi64>, tensor<1xi32>
  return %losses, %gradient : tensor<1xbf16, #hfta.copies<3>>, tensor<1x1x2xbf16, #hfta.copies<3>>
}
