// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-schedule | FileCheck %s

// A task may run for some copies, then for others, if each copy computes from
// its own and from shared values, and what it shares comes from the data.
// CHECK: hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1, 3] writes [2, 3] by_copies {
// CHECK-NOT: joins
// A value that all share is read from a parameter: it may be expensive to repeat.
// CHECK: hfta.task @"task/forward.1" part "forward" block 1 reads [1] writes [3] {
// This one is updated, or belongs to another copy.
// CHECK: hfta.task @"task/backward.0" {{.*}} writes [2, 3] {
// CHECK: hfta.task @"task/update.0" {{.*}} writes [3] {
// A copy's own launches run with it; neighbours that run once a copy are joined.
// CHECK: hfta.task @"task/evaluate" {{.*}} by_copies {
// CHECK-NEXT: hfta.launch {{.*}} {copy = 1 : i64}
// CHECK-NEXT: hfta.launch {{.*}} {per_copy}
// CHECK-NEXT: hfta.launch {{.*}} {joins, per_copy}
// CHECK-NEXT: hfta.launch {{.*}} {copy = 0 : i64}
// CHECK-NEXT: hfta.launch {{.*}} {per_copy}
// CHECK: hfta.task @"task/infer" {{.*}} by_copies {

// Tasks that need all copies run outside of turns, and there each copy has slabs
// of its own.
// CHECK: hfta.schedule @step keeps [] {
// CHECK-NOT: hfta.repeat turns
// CHECK: hfta.run @"task/backward.0"
// CHECK: hfta.schedule @evaluate keeps [] {
// CHECK: hfta.repeat turns {
// CHECK-NEXT: hfta.run @"task/evaluate"
// CHECK-NEXT: }
// CHECK: hfta.schedule @infer keeps [] {
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", optimizers = [{name = "sgd"}]},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<parameter, 0, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 128 bytes, 1 instances>,
    #hfta.segment<saved, 0, 128 bytes, 1 instances, 64 a copy>]} {
  llvm.func internal @"kernel/copy.0"(!llvm.ptr) attributes {hfta.items = 1 : i64, hfta.scratch_bytes = 0 : i64} {
  ^bb0(%a: !llvm.ptr):
    llvm.return
  }
  llvm.func @"kernel/copy.0/entry"(!llvm.ptr, i64, !llvm.ptr) {
  ^bb0(%a: !llvm.ptr, %b: i64, %c: !llvm.ptr):
    llvm.return
  }
  func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<3, 64, 0>] inputs 1 written [1]
    hfta.launch @"kernel/copy.0" on [#hfta.binding<3, 64, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
    hfta.launch @"kernel/copy.0" on [#hfta.binding<1, 0, 8>, #hfta.binding<3, 0, 8>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/forward.1"() attributes {hfta.task = #hfta.task<forward, 1>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<1, 0, 0>, #hfta.binding<3, 64, 0>] inputs 1 written [1]
    hfta.launch @"kernel/copy.0" on [#hfta.binding<1, 0, 8>, #hfta.binding<3, 0, 8>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<2, 0, 0>] inputs 1 written [0]
    hfta.launch @"kernel/copy.0" on [#hfta.binding<1, 0, 8>, #hfta.binding<3, 0, 8>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<2, 0, 0>, #hfta.binding<3, 64, 0>] inputs 1 written [1] {hfta.reads_copies}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<1, 0, 8>, #hfta.binding<3, 0, 8>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/evaluate"() attributes {hfta.task = #hfta.task<evaluate, -1>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<4, 0, 64, 1>] inputs 1 written [1] {copy = 1 : i64}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<4, 0, 64>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<4, 0, 64>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<4, 0, 64, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1] {copy = 0 : i64}
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<4, 0, 64>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
    hfta.launch @"kernel/copy.0" on [#hfta.binding<0, 0, 0>, #hfta.binding<4, 0, 64>] inputs 1 written [1] {per_copy}
    return
  }
}
