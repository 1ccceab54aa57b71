// RUN: hfta-opt %s -hfta-read-in-place | FileCheck %s -enable-var-scope

hfta.variable @w {role = #hfta.role<parameter>} : tensor<96x32xf32>
hfta.variable @x {role = #hfta.role<input>} : tensor<8x32xf32>
hfta.variable @array {role = #hfta.role<optimizer_state>} : tensor<8x32xf32, #hfta.copies<2>>
hfta.variable @state {role = #hfta.role<optimizer_state>} : tensor<8x32xf32>
hfta.variable @out {role = #hfta.role<output>} : tensor<96x8xf32>
// A parameter lies in memory anyway.
// CHECK-NOT: @turned
hfta.variable @turned {role = #hfta.role<saved>} : tensor<32x96xf32>
// The whole is left for its two halves, once.
// CHECK: hfta.variable @left {role = #hfta.role<saved>} : tensor<8x96xf32>
hfta.variable @left {role = #hfta.role<saved>} : tensor<8x48xf32>
// CHECK-NOT: @right
hfta.variable @right {role = #hfta.role<saved>} : tensor<8x48xf32>
// A part alone is less than the whole.
// CHECK: hfta.variable @part {role = #hfta.role<saved>} : tensor<8x16xf32>
hfta.variable @part {role = #hfta.role<saved>} : tensor<8x16xf32>

// CHECK-LABEL: func.func @forward(
// CHECK: %[[W:.+]] = hfta.read @w
// CHECK: hfta.transpose %[[W]] by [1, 0] {hfta.repeated}
// CHECK: %[[P:.+]] = hfta.contract
// CHECK: %[[H:.+]] = hfta.slice %[[P]] {{.+}} {hfta.repeated}
// CHECK: hfta.mul %[[H]], %{{.+}} {hfta.repeated}
// CHECK: hfta.write %[[P]], @left
// CHECK-NOT: @right
// CHECK: hfta.write %{{.+}}, @part
func.func @forward() attributes {hfta.task = #hfta.task<forward, 0>} {
  %w = hfta.read @w : tensor<96x32xf32>
  %t = hfta.transpose %w by [1, 0] : tensor<96x32xf32>
  hfta.write %t, @turned : tensor<32x96xf32>
  %x = hfta.read @x : tensor<8x32xf32>
  %p = hfta.contract %x, %t maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<8x32xf32>, tensor<32x96xf32>
  %l = hfta.slice %p from [0, 0] size [8, 48] stride [1, 1] : tensor<8x96xf32>
  %half = hfta.constant dense<0.5> : tensor<8x48xf32>
  %m = hfta.mul %l, %half : tensor<8x48xf32>, tensor<8x48xf32>
  hfta.write %m, @left : tensor<8x48xf32>
  %r = hfta.slice %p from [0, 48] size [8, 48] stride [1, 1] : tensor<8x96xf32>
  hfta.write %r, @right : tensor<8x48xf32>
  %e = hfta.exp %x : tensor<8x32xf32>
  %part = hfta.slice %e from [0, 0] size [8, 16] stride [1, 1] : tensor<8x32xf32>
  hfta.write %part, @part : tensor<8x16xf32>
  return
}

// CHECK-LABEL: func.func @backward(
// CHECK: %[[W:.+]] = hfta.read @w
// CHECK: %[[T:.+]] = hfta.transpose %[[W]] by [1, 0] {hfta.repeated}
// CHECK: %[[P:.+]] = hfta.read @left : tensor<8x96xf32>
// CHECK: %[[L:.+]] = hfta.slice %[[P]] from [0, 0]
// CHECK: %[[M:.+]] = hfta.mul %[[L]], %{{.+}} {hfta.repeated}
// CHECK: hfta.read @left : tensor<8x96xf32>
// CHECK: %[[R:.+]] = hfta.slice %{{.+}} from [0, 48]
// CHECK: hfta.sub %[[M]], %[[R]]
// CHECK: hfta.read @part
func.func @backward() attributes {hfta.task = #hfta.task<backward, 0>} {
  %t = hfta.read @turned : tensor<32x96xf32>
  %l = hfta.read @left : tensor<8x48xf32>
  %r = hfta.read @right : tensor<8x48xf32>
  %d = hfta.sub %l, %r : tensor<8x48xf32>, tensor<8x48xf32>
  %pad = hfta.pad %d low [0, 0] high [0, 48] interior [0, 0] with 0.0 : f32 : tensor<8x48xf32>
  %part = hfta.read @part : tensor<8x16xf32>
  %n = hfta.neg %part : tensor<8x16xf32>
  %y = hfta.contract %t, %pad maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] : tensor<32x96xf32>, tensor<8x96xf32>
  %s = hfta.reduce sum %n over [0, 1] : tensor<8x16xf32>
  %b = hfta.broadcast %s to [96, 8] along [] : tensor<f32>
  %z = hfta.reduce sum %y over [0, 1] : tensor<32x8xf32>
  %c = hfta.broadcast %z to [96, 8] along [] : tensor<f32>
  %o = hfta.add %b, %c : tensor<96x8xf32>, tensor<96x8xf32>
  hfta.write %o, @out : tensor<96x8xf32>
  return
}

// A value in a variable that the task writes is moved before the write.
// CHECK-LABEL: func.func @update(
// CHECK: hfta.transpose
// CHECK: hfta.transpose
// CHECK-NOT: hfta.repeated
// CHECK: return
func.func @update() attributes {hfta.task = #hfta.task<update, 0>} {
  %s = hfta.read @state : tensor<8x32xf32>
  %t = hfta.transpose %s by [1, 0] : tensor<8x32xf32>
  %a = hfta.read @array : tensor<8x32xf32, #hfta.copies<2>>
  %c = hfta.unstack %a[1] : tensor<8x32xf32, #hfta.copies<2>> -> tensor<8x32xf32>
  %u = hfta.transpose %c by [1, 0] : tensor<8x32xf32>
  hfta.write %s, @array copy 1 : tensor<8x32xf32>
  %n = hfta.neg %s : tensor<8x32xf32>
  hfta.write %n, @state : tensor<8x32xf32>
  %d = hfta.add %t, %u : tensor<32x8xf32>, tensor<32x8xf32>
  %r = hfta.reduce sum %d over [0] : tensor<32x8xf32>
  %b = hfta.broadcast %r to [96, 8] along [1] : tensor<8xf32>
  hfta.write %b, @out : tensor<96x8xf32>
  return
}

// Ops after a move aren't recomputed without limit.
// CHECK-LABEL: func.func @long(
// CHECK-COUNT-16: {hfta.repeated}
// CHECK-NOT: hfta.repeated
func.func @long() attributes {hfta.task = #hfta.task<infer, 0>} {
  %x = hfta.read @x : tensor<8x32xf32>
  %0 = hfta.transpose %x by [1, 0] : tensor<8x32xf32>
  %1 = hfta.mul %0, %0 : tensor<32x8xf32>, tensor<32x8xf32>
  %2 = hfta.mul %1, %1 : tensor<32x8xf32>, tensor<32x8xf32>
  %3 = hfta.mul %2, %2 : tensor<32x8xf32>, tensor<32x8xf32>
  %4 = hfta.mul %3, %3 : tensor<32x8xf32>, tensor<32x8xf32>
  %5 = hfta.mul %4, %4 : tensor<32x8xf32>, tensor<32x8xf32>
  %6 = hfta.mul %5, %5 : tensor<32x8xf32>, tensor<32x8xf32>
  %7 = hfta.mul %6, %6 : tensor<32x8xf32>, tensor<32x8xf32>
  %8 = hfta.mul %7, %7 : tensor<32x8xf32>, tensor<32x8xf32>
  %9 = hfta.mul %8, %8 : tensor<32x8xf32>, tensor<32x8xf32>
  %10 = hfta.mul %9, %9 : tensor<32x8xf32>, tensor<32x8xf32>
  %11 = hfta.mul %10, %10 : tensor<32x8xf32>, tensor<32x8xf32>
  %12 = hfta.mul %11, %11 : tensor<32x8xf32>, tensor<32x8xf32>
  %13 = hfta.mul %12, %12 : tensor<32x8xf32>, tensor<32x8xf32>
  %14 = hfta.mul %13, %13 : tensor<32x8xf32>, tensor<32x8xf32>
  %15 = hfta.mul %14, %14 : tensor<32x8xf32>, tensor<32x8xf32>
  %16 = hfta.mul %15, %15 : tensor<32x8xf32>, tensor<32x8xf32>
  %17 = hfta.mul %16, %16 : tensor<32x8xf32>, tensor<32x8xf32>
  %18 = hfta.mul %17, %17 : tensor<32x8xf32>, tensor<32x8xf32>
  %19 = hfta.mul %18, %18 : tensor<32x8xf32>, tensor<32x8xf32>
  %s = hfta.reduce sum %19 over [0] : tensor<32x8xf32>
  %b = hfta.broadcast %s to [96, 8] along [1] : tensor<8xf32>
  hfta.write %b, @out : tensor<96x8xf32>
  return
}
