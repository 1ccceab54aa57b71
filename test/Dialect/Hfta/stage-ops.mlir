// RUN: hfta-opt %s | hfta-opt | FileCheck %s

// The messages between workers of several stages, and the order in which they
// do their micro-batches.
// CHECK: #hfta.segment<cut, 0, 4096 bytes, 2 instances for[1]>
// CHECK-SAME: #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for[1, 3]>
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  // CHECK: hfta.schedule @step.0 stage 0 keeps [1] {
  hfta.schedule @step.0 stage 0 keeps [1] {
    // CHECK-NEXT: hfta.actions order [0, 0, 0, 1] {
    hfta.actions order [0, 0, 0, 1] {
      // CHECK-NEXT: hfta.case 0 {
      hfta.case 0 {
        // CHECK-NEXT: hfta.await 4 {instances = 2 : i64, queue = 3 : i64}
        hfta.await 4 {instances = 2, queue = 3}
        // CHECK-NEXT: hfta.send 4096 at <segment, 0, 0> to stage 1 {queue = 3 : i64}
        hfta.send 4096 at #hfta.place<segment, 0, 0> to stage 1 {queue = 3}
      }
    }
    hfta.send 64 at #hfta.place<segment, 1, 0> to stage 1 {queue = 3}
  }
  // CHECK: hfta.schedule @step.1 stage 1 keeps [1] {
  hfta.schedule @step.1 stage 1 keeps [1] {
    hfta.actions order [0, 0, 0, 1] {
      hfta.case 0 {
        // CHECK: hfta.receive 4096 at <segment, 0, 0> from stage 0 {ahead = 1 : i64, queue = 4 : i64}
        hfta.receive 4096 at #hfta.place<segment, 0, 0> from stage 0 {queue = 4, ahead = 1}
        // CHECK-NEXT: hfta.record 6 {ahead = 1 : i64, instances = 2 : i64, queue = 4 : i64}
        hfta.record 6 {queue = 4, ahead = 1, instances = 2}
      }
    }
    // CHECK: hfta.receive 64 at <segment, 1, 0> from stage 0 {queue = 4 : i64}
    hfta.receive 64 at #hfta.place<segment, 1, 0> from stage 0 {queue = 4}
  }
}
