// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// All in the queue that writes what segments hold at first.
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
  hfta.schedule @initialize keeps [] {
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0>
    }
    hfta.run @"task/init.0"
  }
}

// -----

// Which may come after the scalars of another queue.
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
  hfta.schedule @initialize keeps [] {
    hfta.repeat all_micro_batches {
      // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be writing}}
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0> {queue = 4}
    }
    hfta.run @"task/init.0"
  }
}

// -----

// They wait for it.
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
  hfta.schedule @initialize keeps [] {
    hfta.record 0
    hfta.await 0 {queue = 4}
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0> {queue = 4}
    }
    hfta.run @"task/init.0"
  }
}

// -----

// Constants may not be there yet.
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
  hfta.schedule @initialize keeps [] {
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0>
    }
    // expected-error @+1 {{reads bytes of segment 2 that queue 0 may still be writing}}
    hfta.run @"task/init.0" {queue = 1}
  }
}

// -----

// Memory that holds nothing at first.
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
  hfta.schedule @initialize keeps [] {
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0>
    }
    hfta.run @"task/spare.0" {queue = 1}
  }
}

// -----

// Before other schedules the host waits.
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
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 0, 0> to #hfta.place<segment, 0, 0> {queue = 4}
    }
    hfta.run @"task/init.0" {queue = 1}
  }
}
