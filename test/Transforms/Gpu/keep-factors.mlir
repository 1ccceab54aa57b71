// RUN: hfta-opt %s -hfta-keep-factors | FileCheck %s -enable-var-scope

hfta.variable @w {role = #hfta.role<parameter>} : tensor<32x16x3xf32>
hfta.variable @v {role = #hfta.role<parameter>} : tensor<16x8xf32, #hfta.copies<2>>
hfta.variable @x {role = #hfta.role<input>} : tensor<32x16x3xf32>
hfta.variable @a {role = #hfta.role<output>} : tensor<32x3x16xf32>
hfta.variable @b {role = #hfta.role<output>} : tensor<16x8xf32, #hfta.copies<2>>
hfta.variable @c {role = #hfta.role<output>} : tensor<32x16x3xf32>
// Packed or rounded values are kept, in as many instances as other saved values.
// CHECK-COUNT-3: hfta.variable @"hfta.factor/{{[012]}}" {instances = 2 : i64, role = #hfta.role<saved>}
// CHECK-NOT: hfta.factor/3
// A value that is read for nothing else isn't kept.
// CHECK-NOT: @rounded
// CHECK: hfta.variable @saved
hfta.variable @rounded {role = #hfta.role<saved>, instances = 2 : i64} : tensor<32x16x3xf32>
hfta.variable @saved {role = #hfta.role<saved>, instances = 2 : i64} : tensor<32x16x3xf32>

// CHECK-LABEL: func.func @forward(
// CHECK: %[[W:.+]] = hfta.read @w
// CHECK: %[[P:.+]] = hfta.transpose %[[W]] by [0, 2, 1]
// CHECK: %[[N:.+]] = hfta.cast %{{.+}} to bf16
// CHECK-DAG: hfta.write %[[P]], @"hfta.factor/
// CHECK-DAG: hfta.write %[[N]], @"hfta.factor/
// CHECK: return
func.func @forward() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<32x16x3xf32>
  hfta.write %x, @saved : tensor<32x16x3xf32>
  %w = hfta.read @w : tensor<32x16x3xf32>
  %p = hfta.transpose %w by [0, 2, 1] : tensor<32x16x3xf32>
  %t = hfta.transpose %x by [0, 2, 1] : tensor<32x16x3xf32>
  %s = hfta.add %p, %t : tensor<32x3x16xf32>, tensor<32x3x16xf32>
  hfta.write %s, @a : tensor<32x3x16xf32>
  %v = hfta.read @v : tensor<16x8xf32, #hfta.copies<2>>
  %n = hfta.cast %v : tensor<16x8xf32, #hfta.copies<2>> to bf16
  %o = hfta.cast %n {hfta.repeated} : tensor<16x8xbf16, #hfta.copies<2>> to f32
  hfta.write %o, @b : tensor<16x8xf32, #hfta.copies<2>>
  %e = hfta.exp %x : tensor<32x16x3xf32>
  hfta.write %e, @rounded : tensor<32x16x3xf32>
  %r = hfta.round_to_tf32 %e : tensor<32x16x3xf32>
  hfta.write %r, @c : tensor<32x16x3xf32>
  return
}

// A value that is made from an input, or in another order, is made here.
// CHECK-LABEL: func.func @backward(
// CHECK-NOT: hfta.read @w
// CHECK: hfta.read @saved
// CHECK: %[[P:.+]] = hfta.read @"hfta.factor/{{[012]}}" : tensor<32x3x16xf32>
// CHECK: %[[T:.+]] = hfta.transpose %{{.+}} by [0, 2, 1]
// CHECK: hfta.add %[[P]], %[[T]]
// CHECK: %[[N:.+]] = hfta.read @"hfta.factor/{{[012]}}" : tensor<16x8xbf16, #hfta.copies<2>>
// CHECK: hfta.cast %[[N]] {hfta.repeated}
// CHECK-NOT: hfta.factor
// CHECK: hfta.transpose %{{.+}} by [1, 0]
// CHECK: %[[R:.+]] = hfta.read @"hfta.factor/{{[012]}}" : tensor<32x16x3xf32>
// CHECK-NOT: hfta.round_to_tf32
// CHECK: hfta.write %[[R]], @c
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %x = hfta.read @saved : tensor<32x16x3xf32>
  %w = hfta.read @w : tensor<32x16x3xf32>
  %p = hfta.transpose %w by [0, 2, 1] : tensor<32x16x3xf32>
  %t = hfta.transpose %x by [0, 2, 1] : tensor<32x16x3xf32>
  %s = hfta.add %p, %t : tensor<32x3x16xf32>, tensor<32x3x16xf32>
  hfta.write %s, @a : tensor<32x3x16xf32>
  %v = hfta.read @v : tensor<16x8xf32, #hfta.copies<2>>
  %n = hfta.cast %v : tensor<16x8xf32, #hfta.copies<2>> to bf16
  %o = hfta.cast %n {hfta.repeated} : tensor<16x8xbf16, #hfta.copies<2>> to f32
  %u = hfta.transpose %v by [1, 0] : tensor<16x8xf32, #hfta.copies<2>>
  %r = hfta.transpose %u by [1, 0] : tensor<8x16xf32, #hfta.copies<2>>
  %q = hfta.add %o, %r : tensor<16x8xf32, #hfta.copies<2>>, tensor<16x8xf32, #hfta.copies<2>>
  hfta.write %q, @b : tensor<16x8xf32, #hfta.copies<2>>
  %e = hfta.read @rounded : tensor<32x16x3xf32>
  %f = hfta.round_to_tf32 %e : tensor<32x16x3xf32>
  hfta.write %f, @c : tensor<32x16x3xf32>
  return
}

// A task that doesn't follow the forward each time makes its own.
// CHECK-LABEL: func.func @sampled(
// CHECK: hfta.read @w
// CHECK: hfta.transpose
func.func @sampled() attributes {hfta.task = #hfta.task<sampled_moments, 0>} {
  %x = hfta.read @saved : tensor<32x16x3xf32>
  %w = hfta.read @w : tensor<32x16x3xf32>
  %p = hfta.transpose %w by [0, 2, 1] : tensor<32x16x3xf32>
  hfta.write %p, @a : tensor<32x3x16xf32>
  return
}
