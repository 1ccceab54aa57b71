// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.all_gather, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 1, 0>}}
    hfta.all_gather 64 at #hfta.place<host, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_gather, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [2] {
    // expected-error @+1 {{expected a segment of role exchange, got segment 2 of role workspace}}
    hfta.all_gather 64 at #hfta.place<segment, 2, 0> {queue = 2}
  }
}

// -----

// hfta.all_gather, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'bytes' of at least 1, got 0}}
    hfta.all_gather 0 at #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_gather, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{ends at byte 9000 of segment 1, which has 8192}}
    hfta.all_gather 9000 at #hfta.place<segment, 1, 0> {queue = 2}
  }
}

// -----

// hfta.all_gather, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
    // expected-error @+1 {{stands in a repeat over micro_batches}}
    hfta.all_gather 64 at #hfta.place<segment, 1, 0> {queue = 2}
    }
  }
}

// -----

// hfta.all_gather, C4.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, groups = 2 : i64,
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>,
    #hfta.segment<exchange, -1, 8192 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
  func.func private @k(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 1] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 1] writes [2] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 4096>, #hfta.binding<2, 0, 4096>] inputs 2 written [2] {per_copy}
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.all_gather 64 at #hfta.place<segment, 1, 0>
  }
}
