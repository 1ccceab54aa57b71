// RUN: hfta-opt %s -hfta-describe-layers | FileCheck %s

// CHECK: hfta.plan_json = "{\22layers\22:[{\22kind\22:\22dense\22,\22parameter\22:\22w\22,\22bias\22:\22b\22,\22input\22:\22tensor<8x5xf32>\22,\22output_gradient\22:\22tensor<8x3xf32>\22}]}"
func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x5xf32>
  %g = hfta.read @g : tensor<8x3xf32, #hfta.copies<2>>
  %0 = hfta.contract %x, %g maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n, k)>] {layer = #hfta.layer<dense, @w, @b>} : tensor<8x5xf32>, tensor<8x3xf32, #hfta.copies<2>>
  hfta.write %0, @w : tensor<3x5xf32, #hfta.copies<2>>
  return
}
hfta.variable @x {role = #hfta.role<input>} : tensor<8x5xf32>
hfta.variable @g {role = #hfta.role<cut>} : tensor<8x3xf32, #hfta.copies<2>>
hfta.variable @w {role = #hfta.role<gradient>} : tensor<3x5xf32, #hfta.copies<2>>
