// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// Each micro-batch finds its fields and what its forward has saved.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      hfta.run @"task/forward.0"
      hfta.run @"task/backward.0"
    }
  }
}

// -----

// No field is there.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op reads field 'image' of micro-batch 0, which no hfta.transfer has copied}}
      hfta.run @"task/forward.0"
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
    }
  }
}

// -----

// Only half of the field is there.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.transfer' op must copy the 64 bytes of field 'image' to byte 0 of segment 0, got 32 to}}
      hfta.transfer 32 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// The field is in another place.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.transfer' op must copy the 64 bytes of field 'image' to byte 0 of segment 0, got 64 to}}
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 1, 0>
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// Scalars are those of the call before.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      // expected-error @+1 {{'hfta.run' op reads scalars in segment 2, which no hfta.transfer of this call has copied}}
      hfta.run @"task/forward.0"
    }
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
  }
}

// -----

// Only half of the scalars are there.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 32 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      // expected-error @+1 {{'hfta.run' op reads scalars in segment 2, which no hfta.transfer of this call has copied}}
      hfta.run @"task/forward.0"
    }
  }
}

// -----

// They are another segment's.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.transfer' op must copy to the same place as}}
    hfta.transfer 64 from #hfta.place<host, 4, 0> to #hfta.place<segment, 2, 0>
  }
}

// -----

// Fields alone have a next micro-batch.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.transfer' op may copy only fields ahead, not}}
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0> {ahead = 1}
  }
}

// -----

// The number of valid samples of a micro-batch is given before each evaluation.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @evaluate keeps [] {
    hfta.repeat micro_batches {
      hfta.transfer 8 from #hfta.place<host, 4, 0> to #hfta.place<segment, 4, 0>
      hfta.run @"task/evaluate.0"
    }
  }
}

// -----

// The number isn't given.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @evaluate keeps [] {
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op reads scalars in segment 4, which no hfta.transfer of this call has copied}}
      hfta.run @"task/evaluate.0"
      hfta.transfer 8 from #hfta.place<host, 4, 0> to #hfta.place<segment, 4, 0>
    }
  }
}

// -----

// The values that forward saves have one place for two micro-batches.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      hfta.run @"task/forward.0"
    }
    hfta.repeat micro_batches {
      // expected-error @+1 {{'hfta.run' op runs for micro-batch 0, but segment 3 holds the values of micro-batch 1}}
      hfta.run @"task/backward.0"
    }
  }
}

// -----

// The segment has two places.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 2 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat micro_batches {
      hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0>
      hfta.run @"task/forward.0"
    }
    hfta.repeat micro_batches {
      hfta.run @"task/backward.0"
    }
  }
}

// -----

// Each micro-batch has its scalars.
// expected-error @+1 {{segment 4 of role scalar must have 2 instances, got 1}}
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
  }
}

// -----

// The host gives a micro-batch's own scalars to all.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @initialize keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.repeat all_micro_batches {
      hfta.transfer 64 from #hfta.place<host, 4, 0> to #hfta.place<segment, 4, 0>
    }
  }
}

// -----

// The second one has none.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  // expected-error @+1 {{'hfta.schedule' op leaves instance 1 of segment 4 without scalars, which no hfta.transfer copies from the host}}
  hfta.schedule @initialize keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.transfer 64 from #hfta.place<host, 4, 0> to #hfta.place<segment, 4, 0>
  }
}

// -----

// The host's image of what tasks compute is no more than what it was at first.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.transfer' op copies the host's scalars to segment 3, whose role is saved}}
    hfta.transfer 64 from #hfta.place<host, 3, 0> to #hfta.place<segment, 3, 0>
  }
}

// -----

// The scalars are the host's own.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.transfer' op may copy only results to the host, not segment 2, whose role is scalar}}
    hfta.transfer 64 from #hfta.place<segment, 2, 0> to #hfta.place<host, 2, 0>
  }
}

// -----

// The values that tasks leave for each other are cleared.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.fill' op may clear only results and moments, not segment 3, whose role is saved}}
    hfta.fill 64 at #hfta.place<segment, 3, 0>
  }
}

// -----

// An inference has its input.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<input "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @infer keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    hfta.transfer 64 from #hfta.place<port, 0, 0> to #hfta.place<segment, 0, 0>
    hfta.run @"task/forward.0"
  }
}

// -----

// It has none.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<input "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @infer keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    // expected-error @+1 {{'hfta.run' op reads input 'image', which no hfta.transfer of this call has copied}}
    hfta.run @"task/forward.0"
  }
}

// -----

// It has half of its input.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, micro_batches = 2 : i64,
    name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<input "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @infer keeps [] {
    hfta.transfer 64 from #hfta.place<host, 2, 0> to #hfta.place<segment, 2, 0>
    // expected-error @+1 {{'hfta.transfer' op must copy the 64 bytes of input 'image' to byte 0 of segment 0, got 32 to}}
    hfta.transfer 32 from #hfta.place<port, 0, 0> to #hfta.place<segment, 0, 0>
    hfta.run @"task/forward.0"
  }
}

// -----

// There is one field.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64,
    data = [{name = "image", test = {format = "npy"}, train = {format = "npy", path = "image.npy"}}],
    micro_batches = 2 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<input, -1, 64 bytes, 1 instances>,
    #hfta.segment<workspace, -1, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 1 instances>,
    #hfta.segment<saved, 0, 64 bytes, 1 instances>,
    #hfta.segment<scalar, -1, 64 bytes, 2 instances>]} {
  hfta.variable @image {instances = 1 : i64, location = #hfta.binding<0, 0, 0>, purpose = #hfta.purpose<field "image">, role = #hfta.role<input>} : tensor<16xf32>
  hfta.variable @samples {instances = 2 : i64, location = #hfta.binding<4, 0, 0>, purpose = #hfta.purpose<valid_samples>, role = #hfta.role<scalar>} : tensor<i64>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  func.func private @k2(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward.0" part "forward" block 0 reads [0, 2] writes [3] {
    hfta.launch @k2 on [#hfta.binding<0, 0, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<3, 0, 0>] inputs 2 written [2]
  }
  hfta.task @"task/backward.0" part "backward" block 0 reads [3] writes [1] {
    hfta.launch @k on [#hfta.binding<3, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.task @"task/evaluate.0" part "evaluate" block 0 reads [4] writes [1] {
    hfta.launch @k on [#hfta.binding<4, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
  }
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{'hfta.transfer' op copies field 1, but there are only 1}}
    hfta.transfer 64 from #hfta.place<field, 1, 0> to #hfta.place<segment, 0, 0>
  }
}
