// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// Groups are added up after both micro-batches, and used after that.
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, bucket = 4000000 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, groups = 2 : i64, hyper_parameters = [], metric = "", micro_batches = 2 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<received, -1, 8192 bytes, 2 instances>, #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
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
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, bucket = 4000000 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, groups = 2 : i64, hyper_parameters = [], metric = "", micro_batches = 2 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<received, -1, 8192 bytes, 2 instances>, #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
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

// The sums may not be there yet.
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, bucket = 4000000 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, groups = 2 : i64, hyper_parameters = [], metric = "", micro_batches = 2 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<received, -1, 8192 bytes, 2 instances>, #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
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
module attributes {hfta.job = {all_forwards_first = false, batch = 4 : i64, bucket = 4000000 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, groups = 2 : i64, hyper_parameters = [], metric = "", micro_batches = 2 : i64, name = "net", optimizer_flags = [], optimizer = "", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<received, -1, 8192 bytes, 2 instances>, #hfta.segment<workspace, -1, 8192 bytes, 1 instances, 4096 a copy>]} {
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
