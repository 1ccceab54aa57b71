// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.schedule, C4.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  // expected-error @+1 {{must have a symbol that ends with its stage, or stage -1, got stage 1}}
  hfta.schedule @step.0 stage 1 keeps [] {
  }
}

// -----

// hfta.schedule, C3: what is sent outlives its turn.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  // expected-error @+1 {{must keep segment 1: its slabs outlive a turn of copies}}
  hfta.schedule @step.0 stage 0 keeps [] {
    hfta.send 64 at #hfta.place<segment, 1, 0> to stage 1 {queue = 3}
  }
}

// -----

// hfta.send, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected a place in a segment, got #hfta.place<host, 0, 0>}}
    hfta.send 64 at #hfta.place<host, 0, 0> to stage 1 {queue = 3}
  }
}

// -----

// hfta.send, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected 'bytes' of at least 1, got 0}}
    hfta.send 0 at #hfta.place<segment, 0, 0> to stage 1 {queue = 3}
  }
}

// -----

// hfta.send, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{ends at byte 4097 of segment 0, which has 4096}}
    hfta.send 4096 at #hfta.place<segment, 0, 1> to stage 1 {queue = 3}
  }
}

// -----

// hfta.send, C2.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected the number of another stage than its own, got 0}}
    hfta.send 64 at #hfta.place<segment, 0, 0> to stage 0 {queue = 3}
  }
}

// -----

// hfta.send, C3.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.send 64 at #hfta.place<segment, 0, 0> to stage 1
  }
}

// -----

// hfta.receive, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{needs a micro-batch to look ahead from, got ahead = 1}}
    hfta.receive 64 at #hfta.place<segment, 0, 0> from stage 1 {queue = 4, ahead = 1}
  }
}

// -----

// hfta.receive, as of hfta.send.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{needs a queue above 0}}
    hfta.receive 64 at #hfta.place<segment, 0, 0> from stage 1
  }
}

// -----

// hfta.record, C3.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected 'instances' of at least 1, got 0}}
    hfta.record 1 {instances = 0}
  }
}

// -----

// hfta.await, as of hfta.record.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected 'ahead' of at least 0, got -1}}
    hfta.await 1 {ahead = -1}
  }
}

// -----

// hfta.actions, C2.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{expected pairs of a case and a micro-batch, got 3 numbers}}
    hfta.actions order [0, 0, 0] {
      hfta.case 0 {
      }
    }
  }
}

// -----

// hfta.actions, C2.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{has no case 1 for micro-batch 0, only 1 cases}}
    hfta.actions order [1, 0] {
      hfta.case 0 {
      }
    }
  }
}

// -----

// hfta.actions, C2.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    // expected-error @+1 {{orders case 0 for micro-batch 2 twice}}
    hfta.actions order [0, 2, 0, 2] {
      hfta.case 0 {
      }
    }
  }
}

// -----

// hfta.send, C4.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    hfta.repeat turns {
      // expected-error @+1 {{is for all copies, but stands in turns of some of them}}
      hfta.send 64 at #hfta.place<segment, 0, 0> to stage 1 {queue = 3}
    }
  }
}

// -----

// hfta.actions, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    hfta.actions order [] {
      // expected-error @+1 {{must have number 0}}
      hfta.case 1 {
      }
    }
  }
}

// -----

// hfta.case, C1.
module attributes {hfta.segments = [#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1]>, #hfta.segment<parameter, 0, 64 bytes, 1 instances, 16 a copy for [1, 3]>]} {
  hfta.schedule @step.0 stage 0 keeps [] {
    hfta.actions order [] {
      hfta.case 0 {
        // expected-error @+1 {{stands in a schedule, which may hold only commands}}
        %0 = hfta.constant dense<0.0> : tensor<4xf32>
      }
    }
  }
}
