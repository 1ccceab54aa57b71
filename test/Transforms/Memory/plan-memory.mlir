// RUN: hfta-opt %s -split-input-file -hfta-plan-memory | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -split-input-file -hfta-set-target=target=cuda -hfta-plan-memory | FileCheck %s -check-prefix=SLABS

// Variables of one role and block lie in one segment, on cache lines; scalars
// of all copies are packed. Saved values lie in slabs, one a copy. Values between
// kernels share the workspace's slabs: three of 64 bytes, at most two alive at
// once.
// CHECK: module attributes {hfta.segments = [
// CHECK-SAME: #hfta.segment<parameter, 0, 256 bytes, 1 instances>,
// CHECK-SAME: #hfta.segment<parameter, 1, 128 bytes, 1 instances>,
// CHECK-SAME: #hfta.segment<saved, 0, 256 bytes, 4 instances, 128 a copy>,
// CHECK-SAME: #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
// CHECK-SAME: #hfta.segment<output, -1, 128 bytes, 1 instances>,
// CHECK-SAME: #hfta.segment<workspace, -1, 256 bytes, 1 instances, 128 a copy>]
module {
  // CHECK: @a {{.*}}location = #hfta.binding<0, 0, 64>
  hfta.variable @a {role = #hfta.role<parameter>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @b {{.*}}location = #hfta.binding<0, 128, 64>
  hfta.variable @b {role = #hfta.role<parameter>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @c {{.*}}location = #hfta.binding<1, 0, 64>
  hfta.variable @c {role = #hfta.role<parameter>, block = 1 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @saved {{.*}}location = #hfta.binding<2, 0, 128>
  hfta.variable @saved {role = #hfta.role<saved>, block = 0 : i64, instances = 4 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @mask {{.*}}location = #hfta.binding<2, 64, 128>
  hfta.variable @mask {role = #hfta.role<saved>, block = 0 : i64, instances = 4 : i64} : tensor<4xi1, #hfta.copies<2>>
  // CHECK: @rate {{.*}}location = #hfta.binding<3, 0, 8>
  hfta.variable @rate {role = #hfta.role<scalar>} : tensor<f64, #hfta.copies<2>>
  // CHECK: @out {{.*}}location = #hfta.binding<4, 0, 64>
  hfta.variable @out {role = #hfta.role<output>} : tensor<4xf32, #hfta.copies<2>>

  // CHECK-LABEL: func.func @workspace(
  // CHECK: hfta.kernel "k0"({{.*}}) {bindings = [#hfta.binding<0, 0, 64>, #hfta.binding<5, [[FIRST:[0-9]+]], 128>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "k1"({{.*}}) {bindings = [#hfta.binding<5, [[FIRST]], 128>, #hfta.binding<5, [[SECOND:[0-9]+]], 128>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "k2"({{.*}}) {bindings = [#hfta.binding<5, [[SECOND]], 128>, #hfta.binding<5, [[FIRST]], 128>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "k3"({{.*}}) {bindings = [#hfta.binding<5, [[FIRST]], 128>, #hfta.binding<4, 0, 64>], ties = array<i64: -1>}
  func.func @workspace() attributes {hfta.task = #hfta.task<forward, 0>} {
    %a = hfta.read @a : tensor<4xf32, #hfta.copies<2>>
    %0 = hfta.kernel "k0"(%a) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
    ^bb0(%x: tensor<4xf32>):
      hfta.yield %x : tensor<4xf32>
    }
    %1 = hfta.kernel "k1"(%0) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
    ^bb0(%x: tensor<4xf32>):
      hfta.yield %x : tensor<4xf32>
    }
    %2 = hfta.kernel "k2"(%1) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
    ^bb0(%x: tensor<4xf32>):
      hfta.yield %x : tensor<4xf32>
    }
    %3 = hfta.kernel "k3"(%2) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32, #hfta.copies<2>> {
    ^bb0(%x: tensor<4xf32>):
      hfta.yield %x : tensor<4xf32>
    }
    hfta.write %3, @out : tensor<4xf32, #hfta.copies<2>>
    return
  }
}

// -----

// CHECK-NOT: workspace
// CHECK: module attributes {hfta.segments = [#hfta.segment<parameter, -1, 448 bytes, 1 instances>, #hfta.segment<workspace, -1, 128 bytes, 1 instances, 64 a copy>, #hfta.segment<workspace, -1, 64 bytes, 1 instances>]
module {
  hfta.variable @w {role = #hfta.role<parameter>} : tensor<2x2xf32, #hfta.copies<2>>
  hfta.variable @m {role = #hfta.role<parameter>} : tensor<2x2xf32, #hfta.copies<2>>
  hfta.variable @x {role = #hfta.role<parameter>} : tensor<2x2xf32>
  hfta.variable @y {role = #hfta.role<parameter>} : tensor<2x2xf32, #hfta.copies<2>>

  // An elementwise update works in place: each result tied to its old value.
  // CHECK-LABEL: func.func @in_place(
  // CHECK: hfta.kernel "update"({{.*}}) {bindings = [#hfta.binding<0, 0, 64>, #hfta.binding<0, 128, 64>], ties = array<i64: 1, 0>}
  func.func @in_place() attributes {hfta.task = #hfta.task<update, 0>} {
    %w = hfta.read @w : tensor<2x2xf32, #hfta.copies<2>>
    %m = hfta.read @m : tensor<2x2xf32, #hfta.copies<2>>
    %0:2 = hfta.kernel "update"(%w, %m) : (tensor<2x2xf32, #hfta.copies<2>>, tensor<2x2xf32, #hfta.copies<2>>) -> (tensor<2x2xf32, #hfta.copies<2>>, tensor<2x2xf32, #hfta.copies<2>>) {
    ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
      %1 = hfta.add %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
      %2 = hfta.sub %a, %1 : tensor<2x2xf32>, tensor<2x2xf32>
      hfta.yield %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
    }
    hfta.write %0#0, @m : tensor<2x2xf32, #hfta.copies<2>>
    hfta.write %0#1, @w : tensor<2x2xf32, #hfta.copies<2>>
    return
  }

  // A kernel that reads other elements of what it replaces, by whichever of its
  // inputs, computes elsewhere, and the result is copied.
  // CHECK-LABEL: func.func @not_in_place(
  // CHECK: hfta.kernel "transposed"({{.*}}) {bindings = [#hfta.binding<0, 0, 64>, #hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "copy"({{.*}}) {bindings = [#hfta.binding<1, 0, 64>, #hfta.binding<0, 0, 64>], ties = array<i64: -1>}
  func.func @not_in_place() attributes {hfta.task = #hfta.task<update, 1>} {
    %w = hfta.read @w : tensor<2x2xf32, #hfta.copies<2>>
    %again = hfta.read @w : tensor<2x2xf32, #hfta.copies<2>>
    %0 = hfta.kernel "transposed"(%w, %again) : (tensor<2x2xf32, #hfta.copies<2>>, tensor<2x2xf32, #hfta.copies<2>>) -> tensor<2x2xf32, #hfta.copies<2>> {
    ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
      %1 = hfta.transpose %b by [1, 0] : tensor<2x2xf32>
      %2 = hfta.add %a, %1 : tensor<2x2xf32>, tensor<2x2xf32>
      hfta.yield %2 : tensor<2x2xf32>
    }
    hfta.write %0, @w : tensor<2x2xf32, #hfta.copies<2>>
    return
  }

  // A shared value that other kernels use too is copied to every copy of a
  // variable; they find it once.
  // CHECK-LABEL: func.func @shared_to_every_copy(
  // CHECK: hfta.kernel "shared"({{.*}}) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<2, 0, 0>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "copy"({{.*}}) {bindings = [#hfta.binding<2, 0, 0>, #hfta.binding<0, 320, 64>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "add"({{.*}}) {bindings = [#hfta.binding<0, 256, 0>, #hfta.binding<2, 0, 0>], ties = array<i64: 0>}
  func.func @shared_to_every_copy() attributes {hfta.task = #hfta.task<update, 2>} {
    %x = hfta.read @x : tensor<2x2xf32>
    %0 = hfta.kernel "shared"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<2x2xf32>):
      %1 = hfta.neg %a : tensor<2x2xf32>
      hfta.yield %1 : tensor<2x2xf32>
    }
    hfta.write %0, @y : tensor<2x2xf32>
    %2 = hfta.kernel "add"(%x, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
      %1 = hfta.add %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
      hfta.yield %1 : tensor<2x2xf32>
    }
    hfta.write %2, @x : tensor<2x2xf32>
    return
  }

  // Reshapes and stacks are places, not work; a copy's own place names the copy.
  // CHECK-LABEL: func.func @views(
  // CHECK: hfta.kernel "one"({{.*}}) {bindings = [#hfta.binding<0, 0, 64, 1>, #hfta.binding<1, 0, 64, 0>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "two"({{.*}}) {bindings = [#hfta.binding<0, 0, 64, 0>, #hfta.binding<1, 0, 64, 1>], ties = array<i64: -1>}
  // CHECK: hfta.kernel "both"({{.*}}) {bindings = [#hfta.binding<1, 0, 64>, #hfta.binding<0, 320, 64>], ties = array<i64: -1>}
  func.func @views() attributes {hfta.task = #hfta.task<forward, 3>} {
    %w1 = hfta.read @w copy 1 : tensor<2x2xf32>
    %flat = hfta.reshape %w1 to [4] : tensor<2x2xf32>
    %0 = hfta.kernel "one"(%flat) : (tensor<4xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = hfta.reshape %a to [2, 2] : tensor<4xf32>
      hfta.yield %1 : tensor<2x2xf32>
    }
    %w0 = hfta.read @w copy 0 : tensor<2x2xf32>
    %2 = hfta.kernel "two"(%w0) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<2x2xf32>):
      hfta.yield %a : tensor<2x2xf32>
    }
    %s = hfta.stack %0, %2 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32, #hfta.copies<2>>
    %3 = hfta.kernel "both"(%s) : (tensor<2x2xf32, #hfta.copies<2>>) -> tensor<2x2xf32, #hfta.copies<2>> {
    ^bb0(%a: tensor<2x2xf32>):
      hfta.yield %a : tensor<2x2xf32>
    }
    hfta.write %3, @y : tensor<2x2xf32, #hfta.copies<2>>
    return
  }
}

// -----

// Values that live within a step lie in slabs, scalars too; shared values of
// the same roles have segments of their own.
// CHECK: module attributes {hfta.segments = [
// CHECK-SAME: #hfta.segment<gradient, 0, 256 bytes, 1 instances, 128 a copy>,
// CHECK-SAME: #hfta.segment<gradient, 0, 64 bytes, 1 instances>,
// CHECK-SAME: #hfta.segment<cut, 1, 128 bytes, 1 instances, 64 a copy>]
module {
  // CHECK: @w {{.*}}location = #hfta.binding<0, 0, 128>
  hfta.variable @w {role = #hfta.role<gradient>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @shared {{.*}}location = #hfta.binding<1, 0, 0>
  hfta.variable @shared {role = #hfta.role<gradient>, block = 0 : i64} : tensor<4xf32>
  // CHECK: @scale {{.*}}location = #hfta.binding<0, 64, 128>
  hfta.variable @scale {role = #hfta.role<gradient>, block = 0 : i64} : tensor<f32, #hfta.copies<2>>
  // CHECK: @cut {{.*}}location = #hfta.binding<2, 0, 64>
  hfta.variable @cut {role = #hfta.role<cut>, block = 1 : i64} : tensor<4xf32, #hfta.copies<2>>
}

// -----

// An op that adds to an operand, element by element, does so in place; one that
// reads what it replaces otherwise, too, doesn't.
module {
  hfta.variable @sum {role = #hfta.role<parameter>} : tensor<1x3xf32, #hfta.copies<2>>
  hfta.variable @one {role = #hfta.role<parameter>} : tensor<1x1xf32, #hfta.copies<2>>
  hfta.variable @x {role = #hfta.role<parameter>} : tensor<8x2xf32>

  // CHECK-LABEL: func.func @added_in_place(
  // CHECK: hfta.kernel "moment"({{.*}}) {bindings = [#hfta.binding<0, [[X:[0-9]+]], 0>, #hfta.binding<0, [[SUM:[0-9]+]], 64>], ties = array<i64: 1>}
  func.func @added_in_place() attributes {hfta.task = #hfta.task<update, 0>} {
    %x = hfta.read @x : tensor<8x2xf32>
    %sum = hfta.read @sum : tensor<1x3xf32, #hfta.copies<2>>
    %0 = hfta.kernel "moment"(%x, %sum) : (tensor<8x2xf32>, tensor<1x3xf32, #hfta.copies<2>>) -> tensor<1x3xf32, #hfta.copies<2>> {
    ^bb0(%a: tensor<8x2xf32>, %b: tensor<1x3xf32>):
      %1 = hfta.second_moment %a, %b blocks [] columns [1] scale 1.0 : tensor<8x2xf32>, tensor<1x3xf32>
      hfta.yield %1 : tensor<1x3xf32>
    }
    hfta.write %0, @sum : tensor<1x3xf32, #hfta.copies<2>>
    return
  }

  // CHECK-LABEL: func.func @multiplied_too(
  // CHECK: hfta.kernel "moment"({{.*}}) {{.*}}ties = array<i64: -1>}
  // CHECK: hfta.kernel "copy"
  func.func @multiplied_too() attributes {hfta.task = #hfta.task<update, 1>} {
    %one = hfta.read @one : tensor<1x1xf32, #hfta.copies<2>>
    %0 = hfta.kernel "moment"(%one) : (tensor<1x1xf32, #hfta.copies<2>>) -> tensor<1x1xf32, #hfta.copies<2>> {
    ^bb0(%a: tensor<1x1xf32>):
      %1 = hfta.second_moment %a, %a blocks [] columns [1] scale 1.0 : tensor<1x1xf32>, tensor<1x1xf32>
      hfta.yield %1 : tensor<1x1xf32>
    }
    hfta.write %0, @one : tensor<1x1xf32, #hfta.copies<2>>
    return
  }
}

// -----

// Values without memory of their own are in segments of pages: apart by residency, too.
// CHECK: hfta.segments = [
// CHECK-SAME: #hfta.segment<saved, 0, 8192 bytes, 1 instances, 4096 a copy(spilled)>,
// CHECK-SAME: #hfta.segment<saved, 0, 8192 bytes, 1 instances, 4096 a copy(transient)>,
// CHECK-SAME: #hfta.segment<saved, 0, 128 bytes, 1 instances, 64 a copy>,
// CHECK-SAME: #hfta.segment<parameter, 0, 8192 bytes, 1 instances, 4096 a copy(spilled)>]
module {
  // CHECK: @a {{.*}}location = #hfta.binding<0, 0, 4096>
  hfta.variable @a {role = #hfta.role<saved>, block = 0 : i64, residency = #hfta.residency<spilled>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @b {{.*}}location = #hfta.binding<0, 64, 4096>
  hfta.variable @b {role = #hfta.role<saved>, block = 0 : i64, residency = #hfta.residency<spilled>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @c {{.*}}location = #hfta.binding<1, 0, 4096>
  hfta.variable @c {role = #hfta.role<saved>, block = 0 : i64, residency = #hfta.residency<transient>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @d {{.*}}location = #hfta.binding<2, 0, 64>
  hfta.variable @d {role = #hfta.role<saved>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @w {{.*}}location = #hfta.binding<3, 0, 4096>
  hfta.variable @w {role = #hfta.role<parameter>, block = 0 : i64, residency = #hfta.residency<spilled>} : tensor<4xf32, #hfta.copies<2>>
}

// -----

// Where the target puts state in slabs, the copies' state lies in slabs, too, and the state
// that they share lies separately.
// SLABS: module @slabs attributes {hfta.segments = [
// SLABS-SAME: #hfta.segment<parameter, 0, 256 bytes, 1 instances, 128 a copy>,
// SLABS-SAME: #hfta.segment<parameter, 0, 64 bytes, 1 instances>,
// SLABS-SAME: #hfta.segment<optimizer_state, 0, 128 bytes, 1 instances, 64 a copy>,
// SLABS-SAME: #hfta.segment<output, -1, 128 bytes, 1 instances>]
module @slabs {
  // SLABS: @slabs_a {{.*}}location = #hfta.binding<0, 0, 128>
  hfta.variable @slabs_a {role = #hfta.role<parameter>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // SLABS: @slabs_b {{.*}}location = #hfta.binding<0, 64, 128>
  hfta.variable @slabs_b {role = #hfta.role<parameter>, block = 0 : i64} : tensor<f32, #hfta.copies<2>>
  // SLABS: @slabs_shared {{.*}}location = #hfta.binding<1, 0, 0>
  hfta.variable @slabs_shared {role = #hfta.role<parameter>, block = 0 : i64} : tensor<4xf32>
  // SLABS: @slabs_state {{.*}}location = #hfta.binding<2, 0, 64>
  hfta.variable @slabs_state {role = #hfta.role<optimizer_state>, block = 0 : i64} : tensor<4xf32, #hfta.copies<2>>
  // SLABS: @slabs_out {{.*}}location = #hfta.binding<3, 0, 64>
  hfta.variable @slabs_out {role = #hfta.role<output>} : tensor<4xf32, #hfta.copies<2>>
}
