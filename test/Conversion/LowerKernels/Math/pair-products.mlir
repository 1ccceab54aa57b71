// RUN: hfta-opt %s -hfta-set-target=options=cpu=znver4 -hfta-expand-math | FileCheck %s --check-prefixes=CHECK,PAIRS -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-expand-math | FileCheck %s --check-prefixes=CHECK,HALVES -enable-var-scope

// A processor with AVX512-BF16 multiplies the pairs of a vector at once. Others
// multiply the upper halves, then the lower ones, as f32.
// CHECK-LABEL: func.func private @vectors(
// CHECK-SAME: %[[A:[^ ,:#]+]]: vector<16xi32>, %[[B:[^ ,:#]+]]: vector<16xi32>, %[[S:[^ ,:#]+]]: vector<16xf32>
func.func private @vectors(%a: vector<16xi32>, %b: vector<16xi32>, %s: vector<16xf32>) -> vector<16xf32> attributes {hfta.kernel} {
  // PAIRS-DAG: %[[AP:.+]] = vector.bitcast %[[A]] : vector<16xi32> to vector<32xbf16>
  // PAIRS-DAG: %[[BP:.+]] = vector.bitcast %[[B]] : vector<16xi32> to vector<32xbf16>
  // PAIRS: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[S]], %[[AP]], %[[BP]])
  // PAIRS-NOT: math.fma
  // HALVES-DAG: %[[UPPER:.+]] = arith.constant dense<-65536> : vector<16xi32>
  // HALVES-DAG: %[[BITS:.+]] = arith.constant dense<16> : vector<16xi32>
  // HALVES: %[[AH:.+]] = arith.andi %[[A]], %[[UPPER]]
  // HALVES: %[[AHF:.+]] = arith.bitcast %[[AH]] : vector<16xi32> to vector<16xf32>
  // HALVES: %[[BH:.+]] = arith.andi %[[B]], %[[UPPER]]
  // HALVES: %[[BHF:.+]] = arith.bitcast %[[BH]]
  // HALVES: %[[HIGH:.+]] = math.fma %[[AHF]], %[[BHF]], %[[S]] : vector<16xf32>
  // HALVES: %[[AL:.+]] = arith.shli %[[A]], %[[BITS]]
  // HALVES: %[[ALF:.+]] = arith.bitcast %[[AL]]
  // HALVES: %[[BL:.+]] = arith.shli %[[B]], %[[BITS]]
  // HALVES: %[[BLF:.+]] = arith.bitcast %[[BL]]
  // HALVES: math.fma %[[ALF]], %[[BLF]], %[[HIGH]]
  %0 = hfta.multiply_pairs %a, %b to %s : vector<16xi32>, vector<16xf32>
  return %0 : vector<16xf32>
}

// The instruction exists for three sizes of vectors.
// CHECK-LABEL: func.func private @sizes(
func.func private @sizes(%a: vector<8xi32>, %s: vector<8xf32>, %b: vector<4xi32>, %t: vector<4xf32>, %c: vector<2xi32>, %u: vector<2xf32>, %d: i32, %v: f32) -> (vector<8xf32>, vector<4xf32>, vector<2xf32>, f32) attributes {hfta.kernel} {
  // PAIRS: dpbf16ps.256
  // PAIRS: dpbf16ps.128
  // PAIRS-NOT: dpbf16ps
  // CHECK: math.fma {{.*}} : vector<2xf32>
  // CHECK: math.fma {{.*}} : f32
  %0 = hfta.multiply_pairs %a, %a to %s : vector<8xi32>, vector<8xf32>
  %1 = hfta.multiply_pairs %b, %b to %t : vector<4xi32>, vector<4xf32>
  %2 = hfta.multiply_pairs %c, %c to %u : vector<2xi32>, vector<2xf32>
  %3 = hfta.multiply_pairs %d, %d to %v : i32, f32
  return %0, %1, %2, %3 : vector<8xf32>, vector<4xf32>, vector<2xf32>, f32
}
