// RUN: hfta-opt %s | hfta-opt | FileCheck %s

// The segments and commands of only some replicas, and their broadcasts.

// CHECK: hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
// CHECK-SAME: #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>,
// CHECK-SAME: #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>]
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>]} {
  // CHECK: hfta.variable @f {block = 0 : i64, holders = #hfta.replicas<0, 2, 1>, role = #hfta.role<curvature>}
  hfta.variable @f {block = 0 : i64, holders = #hfta.replicas<0, 2, 1>, role = #hfta.role<curvature>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  // CHECK: hfta.task = #hfta.task<invert, 3, <1, 1, 1>>
  func.func @"task/invert.3.on_1"() attributes {hfta.task = #hfta.task<invert, 3, <1, 1, 1>>} {
    return
  }
  // CHECK: hfta.task @"task/invert.0.on_1" part "invert" block 0 replicas <1, 1, 1> reads [0] writes [1] by_copies
  hfta.task @"task/invert.0.on_1" part "invert" block 0 replicas <1, 1, 1> reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0" part "norm" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  // CHECK: hfta.schedule @step keeps [0, 2] {
  // CHECK-NEXT: hfta.take_group 1 128 at <segment, 2, 64, 4096>
  // CHECK-NEXT: hfta.only <1, 1, 1> {
  // CHECK-NEXT: hfta.every "period" {
  // CHECK-NEXT: hfta.run @"task/invert.0.on_1"
  // CHECK-NEXT: }
  // CHECK-NEXT: hfta.repeat turns {
  // CHECK-NEXT: hfta.run @"task/norm.0"
  // CHECK-NEXT: }
  // CHECK-NEXT: hfta.record 3
  // CHECK-NEXT: }
  // CHECK-NEXT: hfta.every "period" for any {
  // CHECK-NEXT: hfta.broadcast_bytes 64 at <segment, 1, 0> from <1, 1, 1> to <0, 2, 1> {queue = 2 : i64}
  // CHECK-NEXT: }
  // CHECK-NEXT: hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <1, 2, 2> to <0, 4, 1> {queue = 2 : i64}
  hfta.schedule @step keeps [0, 2] {
    hfta.take_group 1 128 at <segment, 2, 64, 4096>
    hfta.only <1, 1, 1> {
      hfta.every "period" {
        hfta.run @"task/invert.0.on_1"
      }
      hfta.repeat turns {
        hfta.run @"task/norm.0"
      }
      hfta.record 3
    }
    hfta.every "period" for any {
      hfta.broadcast_bytes 64 at #hfta.place<segment, 1, 0> from #hfta.replicas<1, 1, 1> to #hfta.replicas<0, 2, 1> {queue = 2 : i64}
    }
    hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <1, 2, 2> to <0, 4, 1> {queue = 2 : i64}
  }
}
