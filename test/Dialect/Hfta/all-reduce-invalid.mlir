// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.all_reduce, C1.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{names no task: @"task/other"}}
    hfta.all_reduce @"task/other" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C1.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{adds with @"task/forward.0", which doesn't add segment 1 to segment 0}}
    hfta.all_reduce @"task/forward.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C2.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{must add up whole blocks of 4096 bytes, got 6000 bytes}}
    hfta.all_reduce @"task/combine.0" 6000 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C2.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{must add up whole blocks of 0 bytes, got 8192 bytes}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C2.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{ends at byte 12288 of segment 0, which has 8192}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 4096, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C3.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 0, 0, 4096>}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<host, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C4.
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
  hfta.schedule @step keeps [0] {
    hfta.repeat micro_batches {
      // expected-error @+1 {{stands in a repeat over micro_batches, which ranks repeat different numbers of times}}
      hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    }
  }
}

// -----

// hfta.all_reduce, C4: of what is resident.
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
  hfta.schedule @step keeps [0] {
    hfta.repeat turns of 1 {
      // expected-error @+1 {{stands in a repeat over turns, which ranks repeat different numbers of times}}
      hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    }
  }
}

// -----

// hfta.all_reduce, C4: of turns whose number of copies the host chooses.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    hfta.repeat turns {
      // expected-error @+1 {{stands in a repeat over turns, which ranks repeat different numbers of times}}
      hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
    }
  }
}

// -----

// hfta.all_reduce, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<parameter, 0, 8192 bytes, 2 instances>,
    #hfta.segment<received, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{adds up one instance for each group, but segment 0 has role parameter}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<cut, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{expected a segment of role received to receive in, got segment 1 of role cut}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.schedule, C3: what groups have summed outlives turns.
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
  // expected-error @+1 {{must keep segment 0}}
  hfta.schedule @step keeps [] {
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_reduce, C5.
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
  hfta.schedule @step keeps [0] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.all_reduce @"task/combine.0" 8192 at #hfta.place<segment, 0, 0, 4096> through #hfta.place<segment, 1, 0>
  }
}
