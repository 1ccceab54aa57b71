// RUN: hfta-opt %s --verify-roundtrip | FileCheck %s

// CHECK: hfta.a = #hfta.sum_order<[64, 3], reads[(d0, d1) -> (d0, d1), (d0, d1) -> (0, d1)]>
// CHECK-SAME: hfta.b = #hfta.sum_order<[1000], reads[(d0) -> (d0)], 16 lanes, 4 vectors>
// CHECK-SAME: hfta.c = #hfta.sum_order<[2]>
module attributes {
  hfta.a = #hfta.sum_order<[64, 3], reads[(d0, d1) -> (d0, d1), (d0, d1) -> (0, d1)]>,
  hfta.b = #hfta.sum_order<[1000], reads[(d0) -> (d0)], 16 lanes, 4 vectors>,
  hfta.c = #hfta.sum_order<[2]>} {}
