// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// #hfta.replicas, C1.
// expected-error @+1 {{expected at least one replica, from 0 on and at least one apart, got 2 from -1 on, 1 apart}}
module attributes {hfta.replicas = #hfta.replicas<-1, 2, 1>} {
}

// -----

// #hfta.replicas, C1.
// expected-error @+1 {{expected at least one replica, from 0 on and at least one apart, got 0 from 0 on, 1 apart}}
module attributes {hfta.replicas = #hfta.replicas<0, 0, 1>} {
}

// -----

// #hfta.replicas, C1.
// expected-error @+1 {{expected at least one replica, from 0 on and at least one apart, got 2 from 0 on, 0 apart}}
module attributes {hfta.replicas = #hfta.replicas<0, 2, 0>} {
}

// -----

// #hfta.replicas, C2.
// expected-error @+1 {{the last replica's number must be at most 2147483647, got 9223372036854775807 from 1 on, 9223372036854775807 apart}}
module attributes {hfta.replicas = #hfta.replicas<1, 9223372036854775807, 9223372036854775807>} {
}

// -----

// hfta.variable, C10.
// expected-error @+1 {{has role 'gradient', whose variables all replicas hold, but has holders}}
hfta.variable @g {holders = #hfta.replicas<0, 2, 1>, role = #hfta.role<gradient>} : tensor<16xf32>

// -----

// hfta.variable, C11.
// expected-error @+1 {{is sent to other stages, but has holders}}
hfta.variable @g {holders = #hfta.replicas<0, 2, 1>, readers = array<i64: 1>, role = #hfta.role<output>} : tensor<16xf32>

// -----

// hfta.run, C5.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{runs @"task/invert.0", which touches segment 1, held only by replicas #hfta.replicas<0, 2, 1>}}
    hfta.run @"task/invert.0"
  }
}

// -----

// hfta.run, C5.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <1, 2, 1> {
    // expected-error @+1 {{runs @"task/invert.0", which touches segment 1, held only by replicas #hfta.replicas<0, 2, 1>}}
      hfta.run @"task/invert.0"
    }
  }
}

// -----

// hfta.run, C5.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{runs @"task/norm.0.on_1", which is only for replicas #hfta.replicas<1, 1, 1>}}
    hfta.run @"task/norm.0.on_1"
  }
}

// -----

// hfta.only, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
    // expected-error @+1 {{stands in a schedule, which may hold only commands}}
      %0 = arith.constant 0 : i32
    }
  }
}

// -----

// hfta.only, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
    // expected-error @+1 {{expects parent op to be one of 'hfta.schedule, hfta.repeat, hfta.every'}}
      hfta.only <0, 1, 1> {
        hfta.record 1
      }
    }
  }
}

// -----

// hfta.only, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
      hfta.every "p" for any {
    // expected-error @+1 {{stands in another hfta.only}}
        hfta.only <0, 1, 1> {
          hfta.record 1
        }
      }
    }
  }
}

// -----

// hfta.only, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.repeat micro_batches {
    // expected-error @+1 {{stands in commands for a rank's own micro-batches}}
      hfta.only <0, 1, 1> {
        hfta.record 1
      }
    }
  }
}

// -----

// hfta.only, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
    // expected-error @+1 {{is for all replicas, but stands in commands only for replicas #hfta.replicas<0, 1, 1>}}
      hfta.repeat micro_batches {
        hfta.record 1
      }
    }
  }
}

// -----

// hfta.only, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
    // expected-error @+1 {{is for all replicas, but stands in commands only for replicas #hfta.replicas<0, 1, 1>}}
      hfta.broadcast_bytes 64 at <segment, 1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
    }
  }
}

// -----

// hfta.only, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.only <0, 1, 1> {
    // expected-error @+1 {{is for all replicas, but stands in commands only for replicas #hfta.replicas<0, 1, 1>}}
      hfta.take_group 0 4096 at <segment, 2, 0, 4096>
    }
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 1, 0>}}
    hfta.broadcast_bytes 64 at <host, 1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{expected 'bytes' of at least 1, got 0}}
    hfta.broadcast_bytes 0 at <segment, 1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{ends at byte 72 of segment 1, which has 64}}
    hfta.broadcast_bytes 64 at <segment, 1, 8> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{can't be for segment 3, whose role is input}}
    hfta.broadcast_bytes 64 at <segment, 3, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{has a stride of 64 bytes from copy to copy in segment 0, whose slabs have 4096}}
    hfta.broadcast_bytes 64 at <segment, 0, 0, 64> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{ends at byte 4100 of a copy's part, which has 4096}}
    hfta.broadcast_bytes 100 at <segment, 0, 4000, 4096> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{ends at byte 64 of a copy's part, which has 32}}
    hfta.broadcast_bytes 64 at <segment, 1, 0, 32> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{is for replicas #hfta.replicas<0, 4, 1>, but segment 1 is held only by replicas #hfta.replicas<0, 2, 1>}}
    hfta.broadcast_bytes 64 at <segment, 1, 0> from <0, 1, 1> to <0, 4, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{is for replicas #hfta.replicas<2, 1, 1>, but segment 1 is held only by replicas #hfta.replicas<0, 2, 1>}}
    hfta.broadcast_bytes 64 at <segment, 1, 0> from <2, 1, 1> to <0, 2, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.repeat turns {
    // expected-error @+1 {{stands in a repeat over turns, but is done once, for all copies}}
      hfta.broadcast_bytes 64 at <segment, 1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
    }
  }
}

// -----

// hfta.broadcast_bytes, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.every "p" {
    // expected-error @+1 {{is for all copies, but stands in commands for copies that are 'due'}}
      hfta.broadcast_bytes 64 at <segment, 1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
    }
  }
}

// -----

// hfta.broadcast_bytes, C4.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.broadcast_bytes 64 at <segment, 1, 0> from <0, 1, 1> to <1, 1, 1>
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{has no such place: #hfta.place<segment, 99, 0>, as there are 4 segments}}
    hfta.broadcast_bytes 64 at <segment, 99, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{has no such place: #hfta.place<segment, -1, 0>}}
    hfta.broadcast_bytes 64 at <segment, -1, 0> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{ends at byte 18446744073709551614 of segment 1, which has 64}}
    hfta.broadcast_bytes 9223372036854775807 at <segment, 1, 9223372036854775807> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.broadcast_bytes, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{has a stride of 9223372036854775807 bytes from copy to copy in segment 1, which has 64}}
    hfta.broadcast_bytes 64 at <segment, 1, 0, 9223372036854775807> from <0, 1, 1> to <1, 1, 1> {queue = 2}
  }
}

// -----

// hfta.all_gather, of a segment that is not there.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{has no such place: #hfta.place<segment, 9999999, 0>, as there are 4 segments}}
    hfta.all_gather 64 at <segment, 9999999, 0> {queue = 2}
  }
}

// -----

// hfta.take_group, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 2, 0>}}
    hfta.take_group 0 64 at <host, 2, 0>
  }
}

// -----

// hfta.take_group, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{expected a segment of role moment, got segment 0 of role gradient}}
    hfta.take_group 0 64 at <segment, 0, 0>
  }
}

// -----

// hfta.take_group, C1.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{ends at byte 8256 of segment 2, which has 8192}}
    hfta.take_group 0 64 at <segment, 2, 8192>
  }
}

// -----

// hfta.take_group, C2.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{expected 'group' of at least 0, got -1}}
    hfta.take_group -1 64 at <segment, 2, 0>
  }
}

// -----

// hfta.take_group, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.every "p" for others {
    // expected-error @+1 {{is for all copies, but stands in commands for copies that are 'others'}}
      hfta.take_group 0 64 at <segment, 2, 0>
    }
  }
}

// -----

// hfta.take_group, C3.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    hfta.repeat all_micro_batches {
    // expected-error @+1 {{stands in a repeat over all_micro_batches, but is done once, for all copies}}
      hfta.take_group 0 64 at <segment, 2, 0>
    }
  }
}

// -----

// hfta.send, of what all replicas hold.
module attributes {hfta.segments = [#hfta.segment<gradient, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<curvature, 0, 64 bytes, 1 instances held by <0, 2, 1>>, #hfta.segment<moment, 0, 8192 bytes, 2 instances, 4096 a copy>, #hfta.segment<input, 0, 64 bytes, 1 instances>]} {
  func.func private @k(tensor<16xf32>) -> tensor<16xf32>
  hfta.task @"task/invert.0" part "invert" block 0 reads [0] writes [1] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>, #hfta.binding<1, 0, 0>] inputs 1 written [1] {per_copy}
  }
  hfta.task @"task/norm.0.on_1" part "norm" block 0 replicas <1, 1, 1> reads [0] writes [0] by_copies {
    hfta.launch @k on [#hfta.binding<0, 0, 4096>] inputs 1 written [0] {per_copy}
  }
  hfta.schedule @step keeps [0, 2] {
    // expected-error @+1 {{is for all replicas, but segment 1 is held only by replicas #hfta.replicas<0, 2, 1>}}
    hfta.send 64 at <segment, 1, 0> to stage 1 {queue = 3}
  }
}
