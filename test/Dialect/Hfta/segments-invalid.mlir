// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'hfta.segments' must list a module's segments, each a #hfta.segment attribute}}
module attributes {hfta.segments = [1]} {
}

// -----

// expected-error@+1 {{'hfta.segments' must list a module's segments, each a #hfta.segment attribute}}
func.func private @f() attributes {hfta.segments = []}
