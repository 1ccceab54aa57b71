// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-verify-schedules

// One replica inverts, and broadcasts the inverse to all.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.run @"task/precondition.0"
    hfta.run @"task/update.0"
  }
}

// -----

// Others read the inverse, which they haven't received.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    // expected-error @+1 {{reads bytes of segment 2 that only other replicas have changed}}
    hfta.run @"task/precondition.0"
    hfta.run @"task/update.0"
  }
}

// -----

// No task reads it, but checkpoints hold it.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  // expected-error @+1 {{leaves old values in segment 2 on a rank, as only other replicas have changed it}}
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
  }
}

// -----

// It is sent while it may still be written.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    // expected-error @+1 {{reads bytes of segment 2 that queue 0 may still be writing}}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}
  }
}

// -----

// It is read while it may still be arriving.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    // expected-error @+1 {{reads bytes of segment 2 that queue 2 may still be writing}}
    hfta.run @"task/precondition.0"
    hfta.run @"task/update.0"
  }
}

// -----

// Another replica sends it.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{reads bytes of segment 2 that only other replicas have changed}}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <1, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// One of the other replicas doesn't receive it.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  // expected-error @+1 {{leaves old values in segment 2 on a rank, as only other replicas have changed it}}
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <2, 1, 1> to <1, 3, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// The others receive only a part of it.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  // expected-error @+1 {{leaves old values in segment 2 on a rank, as only other replicas have changed it}}
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 32 at <segment, 2, 0, 64> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// The transfer is of one copy alone.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{is for a part of variable 'inverse', whose copies lie 64 bytes apart from byte 0 on}}
    hfta.broadcast_bytes 64 at <segment, 2, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// The copies lie differently.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{is for a part of variable 'inverse', whose copies lie 64 bytes apart from byte 0 on}}
    hfta.broadcast_bytes 64 at <segment, 2, 0, 128> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// The transfer is of more copies than there is room for.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{reaches beyond segment 2 of 256 bytes: 2 copies lie 128 bytes apart from byte 72 on}}
    hfta.broadcast_bytes 64 at <segment, 2, 72, 128> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
  }
}

// -----

// The sending replicas don't exist.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    // expected-error @+1 {{is for replicas #hfta.replicas<2, 2, 2>, but there are only 4}}
    hfta.only <2, 2, 2> {
      hfta.run @"task/invert.0"
    }
  }
}

// -----

// The receiving replicas don't exist.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    // expected-error @+1 {{is for replicas #hfta.replicas<0, 5, 1>, but there are only 4}}
    hfta.broadcast_bytes 128 at <segment, 2, 0> from <2, 1, 1> to <0, 5, 1> {queue = 2}
  }
}

// -----

// A column holds the inverse, and broadcasts its results along the rows.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <1, 2, 2> {
      hfta.run @"task/invert.0"
      hfta.run @"task/precondition.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <1, 2, 2> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.run @"task/update.0"
  }
}

// -----

// Rows update without the results.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <1, 2, 2> {
      hfta.run @"task/invert.0"
      hfta.run @"task/precondition.0"
    }
    // expected-error @+1 {{reads bytes of segment 0 that only other replicas have changed}}
    hfta.run @"task/update.0"
  }
}

// -----

// The sums aren't there yet.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.only <1, 2, 2> {
      hfta.run @"task/invert.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    // expected-error @+1 {{reads sums in segment 0 that no hfta.all_reduce has added up}}
    hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <1, 2, 2> to <0, 4, 1> {queue = 2}
  }
}

// -----

// The messages of ranks meet in one order.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <1, 2, 2>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.only <1, 2, 2> {
      hfta.run @"task/invert.0"
      hfta.run @"task/precondition.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <1, 2, 2> to <0, 4, 1> {queue = 2}
    hfta.record 3
    hfta.await 3 {queue = 3}
    // expected-error @+1 {{exchanges with other ranks while queue 2 may still do so}}
    hfta.broadcast_bytes 256 at <segment, 1, 0> from <1, 1, 2> to <1, 2, 2> {queue = 3}
  }
}

// -----

// A unit's moments are one group's, which one replica has.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.repeat micro_batches {
      hfta.run @"task/forward_moments.0"
    }
    hfta.record 1
    hfta.take_group 3 64 at <segment, 3, 0, 4096>
    hfta.only <3, 1, 1> {
      hfta.run @"task/curvature.0"
      hfta.run @"task/invert.0"
      hfta.run @"task/precondition.0"
    }
    hfta.record 3
    hfta.await 3 {queue = 2}
    hfta.broadcast_bytes 64 at <segment, 0, 0, 4096> from <3, 1, 1> to <0, 4, 1> {queue = 2}
    hfta.record 4 {queue = 2}
    hfta.await 4
    hfta.run @"task/update.0"
  }
}

// -----

// Another replica has no moments.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <0, 1, 1>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <0, 1, 1>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.repeat micro_batches {
      hfta.run @"task/forward_moments.0"
    }
    hfta.record 1
    hfta.take_group 3 64 at <segment, 3, 0, 4096>
    hfta.only <0, 1, 1> {
      // expected-error @+1 {{reads moments in segment 3 that another rank has taken}}
      hfta.run @"task/curvature.0"
    }
  }
}

// -----

// All groups are there.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.all_reduce @"task/combine.0" 8192 at <segment, 0, 0, 4096> through <segment, 4, 0> {queue = 2}
    hfta.record 2 {queue = 2}
    hfta.await 2
    hfta.repeat micro_batches {
      hfta.run @"task/forward_moments.0"
    }
    hfta.record 1
    hfta.take_group 3 64 at <segment, 3, 0, 4096>
    // expected-error @+1 {{takes a group's sums in segment 3 that are already complete}}
    hfta.take_group 3 64 at <segment, 3, 0, 4096>
  }
}

// -----

// There is no such group.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward_moments.0"
    }
    hfta.record 1
    // expected-error @+1 {{takes group 4, but there are only 4}}
    hfta.take_group 4 64 at <segment, 3, 0, 4096>
  }
}

// -----

// Sums are used that nothing has taken.
module attributes {hfta.job = {batch = 8 : i64, copies = 2 : i64, groups = 4 : i64,
    replicas = array<i64: 4>, micro_batches = 4 : i64, name = "net", training = false},
    hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 1, 1>>,
    #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>,
    #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 3] {
    hfta.repeat micro_batches {
      hfta.run @"task/forward_moments.0"
    }
    hfta.record 1
    hfta.only <3, 1, 1> {
      // expected-error @+1 {{reads sums in segment 3 that no hfta.all_reduce has added up}}
      hfta.run @"task/curvature.0"
    }
  }
}

// -----

// A segment is held by replicas that don't exist.
// expected-error @+1 {{segment 1 is held by replicas #hfta.replicas<3, 2, 1>, but its stage has only 4}}
module attributes {hfta.job = {all_forwards_first = false, batch = 8 : i64, bucket = 4000000 : i64, clip_norm = array<f64>, copies = 2 : i64, data = [], epochs = 0 : i64, fuse = true, groups = 4 : i64, replicas = array<i64: 4>, hyper_parameters = [], micro_batches = 4 : i64, name = "net", order_seed = 0 : i64, precision = {accumulate = "f32", compute = "f32", gradients = "f32", parameters = "f32", state = "f32"}, schedule = {gamma = array<f64>, kind = "constant", minimum = array<f64>, step_size = array<f64>, warmup = array<f64>}, seed = array<i64>, shuffle = true, steps = 0 : i64, training = false}, hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 4 instances, 4096 a copy>, #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 2, 1>>, #hfta.segment<curvature, 0, 256 bytes, 1 instances held by <3, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 4 instances, 4096 a copy>, #hfta.segment<received, -1, 8192 bytes, 4 instances>]} {
  hfta.variable @g {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<0, 0, 4096>, role = #hfta.role<gradient>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @factor {block = 0 : i64, location = #hfta.binding<1, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @other {block = 0 : i64, location = #hfta.binding<1, 128, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @inverse {block = 0 : i64, location = #hfta.binding<2, 0, 64>, role = #hfta.role<curvature>} : tensor<16xf32, #hfta.copies<2>>
  hfta.variable @moment {block = 0 : i64, instances = 4 : i64, location = #hfta.binding<3, 0, 4096>, role = #hfta.role<moment>} : tensor<16xf32, #hfta.copies<2>>
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/forward_moments.0" part "forward_moments" block 0 reads [3] writes [3] by_copies {
    hfta.launch @k on [#hfta.binding<3, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.task @"task/curvature.0" part "curvature" block 0 reads [1, 3] writes [1, 3] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<3, 0, 4096>] inputs 2 written [0, 1] {per_copy}
  }
  hfta.task @"task/invert.0" part "invert" block 0 reads [1] writes [2] by_copies {
    hfta.launch @k on [#hfta.binding<1, 0, 64>, #hfta.binding<2, 0, 64>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/precondition.0" part "precondition" block 0 reads [0, 2] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/combine.0" part "combine" block 0 reads [0, 4] writes [0] {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<4, 0, 4096>] inputs 2 written [0] {per_copy}
  }
  hfta.task @"task/update.0" part "update" block 0 reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [] {
  }
}
