// RUN: hfta-opt %s -pass-pipeline='builtin.module(func.func(hfta-sink-reshapes))' | FileCheck %s -enable-var-scope

// CHECK-DAG: #[[$TURNED:.+]] = affine_map<(d0, d1, d2) -> (d1, d0)>

// A sum that keeps its axis is computed on without it.
// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[X:.+]]: tensor<8x32xf32>
// CHECK: %[[S:.+]] = hfta.reduce sum %[[X]] over [1]
// CHECK: %[[N:.+]] = hfta.constant dense<3.200000e+01> : tensor<8xf32>
// CHECK: %[[M:.+]] = hfta.div %[[S]], %[[N]] : tensor<8xf32>, tensor<8xf32>
// CHECK: %[[B:.+]] = hfta.broadcast %[[M]] to [8, 32] along [0] : tensor<8xf32>
// CHECK: hfta.sub %[[X]], %[[B]]
// CHECK-NOT: hfta.reshape
func.func @mean(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %s = hfta.reduce sum %x over [1] : tensor<8x32xf32>
  %r = hfta.reshape %s to [8, 1] : tensor<8xf32>
  %n = hfta.constant dense<32.0> : tensor<8x1xf32>
  %m = hfta.div %r, %n : tensor<8x1xf32>, tensor<8x1xf32>
  %b = hfta.broadcast %m to [8, 32] along [0, 1] : tensor<8x1xf32>
  %d = hfta.sub %x, %b : tensor<8x32xf32>, tensor<8x32xf32>
  return %d : tensor<8x32xf32>
}

// A variable can be read in any shape; two reshapes are one, or none.
hfta.variable @v {role = #hfta.role<input>} : tensor<8x1xf32>
// CHECK-LABEL: func.func @read(
// CHECK: %[[V:.+]] = hfta.read @v
// CHECK: %[[R:.+]] = hfta.reshape %[[V]] to [8]
// CHECK: %[[M:.+]] = hfta.mul %{{.+}}, %[[R]] : tensor<8xf32>, tensor<8xf32>
// CHECK: return %[[M]]
func.func @read(%x: tensor<8x32xf32>) -> tensor<8xf32> attributes {hfta.task = #hfta.task<forward, 0>} {
  %s = hfta.reduce sum %x over [1] : tensor<8x32xf32>
  %r = hfta.reshape %s to [8, 1] : tensor<8xf32>
  %v = hfta.read @v : tensor<8x1xf32>
  %m = hfta.mul %r, %v : tensor<8x1xf32>, tensor<8x1xf32>
  %t = hfta.reshape %m to [8] : tensor<8x1xf32>
  return %t : tensor<8xf32>
}

// A value that is computed in that shape stays so; so does one that a reshape cuts.
// CHECK-LABEL: func.func @others(
// CHECK: hfta.reshape %{{.+}} to [8, 1]
// CHECK: hfta.mul %{{.+}}, %{{.+}} : tensor<8x1xf32>, tensor<8x1xf32>
// CHECK: hfta.reshape %{{.+}} to [2, 4]
// CHECK: hfta.neg %{{.+}} : tensor<2x4xf32>
func.func @others(%s: tensor<8xf32>, %y: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<2x4xf32>) {
  %r = hfta.reshape %s to [8, 1] : tensor<8xf32>
  %e = hfta.exp %y : tensor<8x1xf32>
  %m = hfta.mul %r, %e : tensor<8x1xf32>, tensor<8x1xf32>
  %c = hfta.reshape %s to [2, 4] : tensor<8xf32>
  %n = hfta.neg %c : tensor<2x4xf32>
  return %m, %n : tensor<8x1xf32>, tensor<2x4xf32>
}

// A product's result is computed in the requested order, unless both are requested.
// CHECK-LABEL: func.func @turned(
// CHECK: %[[T:.+]] = hfta.contract %{{.+}}, %{{.+}} maps [#{{.+}}, #{{.+}}, #[[$TURNED]]] {hfta.multiply = bf16}
// CHECK: return %[[T]]
func.func @turned(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>) -> tensor<6x4xf32> {
  %p = hfta.contract %x, %y maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {hfta.multiply = bf16} : tensor<4x8xf32>, tensor<8x6xf32>
  %t = hfta.transpose %p by [1, 0] : tensor<4x6xf32>
  return %t : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @both(
// CHECK: hfta.transpose
func.func @both(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %p = hfta.contract %x, %y maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<4x8xf32>, tensor<8x6xf32>
  %t = hfta.transpose %p by [1, 0] : tensor<4x6xf32>
  return %p, %t : tensor<4x6xf32>, tensor<6x4xf32>
}

// A product reads its operand before a write, as it did.
hfta.variable @m {role = #hfta.role<optimizer_state>} : tensor<8x8xf32>
// CHECK-LABEL: func.func @written(
// CHECK: hfta.read @m
// CHECK: hfta.contract
// CHECK: hfta.write %{{.+}}, @m
// CHECK-NOT: hfta.contract
func.func @written(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {hfta.task = #hfta.task<update, 0>} {
  %m = hfta.read @m : tensor<8x8xf32>
  %p = hfta.contract %m, %x maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] : tensor<8x8xf32>, tensor<8x8xf32>
  hfta.write %x, @m : tensor<8x8xf32>
  %t = hfta.transpose %p by [1, 0] : tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
