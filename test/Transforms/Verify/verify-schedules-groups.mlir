// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// Groups are added up after both micro-batches, and used after that.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
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
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 2
    }
    hfta.await 2 {queue = 2}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 3 {queue = 2}
    hfta.await 3
    hfta.run @"task/backward.0"
  }
}

// -----

// Backward may still be writing.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
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
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 2
    }
    // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be reading}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// The sums may not have arrived yet.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
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
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 2
    }
    hfta.await 2 {queue = 2}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 3 {queue = 2}
    // expected-error @+1 {{reads bytes of segment 0 that queue 2 may still be writing}}
    hfta.run @"task/backward.0"
  }
}

// -----

// Two queues receive in one place.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
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
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
      hfta.record 2
    }
    hfta.await 2 {queue = 2}
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.await 2 {queue = 3}
    // expected-error @+1 {{writes bytes of segment 1 that queue 2 may still be writing}}
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 4096, 4096> through #hfta.place<segment, 1, 0> {queue = 3}
  }
}

// -----

// Results are cleared, added to, added up, and given to the host.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine_results" 4096 at #hfta.place<segment, 2, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.transfer 4096 from #hfta.place<segment, 2, 0> to #hfta.place<host, 2, 0> {queue = 2}
  }
}

// -----

// A bucket is left out.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    // expected-error @+1 {{'hfta.run' op reads sums in segment 0 that no hfta.all_reduce has added up}}
    hfta.run @"task/backward.0" {queue = 2}
  }
}

// -----

// A bucket is added up twice.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    // expected-error @+1 {{'hfta.all_reduce' op adds up sums in segment 0 that are already complete}}
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 4096, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// They are added up before the backward of the last micro-batch.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op adds to sums in segment 0 that are already complete}}
      hfta.run @"task/backward.0" {queue = 2}
    }
  }
}

// -----

// Ranks may meet in two orders.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
    }
    hfta.record 2
    hfta.await 2 {queue = 2}
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.await 2 {queue = 3}
    // expected-error @+1 {{'hfta.all_reduce' op exchanges with other ranks while queue 2 may still do so}}
    hfta.all_reduce @"task/combine.1" 4096 at #hfta.place<segment, 0, 4096, 4096> through #hfta.place<segment, 3, 0> {queue = 3}
  }
}

// -----

// An event has them meet in one.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
    }
    hfta.record 2
    hfta.await 2 {queue = 2}
    hfta.all_reduce @"task/combine.0" 4096 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.record 3 {queue = 2}
    hfta.await 3 {queue = 3}
    hfta.all_reduce @"task/combine.1" 4096 at #hfta.place<segment, 0, 4096, 4096> through #hfta.place<segment, 3, 0> {queue = 3}
  }
}

// -----

// Blocks are the task's.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    // expected-error @+1 {{'hfta.all_reduce' op must add up the blocks that task @"task/combine.0" adds, got 8192 bytes}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 2048> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// Each group has its sum.
// expected-error @+1 {{segment 0 of role gradient must have 2 instances, got 3}}
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 3 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// A value of no group is no sum of one.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 1 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op adds to 2 groups' sums in segment 2, which has 1 instances}}
      hfta.run @"task/forward.0" {queue = 2}
    }
  }
}

// -----

// Results of the step before are in the way.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op adds to sums in segment 2 that are already complete, or were not cleared}}
      hfta.run @"task/forward.0" {queue = 2}
    }
  }
}

// -----

// Results are lost.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    // expected-error @+1 {{'hfta.fill' op clears sums in segment 2 to which tasks have already added}}
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
  }
}

// -----

// The host gets one sum of two.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    // expected-error @+1 {{'hfta.transfer' op reads sums in segment 2 that no hfta.all_reduce has added up}}
    hfta.transfer 4096 from #hfta.place<segment, 2, 0> to #hfta.place<host, 2, 0> {queue = 2}
  }
}

// -----

// The group of a value differs by rank.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine_results" 4096 at #hfta.place<segment, 2, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.transfer' op copies only one group's sums to the host, from segment 2}}
      hfta.transfer 4096 from #hfta.place<segment, 2, 0> to #hfta.place<host, 2, 0> {queue = 2}
    }
  }
}

// -----

// The host reads a place that doesn't hold the value.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine_results" 4096 at #hfta.place<segment, 2, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    // expected-error @+1 {{'hfta.transfer' op must copy to the same place as}}
    hfta.transfer 4096 from #hfta.place<segment, 2, 0> to #hfta.place<host, 0, 0> {queue = 2}
  }
}

// -----

// In steps that no period divides, nothing adds them up.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    hfta.every "period" {
      hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    }
    // expected-error @+1 {{'hfta.run' op reads sums in segment 0 that no hfta.all_reduce has added up}}
    hfta.run @"task/backward.0" {queue = 2}
  }
}

// -----

// And nothing uses the sums.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0" {queue = 2}
    }
    hfta.every "period" {
      hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
      hfta.run @"task/backward.0" {queue = 2}
    }
  }
}

// -----

// Ranks send each other values that both have written.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", replicas = array<i64: 2>, training = false},
    hfta.segments = [#hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<exchange, 0, 64 bytes, 2 instances>,
    #hfta.segment<statistics, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/statistics.0" part "statistics" block 0 reads [1] writes [2] {
    hfta.launch @k on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_gather 64 at #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat all_micro_batches {
      hfta.run @"task/statistics.0" {queue = 2}
    }
  }
}

// -----

// The other rank has the value.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", replicas = array<i64: 2>, training = false},
    hfta.segments = [#hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<exchange, 0, 64 bytes, 2 instances>,
    #hfta.segment<statistics, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/statistics.0" part "statistics" block 0 reads [1] writes [2] {
    hfta.launch @k on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.repeat all_micro_batches {
      // expected-error @+1 {{reads the values of micro-batch 1 in segment 1, but nothing has written them}}
      hfta.run @"task/statistics.0" {queue = 2}
    }
  }
}

// -----

// It has sent half of it.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", replicas = array<i64: 2>, training = false},
    hfta.segments = [#hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<exchange, 0, 64 bytes, 2 instances>,
    #hfta.segment<statistics, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/statistics.0" part "statistics" block 0 reads [1] writes [2] {
    hfta.launch @k on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_gather 32 at #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat all_micro_batches {
      // expected-error @+1 {{reads the values of micro-batch 1 in segment 1, but nothing has written them}}
      hfta.run @"task/statistics.0" {queue = 2}
    }
  }
}

// -----

// It has sent it too early.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", replicas = array<i64: 2>, training = false},
    hfta.segments = [#hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<exchange, 0, 64 bytes, 2 instances>,
    #hfta.segment<statistics, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/statistics.0" part "statistics" block 0 reads [1] writes [2] {
    hfta.launch @k on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.all_gather' op sends the values of micro-batch 0 in segment 1, but nothing has written them}}
    hfta.all_gather 64 at #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
  }
}

// -----

// And it has changed it then.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", replicas = array<i64: 2>, training = false},
    hfta.segments = [#hfta.segment<constant, -1, 64 bytes, 1 instances>,
    #hfta.segment<exchange, 0, 64 bytes, 2 instances>,
    #hfta.segment<statistics, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/statistics.0" part "statistics" block 0 reads [1] writes [2] {
    hfta.launch @k on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_gather 64 at #hfta.place<segment, 1, 0> {queue = 2}
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op overwrites the values of micro-batch 0 in segment 1, which were already sent to other ranks}}
      hfta.run @"task/forward.0" {queue = 2}
    }
  }
}

// -----

// The host doesn't get the results.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  // expected-error @+1 {{'hfta.schedule' op leaves results in segment 2 that no hfta.transfer copies to the host}}
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0> {queue = 2}
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0" {queue = 2}
    }
    hfta.all_reduce @"task/combine_results" 4096 at #hfta.place<segment, 2, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// They aren't added up.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<result, -1, 4096 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.1" part "combine" block 1 reads [0, 3] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<3, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine_results" part "combine_results" block -1 reads [1, 2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<1, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [2] writes [2] {
    hfta.launch @k on [#hfta.binding<2, 0, 0>, #hfta.binding<2, 0, 0>] inputs 2 written [0]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [0] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<0, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  // expected-error @+1 {{'hfta.schedule' op leaves sums in segment 2 that no hfta.all_reduce has added up}}
  hfta.schedule @step keeps [0] {
    hfta.fill 4096 at #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      hfta.run @"task/forward.0"
    }
  }
}
