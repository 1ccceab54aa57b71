// RUN: hfta-opt %s --verify-roundtrip -split-input-file | FileCheck %s
// RUN: hfta-opt %s -split-input-file --hfta-set-target=options=cpu=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: hfta-opt %s -split-input-file --hfta-set-target=options=cpu=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: hfta-opt %s -split-input-file --hfta-set-target="options=cpu=x86-64 last-cache-bytes=1048576" | FileCheck %s --check-prefix=SMALL
// RUN: not hfta-opt %s -split-input-file --hfta-set-target=options=cpu=z80 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not hfta-opt %s -split-input-file --hfta-set-target="options=cpu=x86-64 last-cache-bytes=100" 2>&1 | FileCheck %s --check-prefix=SETS
// RUN: not hfta-opt %s -split-input-file --hfta-set-target="options=cpu=x86-64 last-cache-bytes=64" 2>&1 | FileCheck %s --check-prefix=ORDER

// The properties of a named processor are the same on every machine.

// CHECK: hfta.target = #hfta.target<"cpu", #hfta.processor<vector_bytes = 32, vector_registers = 16, fma_units = 1, caches = [<32768 bytes, 8 ways, 64 a line>], features = "avx2,fma", llvm_features = "+avx2,+fma">>
// V3: #hfta.target<"cpu", #hfta.processor<vector_bytes = 32, vector_registers = 16, fma_units = 2,
// V3-SAME: caches = [<32768 bytes, 8 ways, 64 a line>, <524288 bytes, 8 ways, 64 a line>, <33554432 bytes, 16 ways, 64 a line>],
// V3-SAME: features = "{{[^"]*}},avx,avx2,fma"
// V4: #hfta.target<"cpu", #hfta.processor<vector_bytes = 64, vector_registers = 32, fma_units = 2,
// V4-SAME: caches = [<32768 bytes, 8 ways, 64 a line>, <1048576 bytes, 8 ways, 64 a line>, <33554432 bytes, 16 ways, 64 a line>],
// V4-SAME: features = "{{[^"]*}},avx2,fma,avx512f,{{[^"]*}}"
// SMALL: vector_bytes = 16,
// SMALL-SAME: <1048576 bytes, 1 ways, 64 a line>], features = "", llvm_features = "">
// UNKNOWN: unknown processor 'z80'
// SETS: a cache of 100 bytes has no whole sets of 1 lines of 64 bytes
// ORDER: a cache of 64 bytes comes after a larger one of 524288
module attributes {hfta.target = #hfta.target<"cpu", #hfta.processor<vector_bytes = 32, vector_registers = 16, fma_units = 1, caches = [<32768 bytes, 8 ways, 64 a line>], features = "avx2,fma", llvm_features = "+avx2,+fma">>} {}

// -----

// CHECK: hfta.target = #hfta.target<"cuda", #hfta.gpu<chips = ["sm_80", "sm_90a"], warp_threads = 32, shared_bytes = 49152, tensor_units = ["warp", "warp_group"]>>
module attributes {hfta.target = #hfta.target<"cuda", #hfta.gpu<chips = ["sm_80", "sm_90a"], warp_threads = 32, shared_bytes = 49152, tensor_units = ["warp", "warp_group"]>>} {}
