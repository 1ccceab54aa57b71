// RUN: hfta-opt %s -hfta-form-kernels | FileCheck %s -enable-var-scope

// CHECK: hfta.variable @"hfta.constant/value0" {initial = dense<{{.*}}> : tensor<65xi32>, role = #hfta.role<constant>} : tensor<65xi32>
hfta.variable @w {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @m {role = #hfta.role<optimizer_state>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @rate {role = #hfta.role<scalar>} : tensor<f32, #hfta.copies<2>>
hfta.variable @x {role = #hfta.role<input>} : tensor<4xf32>
hfta.variable @a {role = #hfta.role<parameter>} : tensor<4x3xf32, #hfta.copies<2>>
hfta.variable @s {role = #hfta.role<output>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @i {role = #hfta.role<output>} : tensor<65xi32>

// An elementwise chain is one kernel with a result a written value, on one
// copy's plain tensors; broadcasts and small constants are made in it.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[W:.*]] = hfta.read @w
// CHECK: %[[M:.*]] = hfta.read @m
// CHECK: %[[RATE:.*]] = hfta.read @rate
// CHECK: %[[K:.*]]:2 = hfta.kernel "sub"(
// CHECK-SAME: -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<{{.*}}f32>, %{{.*}}: tensor<{{.*}}f32>, %{{.*}}: tensor<{{.*}}f32>):
// CHECK: %[[HALF:.*]] = hfta.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: %[[NEW_M:.*]] = hfta.mul %{{.*}}, %[[HALF]]
// CHECK: hfta.broadcast %{{.*}} to [4] along [] : tensor<f32>
// CHECK: %[[NEW_W:.*]] = hfta.sub
// CHECK: hfta.yield %[[NEW_M]], %[[NEW_W]] : tensor<4xf32>, tensor<4xf32>
// CHECK: hfta.write %[[K]]#1, @w
// CHECK: hfta.write %[[K]]#0, @m
// CHECK-NOT: hfta.broadcast
func.func @chain() attributes {hfta.task = #hfta.task<update, 0>} {
  %w = hfta.read @w : tensor<4xf32, #hfta.copies<2>>
  %m = hfta.read @m : tensor<4xf32, #hfta.copies<2>>
  %rate = hfta.read @rate : tensor<f32, #hfta.copies<2>>
  %half = hfta.constant dense<0.5> : tensor<4xf32>
  %0 = hfta.mul %m, %half : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
  %1 = hfta.broadcast %rate to [4] along [] : tensor<f32, #hfta.copies<2>>
  %2 = hfta.mul %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  %3 = hfta.sub %w, %2 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %3, @w : tensor<4xf32, #hfta.copies<2>>
  hfta.write %0, @m : tensor<4xf32, #hfta.copies<2>>
  return
}

// A shared value is computed once, not once a copy: it has a kernel of its own.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[X:.*]] = hfta.read @x : tensor<4xf32>
// CHECK: %[[E:.*]] = hfta.kernel "exp"(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %[[K:.*]] = hfta.kernel "add"(%{{.*}}) : (tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
// CHECK-NOT: hfta.exp
// CHECK: hfta.write %[[K]], @w
func.func @shared() attributes {hfta.task = #hfta.task<forward, 0>} {
  %x = hfta.read @x : tensor<4xf32>
  %w = hfta.read @w : tensor<4xf32, #hfta.copies<2>>
  %0 = hfta.exp %x : tensor<4xf32>
  %1 = hfta.add %0, %w : tensor<4xf32>, tensor<4xf32, #hfta.copies<2>>
  hfta.write %1, @w : tensor<4xf32, #hfta.copies<2>>
  return
}

// A reduction takes what feeds it, but a value that is used elsewhere too comes
// from a kernel of its own, and what follows it starts another.
// CHECK-LABEL: func.func @reduction(
// CHECK: %[[A:.*]] = hfta.read @a
// CHECK: %[[S:.*]] = hfta.kernel "reduce"(%[[A]])
// CHECK: %[[SQUARE:.*]] = hfta.mul
// CHECK: %[[SUM:.*]] = hfta.reduce sum %[[SQUARE]] over [1]
// CHECK: hfta.yield %[[SUM]]
// CHECK: %[[E:.*]] = hfta.kernel "exp"(%[[S]])
// CHECK: hfta.write %[[E]], @s
func.func @reduction() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @a : tensor<4x3xf32, #hfta.copies<2>>
  %0 = hfta.mul %a, %a : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
  %1 = hfta.reduce sum %0 over [1] : tensor<4x3xf32, #hfta.copies<2>>
  %2 = hfta.exp %1 : tensor<4xf32, #hfta.copies<2>>
  hfta.write %2, @s : tensor<4xf32, #hfta.copies<2>>
  return
}

// A contraction takes what follows it element by element into its kernel, but
// not what feeds it.
// CHECK-LABEL: func.func @contraction(
// CHECK: %[[N:.*]] = hfta.kernel "neg"
// CHECK: hfta.kernel "relu"(%[[N]], %{{.*}})
// CHECK: %[[C:.*]] = hfta.contract
// CHECK: %[[R:.*]] = hfta.relu %[[C]]
// CHECK: hfta.yield %[[R]]
// CHECK-NOT: hfta.kernel
func.func @contraction() attributes {hfta.task = #hfta.task<forward, 0>} {
  %a = hfta.read @a : tensor<4x3xf32, #hfta.copies<2>>
  %x = hfta.read @x : tensor<4xf32>
  %0 = hfta.neg %a : tensor<4x3xf32, #hfta.copies<2>>
  %1 = hfta.contract %0, %a maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>] : tensor<4x3xf32, #hfta.copies<2>>, tensor<4x3xf32, #hfta.copies<2>>
  %2 = hfta.relu %1 : tensor<4xf32, #hfta.copies<2>>
  hfta.write %2, @s : tensor<4xf32, #hfta.copies<2>>
  return
}

// A reduction of rows joins the elementwise ops that use it row by row, and so
// do ops on a value a row, and what is reduced: an item computes whole rows.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[X:.*]] = hfta.read @rows_in
// CHECK: hfta.kernel "mul"(%[[X]]) : (tensor<8x3xf32, #hfta.copies<2>>) -> tensor<8x3xf32, #hfta.copies<2>> {
// CHECK: hfta.reduce max
// CHECK: %[[EXP:.*]] = hfta.exp
// CHECK: hfta.reduce sum %[[EXP]] over [1]
// CHECK: hfta.div %{{.*}} : tensor<8xf32>
// CHECK: hfta.mul %[[EXP]]
// CHECK-NOT: hfta.kernel
hfta.variable @rows_in {role = #hfta.role<parameter>} : tensor<8x3xf32, #hfta.copies<2>>
hfta.variable @rows_out {role = #hfta.role<output>} : tensor<8x3xf32, #hfta.copies<2>>
func.func @rows() attributes {hfta.task = #hfta.task<forward, 1>} {
  %x = hfta.read @rows_in : tensor<8x3xf32, #hfta.copies<2>>
  %0 = hfta.reduce max %x over [1] : tensor<8x3xf32, #hfta.copies<2>>
  %1 = hfta.broadcast %0 to [8, 3] along [0] : tensor<8xf32, #hfta.copies<2>>
  %2 = hfta.sub %x, %1 : tensor<8x3xf32, #hfta.copies<2>>, tensor<8x3xf32, #hfta.copies<2>>
  %3 = hfta.exp %2 : tensor<8x3xf32, #hfta.copies<2>>
  %4 = hfta.reduce sum %3 over [1] : tensor<8x3xf32, #hfta.copies<2>>
  %one = hfta.constant dense<1.0> : tensor<8xf32>
  %inverse = hfta.div %one, %4 : tensor<8xf32>, tensor<8xf32, #hfta.copies<2>>
  %5 = hfta.broadcast %inverse to [8, 3] along [0] : tensor<8xf32, #hfta.copies<2>>
  %6 = hfta.mul %3, %5 : tensor<8x3xf32, #hfta.copies<2>>, tensor<8x3xf32, #hfta.copies<2>>
  hfta.write %6, @rows_out : tensor<8x3xf32, #hfta.copies<2>>
  return
}

// A product of which all rows read the same large matrix is a kernel of its
// own: a kernel of rows would pack the matrix in each part of the rows.
// CHECK-LABEL: func.func @large_matrix(
// CHECK: %[[PRODUCT:.*]] = hfta.kernel "contract"
// CHECK: hfta.kernel "sub"(%[[PRODUCT]])
// CHECK: hfta.reduce max
// CHECK-NOT: hfta.kernel
// CHECK-LABEL: func.func @small_matrix(
// CHECK: hfta.kernel "sub"
// CHECK: hfta.contract
// CHECK: hfta.reduce max
// CHECK-NOT: hfta.kernel
hfta.variable @long_rows {role = #hfta.role<input>} : tensor<16x256xf32>
hfta.variable @large {role = #hfta.role<parameter>} : tensor<128x256xf32, #hfta.copies<2>>
hfta.variable @small {role = #hfta.role<parameter>} : tensor<64x256xf32, #hfta.copies<2>>
hfta.variable @large_out {role = #hfta.role<output>} : tensor<16x128xf32, #hfta.copies<2>>
hfta.variable @small_out {role = #hfta.role<output>} : tensor<16x64xf32, #hfta.copies<2>>
func.func @large_matrix() attributes {hfta.task = #hfta.task<forward, 2>} {
  %x = hfta.read @long_rows : tensor<16x256xf32>
  %w = hfta.read @large : tensor<128x256xf32, #hfta.copies<2>>
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<16x256xf32>, tensor<128x256xf32, #hfta.copies<2>>
  %1 = hfta.reduce max %0 over [1] : tensor<16x128xf32, #hfta.copies<2>>
  %2 = hfta.broadcast %1 to [16, 128] along [0] : tensor<16xf32, #hfta.copies<2>>
  %3 = hfta.sub %0, %2 : tensor<16x128xf32, #hfta.copies<2>>, tensor<16x128xf32, #hfta.copies<2>>
  hfta.write %3, @large_out : tensor<16x128xf32, #hfta.copies<2>>
  return
}
func.func @small_matrix() attributes {hfta.task = #hfta.task<forward, 3>} {
  %x = hfta.read @long_rows : tensor<16x256xf32>
  %w = hfta.read @small : tensor<64x256xf32, #hfta.copies<2>>
  %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<16x256xf32>, tensor<64x256xf32, #hfta.copies<2>>
  %1 = hfta.reduce max %0 over [1] : tensor<16x64xf32, #hfta.copies<2>>
  %2 = hfta.broadcast %1 to [16, 64] along [0] : tensor<16xf32, #hfta.copies<2>>
  %3 = hfta.sub %0, %2 : tensor<16x64xf32, #hfta.copies<2>>, tensor<16x64xf32, #hfta.copies<2>>
  hfta.write %3, @small_out : tensor<16x64xf32, #hfta.copies<2>>
  return
}

// A value that is written unchanged gets a copy; constants above 256 bytes are
// read from a variable; one that is written twice is made twice.
// CHECK-LABEL: func.func @written_values(
// CHECK: %[[W:.*]] = hfta.read @w
// CHECK: %[[COPY:.*]] = hfta.kernel "copy"(%[[W]])
// CHECK: hfta.write %[[COPY]], @m
// CHECK: %[[Z1:.*]] = hfta.kernel "constant"() : () -> tensor<4xf32>
// CHECK: hfta.write %[[Z1]], @w
// CHECK: %[[Z2:.*]] = hfta.kernel "constant"() : () -> tensor<4xf32>
// CHECK: hfta.write %[[Z2]], @s
// CHECK: %[[LARGE:.*]] = hfta.read @"hfta.constant/value0"
// CHECK: %[[N:.*]] = hfta.kernel "neg"(%[[LARGE]])
// CHECK: hfta.write %[[N]], @i
func.func @written_values() attributes {hfta.task = #hfta.task<init, -1>} {
  %w = hfta.read @w : tensor<4xf32, #hfta.copies<2>>
  hfta.write %w, @m : tensor<4xf32, #hfta.copies<2>>
  %z = hfta.constant dense<0.0> : tensor<4xf32>
  hfta.write %z, @w : tensor<4xf32>
  hfta.write %z, @s : tensor<4xf32>
  %large = hfta.constant dense<"0x000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000130000001400000015000000160000001700000018000000190000001A0000001B0000001C0000001D0000001E0000001F000000200000002100000022000000230000002400000025000000260000002700000028000000290000002A0000002B0000002C0000002D0000002E0000002F000000300000003100000032000000330000003400000035000000360000003700000038000000390000003A0000003B0000003C0000003D0000003E0000003F00000040000000"> : tensor<65xi32>
  %0 = hfta.neg %large : tensor<65xi32>
  hfta.write %0, @i : tensor<65xi32>
  return
}

// Only tasks have kernels.
// CHECK-LABEL: func.func @no_task(
// CHECK-NEXT: hfta.neg
func.func @no_task(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hfta.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A large reduction over the batch too is shared by samples first; one with a
// wider accumulator isn't rounded in between.
hfta.variable @big {role = #hfta.role<saved>} : tensor<64x16x8x8xf32>
hfta.variable @sums {role = #hfta.role<gradient>} : tensor<16xf32>
hfta.variable @wide_sums {role = #hfta.role<gradient>} : tensor<16xf32>
// CHECK-LABEL: func.func @split_reduction(
// CHECK: hfta.kernel "reduce"({{.*}}) -> tensor<64x16xf32>
// CHECK: hfta.reduce sum %{{.*}} over [2, 3] : tensor<64x16x8x8xf32>
// CHECK: hfta.kernel "reduce"({{.*}}) -> tensor<16xf32>
// CHECK: hfta.reduce sum %{{.*}} over [0] : tensor<64x16xf32>
// CHECK: hfta.reduce sum %{{.*}} over [0, 2, 3] {accumulate = f64} : tensor<64x16x8x8xf32>
func.func @split_reduction() attributes {hfta.task = #hfta.task<backward, 7>} {
  %x = hfta.read @big : tensor<64x16x8x8xf32>
  %0 = hfta.reduce sum %x over [0, 2, 3] : tensor<64x16x8x8xf32>
  hfta.write %0, @sums : tensor<16xf32>
  %1 = hfta.reduce sum %x over [0, 2, 3] {accumulate = f64} : tensor<64x16x8x8xf32>
  hfta.write %1, @wide_sums : tensor<16xf32>
  return
}

// An op that is alone in its kernel reads values that others recompute.
hfta.variable @factors {role = #hfta.role<parameter>} : tensor<2x3xf32>
hfta.variable @inverses {role = #hfta.role<parameter>} : tensor<2x3xf32>
// CHECK-LABEL: func.func @alone(
// CHECK: %[[DAMPING:.*]] = hfta.kernel "constant"() : () -> tensor<2xf32>
// CHECK: hfta.kernel "spd_inverse"(%{{.*}}, %[[DAMPING]], %{{.*}}) : {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: hfta.spd_inverse
// CHECK-NEXT: hfta.yield
// CHECK: hfta.kernel "neg"(%{{.*}}) : (tensor<2x3xf32>)
func.func @alone() attributes {hfta.task = #hfta.task<update, 7>} {
  %f = hfta.read @factors : tensor<2x3xf32>
  %o = hfta.read @inverses : tensor<2x3xf32>
  %d = hfta.constant dense<0.5> : tensor<2xf32>
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>
  %0 = hfta.neg %inverse : tensor<2x3xf32>
  hfta.write %0, @inverses : tensor<2x3xf32>
  return
}

// A sum of rows takes along the reductions of the same rows that its terms
// need: the kernel goes through a row several times while it is in the cache.
hfta.variable @scores {role = #hfta.role<saved>} : tensor<16x8xf32>
hfta.variable @row_sums {role = #hfta.role<result>} : tensor<16xf32>
hfta.variable @maxima {role = #hfta.role<saved>} : tensor<16xf32>
// CHECK-LABEL: func.func @rows_of_a_sum(
// CHECK: %[[X:.*]] = hfta.read @scores
// CHECK: %[[K:.*]]:2 = hfta.kernel "reduce"(%[[X]]) : {{.*}} -> (tensor<16xf32>, tensor<16xf32>)
// CHECK: hfta.reduce max
// CHECK: hfta.sub
// CHECK: hfta.reduce sum
// CHECK: hfta.yield
// CHECK-NOT: hfta.kernel
// CHECK: return
func.func @rows_of_a_sum() attributes {hfta.task = #hfta.task<forward, 7>} {
  %x = hfta.read @scores : tensor<16x8xf32>
  %max = hfta.reduce max %x over [1] : tensor<16x8xf32>
  %spread = hfta.broadcast %max to [16, 8] along [0] : tensor<16xf32>
  %shifted = hfta.sub %x, %spread : tensor<16x8xf32>, tensor<16x8xf32>
  %sum = hfta.reduce sum %shifted over [1] : tensor<16x8xf32>
  hfta.write %max, @maxima : tensor<16xf32>
  hfta.write %sum, @row_sums : tensor<16xf32>
  return
}
