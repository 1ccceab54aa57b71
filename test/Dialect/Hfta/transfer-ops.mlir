// RUN: hfta-opt %s | hfta-opt | FileCheck %s

// Segments that have no memory of their own, and commands that give them places.
// CHECK: hfta.arena = 65536 : i64
// CHECK-SAME: #hfta.memory_plan<2 copies, [streamed, held, parameters, resident] gradients[0, 2]>
// CHECK-SAME: #hfta.memory_reserve<65536 bytes, 4096 a copy, 1 to 8 copies>
// CHECK-SAME: #hfta.segment<saved, 0, 8192 bytes, 4 instances, 4096 a copy(transient)>
// CHECK-SAME: #hfta.segment<parameter, 0, 4096 bytes, 1 instances for[1](spilled)>
// CHECK-SAME: #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy(spilled)>
module attributes {hfta.arena = 65536 : i64, hfta.memory_plan = #hfta.memory_plan<2 copies, [streamed, held, parameters, resident] gradients [0, 2]>, hfta.memory_reserve = #hfta.memory_reserve<65536 bytes, 4096 a copy, 1 to 8 copies>, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 4 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances for [1] (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  // CHECK: hfta.variable @w {residency = #hfta.residency<spilled>, role = #hfta.role<parameter>}
  hfta.variable @w {role = #hfta.role<parameter>, residency = #hfta.residency<spilled>} : tensor<4xf32>
  // CHECK: hfta.variable @v {role = #hfta.role<parameter>}
  hfta.variable @v {role = #hfta.role<parameter>, residency = #hfta.residency<resident>} : tensor<4xf32>
  // CHECK: hfta.relu %{{.*}} {hfta.keep = #hfta.keep<spill>}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = hfta.relu %x {hfta.keep = #hfta.keep<spill>} : tensor<4xf32>
    %1 = hfta.relu %0 {hfta.keep = #hfta.keep<save>} : tensor<4xf32>
    %2 = hfta.relu %1 {hfta.keep = #hfta.keep<recompute>} : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  // CHECK: hfta.schedule @step keeps [] {
  hfta.schedule @step keeps [] {
    // CHECK-NEXT: hfta.repeat turns of 1 {
    hfta.repeat turns of 1 {
      // CHECK-NEXT: hfta.fetch 2 at 0 contents stored {queue = 1 : i64}
      hfta.fetch 2 at 0 contents stored {queue = 1}
      // CHECK-NEXT: hfta.repeat micro_batches {
      hfta.repeat micro_batches {
        // CHECK-NEXT: hfta.fetch 0 at 4096 contents undefined {instances = 4 : i64}
        hfta.fetch 0 at 4096 contents undefined {instances = 4}
        // CHECK-NEXT: hfta.drop 0
        hfta.drop 0
        // CHECK-NEXT: hfta.fetch 1 at 20480 contents zeros {ahead = 1 : i64}
        hfta.fetch 1 at 20480 contents zeros {ahead = 1}
        // CHECK-NEXT: hfta.evict 1 {ahead = 1 : i64, queue = 2 : i64}
        hfta.evict 1 {ahead = 1, queue = 2}
      }
      // CHECK: hfta.drop 2 {device = 1 : i64}
      hfta.drop 2 {device = 1}
    }
  }
  // CHECK: hfta.schedule @infer keeps [2] {
  hfta.schedule @infer keeps [2] {
    // CHECK-NEXT: hfta.fetch 2 at 0 contents stored {queue = 1 : i64}
    hfta.fetch 2 at 0 contents stored {queue = 1}
  }
}
