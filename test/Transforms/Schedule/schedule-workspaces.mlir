// RUN: hfta-opt %s -hfta-schedule | FileCheck %s

// How far each task reaches into the workspaces: to the end of the last operand,
// of results too, in whole cache lines.
// CHECK: hfta.task @"task/forward.0" {{.*}} reads [0] writes [1] workspace [192] by_copies {
// CHECK: hfta.task @"task/evaluate" {{.*}} reads [0, 1] writes [1, 2] workspace [128, 64] by_copies {
// CHECK: hfta.task @"task/infer" {{.*}} reads [0] writes [0] by_copies {
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", optimizers = [{name = "sgd"}]},
    hfta.segments = [#hfta.segment<parameter, 0, 512 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 512 bytes, 1 instances, 256 a copy>,
    #hfta.segment<workspace, -1, 128 bytes, 1 instances>]} {
  func.func private @small(%a: tensor<10xf32>) -> tensor<10xf32> attributes {hfta.kernel} {
    return %a : tensor<10xf32>
  }
  func.func private @large(%a: tensor<20xf32>) -> tensor<20xf32> attributes {hfta.kernel} {
    return %a : tensor<20xf32>
  }
  func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
    hfta.launch @small on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 64, 256>] inputs 1 written [1] {per_copy}
    hfta.launch @large on [#hfta.binding<0, 0, 128>, #hfta.binding<1, 64, 256>] inputs 1 written [1] {per_copy}
    return
  }
  func.func @"task/evaluate"() attributes {hfta.task = #hfta.task<evaluate, -1>} {
    hfta.launch @large on [#hfta.binding<0, 0, 128>, #hfta.binding<1, 0, 256>] inputs 1 written [1] {per_copy}
    hfta.launch @small on [#hfta.binding<1, 0, 256, 1>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
    return
  }
  func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
    hfta.launch @small on [#hfta.binding<0, 0, 64>] inputs 1 written [0] {per_copy}
    return
  }
}
