// RUN: hfta-opt %s | hfta-opt | FileCheck %s

// CHECK: hfta.task @"task/update.0" part "update" block -1 reads [0] writes [1] by_copies {
// CHECK-NEXT: hfta.launch @k on [#hfta.binding<0, 0, 0, 1>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {copy = 1 : i64}
// CHECK-NEXT: {per_copy}
// CHECK-NEXT: {joins, per_copy}
// CHECK: hfta.schedule @step keeps [1] {
// CHECK-NEXT: hfta.fill 64 at <segment, 1, 0> {queue = 2 : i64}
// CHECK-NEXT: hfta.record 3 {device = 1 : i64, queue = 2 : i64}
// CHECK-NEXT: hfta.await 3
// CHECK-NEXT: hfta.repeat micro_batches {
// CHECK-NEXT: hfta.transfer 16 from <field, 1, 0> to <segment, 0, 32> {ahead = 1 : i64}
// CHECK-NEXT: hfta.repeat turns {
// CHECK-NEXT: hfta.every "period" {
// CHECK-NEXT: hfta.run @"task/update.0"
// CHECK-NEXT: }
// CHECK-NEXT: hfta.every "period" for others {
// CHECK-NEXT: hfta.run @"task/update.0"
// CHECK: hfta.every "period" for any {
// CHECK-NEXT: hfta.every "period" {
// CHECK: hfta.every "period" for none {
// CHECK: hfta.transfer 8 from <segment, 1, 0, 16> to <host, 1, 0, 16>
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/update.0" part "update" block -1 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 0, 1>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {copy = 1 : i64}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 4>] inputs 1 written [1] {per_copy}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 4>] inputs 1 written [1] {joins, per_copy}
  }
  hfta.schedule @step keeps [1] {
    hfta.fill 64 at #hfta.place<segment, 1, 0> {queue = 2 : i64}
    hfta.record 3 {device = 1 : i64, queue = 2 : i64}
    hfta.await 3
    hfta.repeat micro_batches {
      hfta.transfer 16 from #hfta.place<field, 1, 0> to #hfta.place<segment, 0, 32> {ahead = 1 : i64}
      hfta.repeat turns {
        hfta.every "period" {
          hfta.run @"task/update.0"
        }
        hfta.every "period" for others {
          hfta.run @"task/update.0"
        }
      }
    }
    hfta.every "period" for any {
      hfta.every "period" for due {
        hfta.run @"task/update.0"
      }
    }
    hfta.every "period" for none {
      hfta.run @"task/update.0"
    }
    hfta.transfer 8 from #hfta.place<segment, 1, 0, 16> to #hfta.place<host, 1, 0, 16>
  }
}
