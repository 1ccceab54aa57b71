// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.task, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{needs a part}}
  hfta.task @t part "" block 0 reads [] writes [] {
  }
}

// -----

// hfta.task, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{expected the number of a block, or -1, got -2}}
  hfta.task @t part "p" block -2 reads [] writes [] {
  }
}

// -----

// hfta.task, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{reads must number segments in ascending order, got 0 after 1}}
  hfta.task @t part "p" block 0 reads [1, 0] writes [] {
  }
}

// -----

// hfta.task, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{writes segment 2, there are 2}}
  hfta.task @t part "p" block 0 reads [] writes [2] {
  }
}

// -----

// hfta.task, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{must list the segments that its launches read}}
  hfta.task @t part "p" block 0 reads [] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
}

// -----

// hfta.task, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{must list the segments that its launches write}}
  hfta.task @t part "p" block 0 reads [0] writes [0, 1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
}

// -----

// hfta.task, C4.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @t part "p" block 0 reads [] writes [] {
    // expected-error @+1 {{'hfta.constant' op stands in a task, which may hold only launches}}
    %0 = hfta.constant dense<0.0> : tensor<4xf32>
  }
}

// -----

// hfta.task, C5.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{touches 1 segments of role 'workspace', but lists the bytes of 2}}
  hfta.task @t part "p" block 0 reads [0] writes [1] workspace [64, 64] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
}

// -----

// hfta.task, C5.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{needs 65 bytes of segment 1, which has 64}}
  hfta.task @t part "p" block 0 reads [0] writes [1] workspace [65] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
}

// -----

// hfta.task, C5.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @t part "p" block 0 reads [0] writes [1] workspace [16] {
    // expected-error @+1 {{is at byte 32 of segment 1, of which its task needs 16}}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 32, 0>] inputs 1 written [1]
  }
}

// -----

// hfta.launch, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @t part "p" block 0 reads [] writes [1] {
    // expected-error @+1 {{reads 3 of 2 bindings}}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 3 written [1]
  }
}

// -----

// hfta.launch, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @t part "p" block 0 reads [] writes [1] {
    // expected-error @+1 {{writes binding 2, but there are 2}}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [2]
  }
}

// -----

// hfta.launch, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @t part "p" block 0 reads [] writes [1] {
    // expected-error @+1 {{is for copy 1 alone and so can't run once per copy}}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy, copy = 1}
  }
}

// -----

// hfta.launch, C4.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @t part "p" block 0 reads [] writes [1] {
    // expected-error @+1 {{joins a launch, but none stands before it}}
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {joins}
  }
}

// -----

// hfta.schedule, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{keeps must number segments in ascending order, got 1 after 1}}
  hfta.schedule @step keeps [1, 1] {
  }
}

// -----

// hfta.schedule, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.constant' op stands in a schedule, which may hold only commands}}
    %0 = hfta.constant dense<0.0> : tensor<4xf32>
  }
}

// -----

// hfta.schedule, C3. A segment that forward saves for another turn.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 128 bytes, 1 instances, 64 a copy>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [1] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<0, 0, 64>] inputs 1 written [1] {per_copy}
  }
  // expected-error @+1 {{must keep segment 1: its slabs outlive a turn of copies}}
  hfta.schedule @step keeps [] {
    hfta.repeat turns {
      hfta.run @"task/forward.0"
    }
    hfta.repeat turns {
      hfta.run @"task/backward.0"
    }
  }
}

// -----

// hfta.schedule, C3. All copies use it together.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 128 bytes, 1 instances, 64 a copy>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [1] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<0, 0, 64>] inputs 1 written [1] {per_copy}
  }
  // expected-error @+1 {{must keep segment 1: its slabs outlive a turn of copies}}
  hfta.schedule @step keeps [] {
    hfta.run @"task/forward.0"
    hfta.run @"task/backward.0"
  }
}

// -----

// hfta.schedule, C3. Gradients wait for @update.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<gradient, 0, 128 bytes, 1 instances, 64 a copy>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>] inputs 1 written [1] {per_copy}
  }
  // expected-error @+1 {{must keep segment 1: its slabs outlive a turn of copies}}
  hfta.schedule @accumulate keeps [] {
    hfta.repeat turns {
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// hfta.run, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{names no task: @k}}
    hfta.run @k
  }
}

// -----

// hfta.run, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a device and a queue, got 0 and -1}}
    hfta.run @"task/forward.0" {queue = -1}
  }
}

// -----

// hfta.run, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat turns {
      // expected-error @+1 {{stands in turns, but task @"task/forward.0" can't run by copies}}
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// hfta.run, C4.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{stands in no schedule, nor in a command that contains commands}}
  hfta.run @"task/forward.0"
}

// -----

// hfta.transfer, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'bytes' of at least 1, got 0}}
    hfta.transfer 0 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0>
  }
}

// -----

// hfta.transfer, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{which belongs to the caller}}
    hfta.transfer 8 from #hfta.place<segment, 0, 0> to #hfta.place<field, 0, 0>
  }
}

// -----

// hfta.transfer, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{must begin or end in a segment}}
    hfta.transfer 8 from #hfta.place<port, 0, 0> to #hfta.place<host, 0, 0>
  }
}

// -----

// hfta.transfer, C4.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'ahead' of at least 0, got -1}}
    hfta.transfer 8 from #hfta.place<port, 0, 0> to #hfta.place<segment, 0, 0> {ahead = -1}
  }
}

// -----

// hfta.transfer, C5.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{ends at byte 72 of segment 0, which has 64}}
    hfta.transfer 8 from #hfta.place<port, 0, 0> to #hfta.place<segment, 0, 64>
  }
}

// -----

// hfta.transfer, C5.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{there are 2 segments}}
    hfta.transfer 8 from #hfta.place<port, 0, 0> to #hfta.place<segment, 2, 0>
  }
}

// -----

// hfta.fill, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 0, 0>}}
    hfta.fill 8 at #hfta.place<host, 0, 0>
  }
}

// -----

// hfta.fill, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'bytes' of at least 1, got -8}}
    hfta.fill -8 at #hfta.place<segment, 0, 0>
  }
}

// -----

// hfta.fill, C3.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{has no such place: #hfta.place<segment, 0, -8>}}
    hfta.fill 8 at #hfta.place<segment, 0, -8>
  }
}

// -----

// hfta.record, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'event' of at least 0, got -1}}
    hfta.record -1
  }
}

// -----

// hfta.await, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a device and a queue, got -2 and 0}}
    hfta.await 0 {device = -2}
  }
}

// -----

// hfta.repeat, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat turns {
      hfta.repeat micro_batches {
        // expected-error @+1 {{over turns stands in another such repeat}}
        hfta.repeat turns {
        }
      }
    }
  }
}

// -----

// hfta.every, C1.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.every "n" {
      // expected-error @+1 {{'hfta.constant' op stands in a schedule, which may hold only commands}}
      %0 = hfta.constant dense<0.0> : tensor<4xf32>
    }
  }
}

// -----

// hfta.every, C2.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.every "n" for any {
      hfta.every "n" {
        // expected-error @+1 {{'hfta.every' op chooses copies, but stands in another hfta.every that does}}
        hfta.every "m" for others {
          hfta.run @"task/forward.0"
        }
      }
    }
  }
}

// -----

// expected-error@+1 {{'hfta.step_seconds' must be a finite f64 of at least 0, of a module}}
module attributes {hfta.step_seconds = -1.0 : f64} {}

// -----

// expected-error@+1 {{'hfta.step_seconds' must be a finite f64 of at least 0, of a module}}
module attributes {hfta.step_seconds = 0x7FF0000000000000 : f64} {}

// -----

// expected-error@+1 {{'hfta.step_seconds' must be a finite f64 of at least 0, of a module}}
module attributes {hfta.step_seconds = 1.0 : f32} {}

// -----

// expected-error@+1 {{'hfta.step_seconds' must be a finite f64 of at least 0, of a module}}
func.func private @f() attributes {hfta.step_seconds = 1.0 : f64}
