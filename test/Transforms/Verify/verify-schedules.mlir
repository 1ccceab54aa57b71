// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// An upload on another queue, with the event between them.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.record 0 {queue = 1}
    hfta.await 0
    hfta.run @"task/forward.0"
  }
}

// -----

// The event is missing.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    // An attribute that the op doesn't define has no effect.
    // expected-error @+1 {{reads bytes of segment 0 that queue 1 may still be writing}}
    hfta.run @"task/forward.0" {ahead = 100 : i64}
  }
}

// -----

// The event was recorded before the upload.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.record 0 {queue = 1}
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.await 0
    // expected-error @+1 {{reads bytes of segment 0 that queue 1 may still be writing}}
    hfta.run @"task/forward.0"
  }
}

// -----

// The next micro-batch goes where the task still reads.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be reading}}
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
      hfta.record 0 {queue = 1}
      hfta.await 0
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// It waits until they are used.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.await 1 {queue = 1}
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
      hfta.record 0 {queue = 1}
      hfta.await 0
      hfta.run @"task/forward.0"
      hfta.record 1
    }
  }
}

// -----

// With two instances one micro-batch is brought while another is used.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 2 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 2 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.record 0 {queue = 1}
    hfta.repeat micro_batches {
      hfta.await 0
      hfta.await 1 {queue = 1}
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1, ahead = 1}
      hfta.record 0 {queue = 1}
      hfta.run @"task/forward.0"
      hfta.record 1
    }
  }
}

// -----

// With one, the task would find the next one's fields.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.record 0 {queue = 1}
    hfta.repeat micro_batches {
      hfta.await 1 {queue = 1}
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1, ahead = 1}
      hfta.record 0 {queue = 1}
      hfta.await 0
      // expected-error @+1 {{runs for micro-batch 0, but segment 0 holds the fields of micro-batch 1}}
      hfta.run @"task/forward.0"
      hfta.record 1
    }
  }
}

// -----

// Events carry what their queue knew from others.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.record 0 {queue = 1}
    hfta.await 0 {queue = 2}
    hfta.record 1 {queue = 2}
    hfta.await 1
    hfta.run @"task/forward.0"
  }
}

// -----

// There are two writers.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
    // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be writing}}
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
  }
}

// -----

// The numbers of bytes differ.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}},
    {name = "mask", test = {format = "npy"}, train = {format = "npy", path = "mask.npy"}}],
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<8xf32>
  hfta.variable @mask {instances = 1 : i64, location = #hfta.binding<0, 32, 0>, purpose = #hfta.purpose<field "mask">, role = #hfta.role<input>} : tensor<8xf32>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 32 from #hfta.place<field, 1, 0> to #hfta.place<segment, 0, 32>
    hfta.transfer 32 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    hfta.record 0 {queue = 1}
    hfta.await 0
    hfta.run @"task/forward.0"
  }
}

// -----

// The host's image of a segment has its writers, too.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<result, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<segment, 0, 0> to #hfta.place<host, 0, 0>
    // expected-error @+1 {{writes bytes of segment 0 that queue 0 may still be writing}}
    hfta.transfer 64 from #hfta.place<segment, 0, 0> to #hfta.place<host, 0, 0> {queue = 1}
  }
}

// -----

// An event is of one queue.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.record 0 {queue = 1}
    // expected-error @+1 {{records event 0 of queue 1 in queue 0}}
    hfta.record 0
  }
}

// -----

// A task on a queue of its own.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] {
    hfta.launch @k on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.run @"task/forward.0"
    // expected-error @+1 {{writes bytes of segment 1 that queue 0 may still be writing}}
    hfta.run @"task/forward.0" {queue = 3}
  }
}

// -----

// All micro-batches leave what statistics are kept up from, an instance each.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
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
      hfta.run @"task/forward.0"
    }
    hfta.repeat micro_batches {
      hfta.run @"task/statistics.0"
    }
  }
}

// -----

// None has done so yet.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
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
      // expected-error @+1 {{reads the values of micro-batch 0 in segment 1, but nothing has written them}}
      hfta.run @"task/statistics.0"
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// Only the first one has.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
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
    hfta.run @"task/forward.0"
    hfta.repeat micro_batches {
      // expected-error @+1 {{reads the values of micro-batch 1 in segment 1, but nothing has written them}}
      hfta.run @"task/statistics.0"
    }
  }
}
