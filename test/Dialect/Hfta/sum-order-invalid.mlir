// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// sum_order_c1
// expected-error@+1 {{expected axes of at least one element}}
module attributes {a = #hfta.sum_order<[3, 0]>} {}

// -----

// sum_order_c2
// expected-error@+1 {{expected a dimension for each of 2 axes and no symbols, got affine_map<(d0) -> (d0)>}}
module attributes {a = #hfta.sum_order<[3, 4], reads[(d0) -> (d0)]>} {}

// -----

// sum_order_c2
// expected-error@+1 {{expected a dimension for each of 1 axes and no symbols, got affine_map<(d0)[s0] -> (d0 + s0)>}}
module attributes {a = #hfta.sum_order<[3], reads[(d0)[s0] -> (d0 + s0)]>} {}

// -----

// sum_order_c2
// expected-error@+1 {{expected 0 for the first term, got affine_map<(d0) -> (d0 + 1)>}}
module attributes {a = #hfta.sum_order<[3], reads[(d0) -> (d0 + 1)]>} {}

// -----

// sum_order_c3
// expected-error@+1 {{lanes and vectors are powers of two, got 12 and 1}}
module attributes {a = #hfta.sum_order<[36], reads[(d0) -> (d0)], 12 lanes, 1 vectors>} {}
