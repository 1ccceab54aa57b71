//===- machine_limits.c - Measured limits of the processor ----------------===//

#include "command_line/bench/machine_limits.h"

#include "hfta/pool.h"
#include "system/clock.h"
#include "system/cpu_features.h"
#include "system/pages.h"

#include <string.h>

/// The number of timed rounds, the iterations of a round of multiply-adds, the
/// size of a thread's block that is copied, and that of a cache line.
enum { ROUNDS = 5, STEPS = 1 << 20, COPIED_BYTES = 32 << 20, LINE_BYTES = 64 };

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

/// Twelve independent accumulators hide the latency of two FMA units.
#define FOR_EACH_SUM(DO)                                                       \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

enum { SUMS = 12 };

#if defined(__x86_64__)
#define STEP(N) "vfmadd213ps %12, %13, %" #N "\n"
#define DEFINE_MULTIPLY_ADD(NAME, FEATURES, BYTES)                             \
  __attribute__((target(FEATURES))) static void NAME(int64_t steps) {          \
    typedef float vector __attribute__((vector_size(BYTES)));                  \
    vector s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0;     \
    vector s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0, one = s0 + 1.0f;     \
    for (int64_t i = 0; i < steps; ++i)                                        \
      __asm__ volatile(FOR_EACH_SUM(STEP)                                      \
                       : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4),     \
                         "+v"(s5), "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9),     \
                         "+v"(s10), "+v"(s11)                                  \
                       : "v"(one), "v"(one));                                  \
  }

DEFINE_MULTIPLY_ADD(multiply_add_512, "avx512f", 64)
DEFINE_MULTIPLY_ADD(multiply_add_256, "avx2,fma", 32)
#endif

/// A version in plain C, for processors without one of the others.
static void multiply_add_scalar(int64_t steps) {
  volatile float sink;
  float sums[SUMS] = {0};
  for (int64_t i = 0; i < steps; ++i)
    for (int j = 0; j < SUMS; ++j)
      sums[j] = sums[j] * 1.0001f + 1.0f;
  sink = sums[0] + sums[SUMS - 1];
  (void)sink;
}

/// A function for multiply-adds, and the number of lanes of its vectors.
typedef struct multiply_add {
  void (*run)(int64_t steps);
  int lanes;
} multiply_add;

static multiply_add choose_multiply_add(void) {
#if defined(__x86_64__)
  if (hfta_cpu_has("avx512f"))
    return (multiply_add){multiply_add_512, 16};
  if (hfta_cpu_has("avx2,fma"))
    return (multiply_add){multiply_add_256, 8};
#endif
  return (multiply_add){multiply_add_scalar, 1};
}

static void run_multiply_add(void *argument, int64_t begin, int64_t end,
                             int thread) {
  (void)thread;
  for (int64_t i = begin; i < end; ++i)
    ((const multiply_add *)argument)->run(STEPS);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The memory of all threads. Each thread has two consecutive blocks and copies
/// the first one to the second one.
typedef struct blocks {
  char *memory;
  uint64_t bytes; ///< size of one block
} blocks;

static void run_copy(void *argument, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const blocks *self = argument;
  for (int64_t i = begin; i < end; ++i) {
    char *block = self->memory + 2 * (uint64_t)i * self->bytes;
    memcpy(block + self->bytes, block, self->bytes);
  }
}

/// Runs a function on all threads several times. Returns the shortest time in
/// seconds.
static double measure(hfta_pool *pool, int threads,
                      hfta_range_function function, void *argument) {
  double best = 0;
  for (int round = 0; round <= ROUNDS; ++round) {
    double begin = hfta_now();
    hfta_parallel_for(pool, threads, function, argument);
    double seconds = hfta_now() - begin;
    // The first run isn't timed, as it touches memory and code for the first
    // time.
    if (round == 1 || (round > 1 && seconds < best))
      best = seconds;
  }
  return best > 0 ? best : 1e-9;
}

hfta_status hfta_measure_limits(int threads, uint64_t most_bytes,
                                hfta_machine_limits *out, hfta_error *error) {
  hfta_pool *pool = NULL;
  hfta_status status = hfta_pool_create(threads, 0, &pool, error);
  if (status != HFTA_OK)
    return status;
  uint64_t share = most_bytes / 2 / (uint64_t)threads;
  blocks self = {.bytes = share < COPIED_BYTES ? share : COPIED_BYTES};
  self.bytes = self.bytes / LINE_BYTES * LINE_BYTES + LINE_BYTES;
  uint64_t bytes = 2 * (uint64_t)threads * self.bytes;
  self.memory = hfta_pages_map(bytes, 1);
  if (!self.memory)
    status =
        hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for %llu bytes",
                  (unsigned long long)bytes);
  if (status == HFTA_OK) {
    memset(self.memory, 1, bytes);
    multiply_add kernel = choose_multiply_add();
    out->flops = 2.0 * SUMS * kernel.lanes * (double)STEPS * threads /
                 measure(pool, threads, run_multiply_add, &kernel);
    out->bytes = (double)bytes / measure(pool, threads, run_copy, &self);
  }
  hfta_pages_unmap(self.memory, bytes);
  hfta_pool_destroy(pool);
  return status;
}
