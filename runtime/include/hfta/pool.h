//===- pool.h - A thread pool whose threads steal work ----------*- C -*-===//
//
// A pool of threads runs the kernels of one or several devices. The thread that
// calls hfta_parallel_for takes part as thread 0, so that a pool of one thread
// starts none. Work is divided into contiguous ranges, one per thread. A thread
// that has done its own range takes work from others' ends, so that threads
// that other processes slow down hold up little.
//
// Threads: one caller at a time. The pool's own threads block all signals, so
// that the host program's handlers never run on them. Ownership: the result of
// hfta_pool_create is freed by hfta_pool_destroy.
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

/// A function that does the work numbered [begin, end) on the pool's thread
/// `thread`, which is 0 .. threads - 1. It is called for several pieces of the
/// work, and must not expect that other threads run at the same time.
typedef void (*hfta_range_function)(void *argument, int64_t begin, int64_t end,
                                    int thread);

/// Returns the number of CPUs that this process may use, 1 .. HFTA_MAX_THREADS:
/// those that it may run on, or its control group's quota of CPU time if that
/// is less. If a launcher has started several ranks on this host, it is this
/// rank's share of them.
int hfta_pool_default_threads(void);

/// Creates a pool of `threads` threads, the caller included, each with
/// `scratch_bytes` of private memory. 0 threads mean
/// hfta_pool_default_threads(). HFTA_USAGE for more than HFTA_MAX_THREADS,
/// HFTA_UNSUPPORTED without memory or threads.
hfta_status hfta_pool_create(int threads, uint64_t scratch_bytes,
                             hfta_pool **out_pool, hfta_error *error);

/// Joins the threads and frees the pool. NULL is allowed.
void hfta_pool_destroy(hfta_pool *pool);

int hfta_pool_threads(const hfta_pool *pool);

/// Returns the 64-byte aligned scratch memory of a thread; NULL if the pool has
/// none.
void *hfta_pool_scratch(const hfta_pool *pool, int thread);

/// Returns the size of each thread's scratch memory in bytes.
uint64_t hfta_pool_scratch_bytes(const hfta_pool *pool);

/// Runs `function` for all work in [0, count), divided among the threads, and
/// returns when it is done. The threads see all memory written before the call;
/// after the call, the caller sees all that the threads have written. Allocates
/// nothing. Must not be called from inside `function`.
void hfta_parallel_for(hfta_pool *pool, int64_t count,
                       hfta_range_function function, void *argument);

#ifdef __cplusplus
}
#endif

#endif // HFTA_POOL_H
