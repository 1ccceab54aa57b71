//===- pool.h - A thread pool with a static schedule ------------*- C -*-===//
//
// One pool belongs to one instance. The thread that calls
// hfta_parallel_for takes part as thread 0, so a pool of one thread starts
// none. Work is cut into contiguous ranges, one a thread; which thread gets
// which range is a function of the count and the number of threads only.
//
// Threads: one caller at a time. The pool's own threads block every signal,
// so that the host program's handlers never run on them.
// Ownership: hfta_pool_create's result is freed by hfta_pool_destroy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_POOL_H
#define HFTA_POOL_H

#include "hfta/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HFTA_MAX_THREADS 256

typedef struct hfta_pool hfta_pool;

/// Does the work on [begin, end). `thread` is 0 .. threads - 1.
typedef void (*hfta_range_function)(void *argument, int64_t begin, int64_t end,
                                    int thread);

/// Returns the number of CPUs that this process may run on, or its control
/// group's quota of CPU time if that is less; if a launcher has started several
/// ranks on this host, a rank's share of these. 1 .. HFTA_MAX_THREADS.
int hfta_pool_default_threads(void);

/// Starts `threads` - 1 threads, each with `scratch_bytes` of private memory.
/// `threads` 0 means hfta_pool_default_threads().
hfta_status hfta_pool_create(int threads, uint64_t scratch_bytes,
                             hfta_pool **out_pool, hfta_error *error);

/// Joins the threads. NULL is allowed.
void hfta_pool_destroy(hfta_pool *pool);

int hfta_pool_threads(const hfta_pool *pool);

/// Returns the 64-byte aligned scratch memory of a thread; NULL if the pool has
/// none.
void *hfta_pool_scratch(const hfta_pool *pool, int thread);

/// Returns the size of each thread's scratch memory in bytes.
uint64_t hfta_pool_scratch_bytes(const hfta_pool *pool);

/// Runs `function` over [0, count) and returns when all of it is done. Every
/// thread sees the memory written before the call, and the caller sees what the
/// threads wrote after it. Allocates nothing. Must not be called from inside
/// `function`.
void hfta_parallel_for(hfta_pool *pool, int64_t count,
                       hfta_range_function function, void *argument);

#ifdef __cplusplus
}
#endif

#endif // HFTA_POOL_H
