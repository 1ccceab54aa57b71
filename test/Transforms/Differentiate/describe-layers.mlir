// RUN: hfta-opt %s -hfta-describe-layers | FileCheck %s

// Cuts and layers are noted; the layers' ops are removed.
// CHECK: hfta.plan_json = "{\22cuts\22:{{\[\[}}\22x\22],[\22y\22,\22z\22]],\22layers\22:[{\22kind\22:\22dense\22,\22parameter\22:\22w\22,\22bias\22:\22b\22,\22bias_column\22:true,\22input\22:\22tensor<8x5xf32>\22,\22output_gradient\22:\22tensor<8x3xf32>\22},{\22kind\22:\22other\22,\22parameter\22:\22b\22,\22copy\22:1,\22output_gradient\22:\22tensor<8x3xf32>\22}]}"
// CHECK-NOT: hfta.layer
// CHECK-NOT: hfta.cuts
#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
module attributes {hfta.cuts = [["x"], ["y", "z"]]} {
func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @x : tensor<8x5xf32>
  %g = hfta.read @g : tensor<8x3xf32, #hfta.copies<2>>
  %0 = hfta.contract %x, %g maps [#mk, #mn, #nk] : tensor<8x5xf32>, tensor<8x3xf32, #hfta.copies<2>>
  hfta.write %0, @"hfta.gradient/w" : tensor<3x5xf32, #hfta.copies<2>>
  hfta.layer dense @w bias @b input %x : tensor<8x5xf32> output_gradient %g : tensor<8x3xf32, #hfta.copies<2>>
      weight_gradient %0 : tensor<3x5xf32, #hfta.copies<2>> loss_divisor terms 8
      {bias_column, indexing_maps = [#mk, #mn, #nk]}
  hfta.layer other @b copy 1 output_gradient %g : tensor<8x3xf32, #hfta.copies<2>>
      weight_gradient %g : tensor<8x3xf32, #hfta.copies<2>> loss_divisor terms 8
  return
}
hfta.variable @x {role = #hfta.role<input>} : tensor<8x5xf32>
hfta.variable @g {role = #hfta.role<cut>} : tensor<8x3xf32, #hfta.copies<2>>
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x5xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
hfta.variable @"hfta.gradient/w" {purpose = #hfta.purpose<gradient of @w>, role = #hfta.role<gradient>} : tensor<3x5xf32, #hfta.copies<2>>
}
