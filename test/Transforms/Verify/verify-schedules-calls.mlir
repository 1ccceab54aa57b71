// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// Sums are added up when the last micro-batch, if there is any, has been.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    replicas = array<i64: 2>, micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<result, -1, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @evaluate keeps [0] {
    hfta.fill 8192 at #hfta.place<segment, 0, 0>
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.transfer 8192 from #hfta.place<segment, 0, 0> to #hfta.place<host, 0, 0>
  }
}

// -----

// A rank without one doesn't wait.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    replicas = array<i64: 2>, micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<result, -1, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @evaluate keeps [0] {
    hfta.fill 8192 at #hfta.place<segment, 0, 0>
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 3
    }
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be writing}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.transfer 8192 from #hfta.place<segment, 0, 0> to #hfta.place<host, 0, 0>
  }
}

// -----

// Steps have a micro-batch for each rank.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    replicas = array<i64: 2>, micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<result, -1, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 8192 at #hfta.place<segment, 0, 0>
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 3
    }
    hfta.await 3 {queue = 2}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.transfer 8192 from #hfta.place<segment, 0, 0> to #hfta.place<host, 0, 0>
  }
}

// -----

// An event that a second turn of copies awaits isn't recorded if they have one turn.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
    hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 2 instances>,
    #hfta.segment<parameter, 0, 64 bytes, 1 instances>,
    #hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @number {instances = 2 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<micro_batch>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/init.0" part "init" block 0 reads [2] writes [1] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/spare.0" part "init" block 0 reads [3] writes [3] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<3, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @update keeps [] {
    hfta.run @"task/init.0" {queue = 1}
    hfta.repeat turns {
      hfta.await 5
      hfta.record 5 {queue = 1}
    }
    // expected-error @+1 {{writes bytes of segment 1 that queue 1 may still be writing}}
    hfta.run @"task/init.0"
  }
}

// -----

// An event that the first turn awaits.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
    hfta.segments = [#hfta.segment<scalar, -1, 64 bytes, 2 instances>,
    #hfta.segment<parameter, 0, 64 bytes, 1 instances>,
    #hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @number {instances = 2 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<micro_batch>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/init.0" part "init" block 0 reads [2] writes [1] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/spare.0" part "init" block 0 reads [3] writes [3] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<3, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @update keeps [] {
    hfta.run @"task/init.0" {queue = 1}
    hfta.repeat turns {
      hfta.record 5 {queue = 1}
      hfta.await 5
    }
    hfta.run @"task/init.0"
  }
}
