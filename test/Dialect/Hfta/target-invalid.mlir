// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// cache_c1
// expected-error@+1 {{a cache line has a power of two of bytes, at least 16, got 48}}
module attributes {a = #hfta.cache<32768 bytes, 8 ways, 48 a line>} {}

// -----

// cache_c2
// expected-error@+1 {{a cache of 32768 bytes has no whole sets of 7 lines of 64 bytes}}
module attributes {a = #hfta.cache<32768 bytes, 7 ways, 64 a line>} {}

// -----

// cache_c2
// expected-error@+1 {{a cache of 32768 bytes has no whole sets of 0 lines of 64 bytes}}
module attributes {a = #hfta.cache<32768 bytes, 0 ways, 64 a line>} {}

// -----

// processor_c1
// expected-error@+1 {{vectors have 16, 32 or 64 bytes, got 24}}
module attributes {a = #hfta.processor<vector_bytes = 24, vector_registers = 16, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>], features = "", llvm_features = "">} {}

// -----

// processor_c2
// expected-error@+1 {{expected at least 8 vector registers, got 4}}
module attributes {a = #hfta.processor<vector_bytes = 16, vector_registers = 4, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>], features = "", llvm_features = "">} {}

// -----

// processor_c2
// expected-error@+1 {{expected at least one FMA unit, got 0}}
module attributes {a = #hfta.processor<vector_bytes = 16, vector_registers = 16, fma_units = 0, caches = [<32768 bytes, 8 ways, 64 a line>], features = "", llvm_features = "">} {}

// -----

// processor_c3
// expected-error@+1 {{a cache of 16384 bytes comes after a larger one of 32768}}
module attributes {a = #hfta.processor<vector_bytes = 16, vector_registers = 16, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>, <16384 bytes, 8 ways, 64 a line>], features = "", llvm_features = "">} {}

// -----

// processor_c3
// expected-error@+1 {{caches have lines of 64 and of 128 bytes}}
module attributes {a = #hfta.processor<vector_bytes = 16, vector_registers = 16, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>, <65536 bytes, 8 ways, 128 a line>], features = "", llvm_features = "">} {}

// -----

// processor_c4
// expected-error@+1 {{expected as many LLVM features as features, got '+avx' for 'avx,avx2'}}
module attributes {a = #hfta.processor<vector_bytes = 32, vector_registers = 16, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>], features = "avx,avx2", llvm_features = "+avx">} {}

// -----

// gpu_c1
// expected-error@+1 {{names the chip "sm_80" twice}}
module attributes {a = #hfta.gpu<chips = ["sm_80", "sm_80"], warp_threads = 32, shared_bytes = 49152, tensor_units = ["warp"]>} {}

// -----

// gpu_c2
// expected-error@+1 {{a warp has a power of two of threads, got 24}}
module attributes {a = #hfta.gpu<chips = ["sm_80"], warp_threads = 24, shared_bytes = 49152, tensor_units = ["warp"]>} {}

// -----

// gpu_c2
// expected-error@+1 {{blocks have shared memory, got 0 bytes}}
module attributes {a = #hfta.gpu<chips = ["sm_80"], warp_threads = 32, shared_bytes = 0, tensor_units = ["warp"]>} {}

// -----

// expected-error@+1 {{'hfta.target' must be a #hfta.target attribute of a module}}
module attributes {hfta.target = "x86-64"} {}

// -----

// expected-error@+1 {{'hfta.target' must be a #hfta.target attribute of a module}}
func.func private @f() attributes {hfta.target = #hfta.target<"cpu", #hfta.processor<vector_bytes = 16, vector_registers = 16, fma_units = 2, caches = [<32768 bytes, 8 ways, 64 a line>], features = "", llvm_features = "">>}
