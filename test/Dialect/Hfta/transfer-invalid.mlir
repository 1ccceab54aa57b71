// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.fetch, C1.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{names segment 4, but there are 4 segments}}
    hfta.fetch 4 at 0 contents zeros
  }
}

// -----

// hfta.fetch, C1.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a segment that isn't resident, but segment 3 is}}
    hfta.fetch 3 at 0 contents zeros
  }
}

// -----

// hfta.fetch, C2.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.repeat turns of 1 {
      // expected-error @+1 {{needs a spilled segment, but segment 0 is transient}}
      hfta.fetch 0 at 0 contents stored {queue = 1}
    }
  }
}

// -----

// hfta.fetch, C2.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.fetch 1 at 0 contents stored
  }
}

// -----

// hfta.fetch, C3.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a place at a multiple of 4096 bytes, got 512}}
    hfta.fetch 1 at 512 contents zeros
  }
}

// -----

// hfta.fetch, C3.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a place at a multiple of 4096 bytes, got -4096}}
    hfta.fetch 1 at -4096 contents zeros
  }
}

// -----

// hfta.fetch, C4.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs places for 1 to 1 instances of segment 1, got 2}}
    hfta.fetch 1 at 0 contents zeros {instances = 2}
  }
}

// -----

// hfta.fetch, C4.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'instances' of at least 1, got 0}}
    hfta.fetch 1 at 0 contents zeros {instances = 0}
  }
}

// -----

// hfta.fetch, C5.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{ends at byte 20480 of the arena, which has 16384}}
    hfta.fetch 1 at 16384 contents zeros
  }
}

// -----

// hfta.fetch, C5.
// Two instances of two copies' slabs.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.repeat turns of 2 {
      // expected-error @+1 {{ends at byte 20480 of the arena, which has 16384}}
      hfta.fetch 0 at 4096 contents zeros {instances = 2}
    }
  }
}

// -----

// hfta.fetch, C6.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a micro-batch to look ahead from, got ahead = 1}}
    hfta.fetch 1 at 0 contents zeros {ahead = 1}
  }
}

// -----

// hfta.fetch, C6.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.repeat micro_batches {
      // expected-error @+1 {{expected 'ahead' of at least 0, got -1}}
      hfta.fetch 1 at 0 contents zeros {ahead = -1}
    }
  }
}

// -----

// hfta.fetch, C7.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.every "p" for others {
      // expected-error @+1 {{is for all copies of a turn, but stands in commands for copies that are 'others'}}
      hfta.fetch 1 at 0 contents zeros
    }
  }
}

// -----

// hfta.fetch, C8.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs turns of a given number of copies, as the slabs of segment 2 aren't kept}}
    hfta.fetch 2 at 0 contents zeros
  }
}

// -----

// hfta.fetch, C8.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.repeat turns {
      // expected-error @+1 {{needs turns of a given number of copies, as the slabs of segment 2 aren't kept}}
      hfta.fetch 2 at 0 contents zeros
    }
  }
}

// -----

// hfta.fetch.
// Device and queue, as of every command.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a device and a queue, got 0 and -1}}
    hfta.fetch 1 at 0 contents zeros {queue = -1}
  }
}

// -----

// hfta.evict, C1.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a segment that isn't resident, but segment 3 is}}
    hfta.evict 3 {queue = 1}
  }
}

// -----

// hfta.evict, C1.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.repeat turns of 1 {
      // expected-error @+1 {{needs a spilled segment, but segment 0 is transient}}
      hfta.evict 0 {queue = 1}
    }
  }
}

// -----

// hfta.evict, C2.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a queue above 0, which is the host's own}}
    hfta.evict 1
  }
}

// -----

// hfta.evict, (C7) of hfta.fetch.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    hfta.every "p" {
      // expected-error @+1 {{is for all copies of a turn, but stands in commands for copies that are 'due'}}
      hfta.evict 1 {queue = 1}
    }
  }
}

// -----

// hfta.drop, C1.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a segment that isn't resident, but segment 3 is}}
    hfta.drop 3
  }
}

// -----

// hfta.drop, (C6) of hfta.fetch.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs a micro-batch to look ahead from, got ahead = 2}}
    hfta.drop 1 {ahead = 2}
  }
}

// -----

// hfta.drop, (C8) of hfta.fetch.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs turns of a given number of copies, as the slabs of segment 2 aren't kept}}
    hfta.drop 2
  }
}

// -----

// hfta.repeat, C3.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{expected 'copies' of at least 1, got 0}}
    hfta.repeat turns of 0 {
    }
  }
}

// -----

// hfta.repeat, C3.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{over micro_batches can't be for 2 copies at a time}}
    hfta.repeat micro_batches of 2 {
    }
  }
}

// -----

// Places of other commands are where memory stays.
module attributes {hfta.arena = 16384 : i64, hfta.segments = [#hfta.segment<saved, 0, 8192 bytes, 2 instances, 4096 a copy (transient)>, #hfta.segment<parameter, 0, 4096 bytes, 1 instances (spilled)>, #hfta.segment<parameter, 1, 8192 bytes, 1 instances, 4096 a copy (spilled)>, #hfta.segment<scalar, -1, 64 bytes, 1 instances>]} {
  hfta.schedule @step keeps [] {
    // expected-error @+1 {{needs memory that stays, but segment 1 is spilled}}
    hfta.fill 64 at #hfta.place<segment, 1, 0>
  }
}

// -----

// #hfta.segment, C1.
// expected-error@+1 {{a segment of role 'scalar' can't be spilled}}
module attributes {hfta.segments = [#hfta.segment<scalar, -1, 4096 bytes, 1 instances (spilled)>]} {
}

// -----

// #hfta.segment, C2.
// expected-error@+1 {{a segment that is transient must be multiples of 4096 bytes, got 64}}
module attributes {hfta.segments = [#hfta.segment<saved, 0, 128 bytes, 1 instances, 64 a copy (transient)>]} {
}

// -----

// #hfta.segment, C3.
// expected-error@+1 {{a segment of role 'workspace' can't be spilled}}
module attributes {hfta.segments = [#hfta.segment<workspace, -1, 4096 bytes, 1 instances (spilled)>]} {
}

// -----

// A residency by another name.
// expected-error@+2 {{expected one of [resident, transient, spilled] for where a value lies while a program runs, got: somewhere}}
// expected-error@+1 {{failed to parse Hfta_SegmentAttr parameter 'residency'}}
module attributes {hfta.segments = [#hfta.segment<saved, -1, 4096 bytes, 1 instances (somewhere)>]} {
}

// -----

// hfta.variable, C12.
// expected-error@+1 {{has role 'scalar' and can't be transient}}
hfta.variable @v {role = #hfta.role<scalar>, residency = #hfta.residency<transient>} : tensor<f64>

// -----

// hfta.keep.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'hfta.keep' must be a #hfta.keep attribute}}
  %0 = hfta.relu %x {hfta.keep = "save"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// hfta.arena.
// expected-error@+1 {{'hfta.arena' must be an i64 of at least 0, of a module}}
module attributes {hfta.arena = -1 : i64} {
}

// -----

// hfta.arena.
// expected-error@+1 {{'hfta.arena' must be an i64 of at least 0, of a module}}
func.func private @f() attributes {hfta.arena = 4096 : i64}

// -----

// expected-error@+1 {{'hfta.memory_reserve' must be a #hfta.memory_reserve attribute of a module}}
module attributes {hfta.memory_reserve = 0 : i64} {}

// -----

// expected-error@+1 {{a reserve of memory is at least 0 bytes, got -1}}
module attributes {hfta.memory_reserve = #hfta.memory_reserve<-1 bytes, 0 a copy, 1 to 2 copies>} {}

// -----

// expected-error@+1 {{expected at least one copy in a turn, and a greatest number that isn't less, got 2 to 1}}
module attributes {hfta.memory_reserve = #hfta.memory_reserve<0 bytes, 0 a copy, 2 to 1 copies>} {}

// -----

// expected-error@+1 {{'hfta.memory_plan' must be a #hfta.memory_plan attribute of a module}}
module attributes {hfta.memory_plan = 2 : i64} {}

// -----

// expected-error@+1 {{a plan of memory is for at least one copy, got 0}}
module attributes {hfta.memory_plan = #hfta.memory_plan<0 copies, [streamed]>} {}

// -----

// expected-error@+1 {{blocks whose gradients are spilled must be some of the 2 blocks, in ascending order, got 1 after 1}}
module attributes {hfta.memory_plan = #hfta.memory_plan<1 copies, [streamed, held] gradients [1, 1]>} {}

// -----

// expected-error@+1 {{blocks whose gradients are spilled must be some of the 1 blocks, in ascending order, got 1 after -1}}
module attributes {hfta.memory_plan = #hfta.memory_plan<1 copies, [resident] gradients [1]>} {}
