// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s -enable-var-scope

// CHECK: module attributes {hfta.segments = [#hfta.segment<parameter, 0, 128 bytes, 1 instances>, #hfta.segment<workspace, -1, 64 bytes, 1 instances>, #hfta.segment<saved, 0, 128 bytes, 4 instances, 64 a copy>]}
module attributes {hfta.segments = [#hfta.segment<parameter, 0, 128 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 128 bytes, 4 instances, 64 a copy>]} {
  // CHECK: hfta.variable @v {block = 0 : i64, location = #hfta.binding<0, 0, 64>, role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
  hfta.variable @v {role = #hfta.role<parameter>, block = 0 : i64,
      location = #hfta.binding<0, 0, 64>} : tensor<4xf32, #hfta.copies<2>>

  // CHECK-LABEL: func.func @copies(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
  func.func @copies(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[V:.*]] = hfta.read @v copy 1 : tensor<4xf32>
    %0 = hfta.read @v copy 1 : tensor<4xf32>
    // CHECK: hfta.write %[[X]], @v copy 0 : tensor<4xf32>
    hfta.write %x, @v copy 0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>} {
  func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>} {
    // CHECK: hfta.launch @"kernel/neg" on [#hfta.binding<0, 0, 64>] inputs 1 written [0] {per_copy}
    hfta.launch @"kernel/neg" on [#hfta.binding<0, 0, 64>] inputs 1 written [0] {per_copy}
    // CHECK: hfta.launch @"kernel/neg" on [#hfta.binding<1, 0, 0>] inputs 1 written [0]{{$}}
    hfta.launch @"kernel/neg" on [#hfta.binding<1, 0, 0>] inputs 1 written [0]
    return
  }

  // CHECK: func.func private @"kernel/neg"(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: 0>} {
  func.func private @"kernel/neg"(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {hfta.kernel, hfta.ties = array<i64: 0>} {
    %0 = hfta.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
