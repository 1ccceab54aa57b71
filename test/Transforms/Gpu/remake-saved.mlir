// RUN: hfta-opt %s -hfta-remake-saved | FileCheck %s -enable-var-scope

hfta.variable @x {role = #hfta.role<input>} : tensor<8x64xf32>
hfta.variable @scale {role = #hfta.role<parameter>} : tensor<64xf32>
hfta.variable @d {role = #hfta.role<output>} : tensor<8x64xf32>
hfta.variable @e {role = #hfta.role<output>} : tensor<8x64xf64>
hfta.variable @s {role = #hfta.role<output>} : tensor<8xf32>
hfta.variable @t {role = #hfta.role<output>} : tensor<8xf32>

// CHECK: hfta.variable @made {role = #hfta.role<saved>}
hfta.variable @made {role = #hfta.role<saved>} : tensor<8x64xf32>
// This value is computed from that one and a parameter.
// CHECK-NOT: @gate
hfta.variable @gate {role = #hfta.role<saved>} : tensor<8x64xf32>
// And this one from that value.
// CHECK-NOT: @both
hfta.variable @both {role = #hfta.role<saved>} : tensor<8x64xf32>
// Statistics of a micro-batch are left for the backward, too.
hfta.variable @running {role = #hfta.role<statistics>} : tensor<8xf32>
// CHECK: hfta.variable @"hfta.batch_statistic/0/running"
hfta.variable @"hfta.batch_statistic/0/running" {purpose = #hfta.purpose<batch_statistic "0" of @running>, role = #hfta.role<exchange>} : tensor<8xf32>
// CHECK-NOT: @centered
hfta.variable @centered {role = #hfta.role<saved>} : tensor<8x64xf32>
// A product multiplies it, it would need two tensors, or it is too costly.
// CHECK: hfta.variable @multiplied
hfta.variable @multiplied {role = #hfta.role<saved>} : tensor<8x64xf32>
// CHECK: hfta.variable @of_two
hfta.variable @of_two {role = #hfta.role<saved>} : tensor<8x64xf32>
// CHECK: hfta.variable @wide
hfta.variable @wide {role = #hfta.role<saved>} : tensor<8x64xf64>
// CHECK: hfta.variable @wide_made
hfta.variable @wide_made {role = #hfta.role<saved>} : tensor<8x64xf64>

// CHECK-LABEL: func.func @forward(
// CHECK-NOT: @gate
// CHECK-NOT: @both
// CHECK: return
func.func @forward() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<8x64xf32>
  %made = hfta.contract %x, %x maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %made, @made : tensor<8x64xf32>
  %p = hfta.read @scale : tensor<64xf32>
  %b = hfta.broadcast %p to [8, 64] along [1] : tensor<64xf32>
  %m = hfta.mul %made, %b : tensor<8x64xf32>, tensor<8x64xf32>
  %gate = hfta.erf %m : tensor<8x64xf32>
  hfta.write %gate, @gate : tensor<8x64xf32>
  %both = hfta.add %gate, %made : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %both, @both : tensor<8x64xf32>
  %sum = hfta.reduce sum %made over [1] : tensor<8x64xf32>
  hfta.write %sum, @"hfta.batch_statistic/0/running" : tensor<8xf32>
  %spread = hfta.broadcast %sum to [8, 64] along [0] : tensor<8xf32>
  %centered = hfta.sub %made, %spread : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %centered, @centered : tensor<8x64xf32>
  %neg = hfta.neg %made : tensor<8x64xf32>
  hfta.write %neg, @multiplied : tensor<8x64xf32>
  %two = hfta.sub %made, %x : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %two, @of_two : tensor<8x64xf32>
  %wide = hfta.cast %x : tensor<8x64xf32> to f64
  hfta.write %wide, @wide : tensor<8x64xf64>
  %exp = hfta.exp %wide : tensor<8x64xf64>
  hfta.write %exp, @wide_made : tensor<8x64xf64>
  return
}

// CHECK-LABEL: func.func @backward(
// CHECK: %[[MADE:.+]] = hfta.read @made
// CHECK: %[[P:.+]] = hfta.read @scale
// CHECK: %[[B:.+]] = hfta.broadcast %[[P]]
// CHECK: %[[M:.+]] = hfta.mul %[[MADE]], %[[B]]
// CHECK: %[[GATE:.+]] = hfta.erf %[[M]]
// CHECK: %[[BOTH:.+]] = hfta.add %[[GATE]], %[[MADE]]
// CHECK: %[[SUM:.+]] = hfta.read @"hfta.batch_statistic/0/running"
// CHECK: %[[SPREAD:.+]] = hfta.broadcast %[[SUM]]
// CHECK: hfta.sub %[[MADE]], %[[SPREAD]]
// CHECK: hfta.mul %[[GATE]], %[[BOTH]]
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %gate = hfta.read @gate : tensor<8x64xf32>
  %both = hfta.read @both : tensor<8x64xf32>
  %m = hfta.mul %gate, %both : tensor<8x64xf32>, tensor<8x64xf32>
  %factor = hfta.read @multiplied : tensor<8x64xf32>
  %c = hfta.contract %factor, %m maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>] : tensor<8x64xf32>, tensor<8x64xf32>
  hfta.write %c, @s : tensor<8xf32>
  %centered = hfta.read @centered : tensor<8x64xf32>
  %total = hfta.reduce sum %centered over [1] : tensor<8x64xf32>
  hfta.write %total, @t : tensor<8xf32>
  %two = hfta.read @of_two : tensor<8x64xf32>
  %n = hfta.neg %two : tensor<8x64xf32>
  hfta.write %n, @d : tensor<8x64xf32>
  %wide = hfta.read @wide : tensor<8x64xf64>
  %made = hfta.read @wide_made : tensor<8x64xf64>
  %sum = hfta.add %wide, %made : tensor<8x64xf64>, tensor<8x64xf64>
  hfta.write %sum, @e : tensor<8x64xf64>
  return
}
