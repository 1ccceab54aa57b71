//===- pool.c - A thread pool with a static schedule ----------------------===//
//
// To start a job, the caller increments `generation`; the workers, which are
// the pool's threads, then decrement `pending`. Both sides spin for a few
// microseconds before they sleep on a futex. The number of sleepers is counted,
// so that the system call that wakes them is made only if there are any.
//===----------------------------------------------------------------------===//

#include "hfta/pool.h"

#include "hfta/communicator.h"
#include "system/cpu_limit.h"
#include "system/pages.h"
#include "system/thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPIN_ROUNDS = 2000 };

typedef struct worker {
  hfta_pool *pool;
  pthread_t thread;
  int index;
} worker;

struct hfta_pool {
  // The caller writes the next three members before it increments `generation`.
  hfta_range_function function;
  void *argument;
  int64_t count;

  // Each of the two groups has a cache line of its own, since workers poll the
  // first group and the caller polls the second one.
  _Alignas(64) _Atomic uint32_t generation;
  _Atomic uint32_t sleepers;
  _Atomic uint32_t stopping;
  _Alignas(64) _Atomic uint32_t pending;
  _Atomic uint32_t caller_sleeps;

  _Alignas(64) int threads;
  int started;
  int spin_rounds;
  uint64_t scratch_bytes;  // bytes per thread, as requested
  uint64_t scratch_stride; // bytes per thread, rounded up to pages
  char *scratch;
  worker workers[];
};

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

/// Waits until `generation` differs from `seen`. Returns the new value.
static uint32_t wait_for_job(hfta_pool *pool, uint32_t seen) {
  for (int i = 0; i < pool->spin_rounds; ++i) {
    uint32_t now =
        atomic_load_explicit(&pool->generation, memory_order_acquire);
    if (now != seen)
      return now;
    relax();
  }
  atomic_fetch_add(&pool->sleepers, 1);
  uint32_t now;
  while ((now = atomic_load(&pool->generation)) == seen)
    futex_wait(&pool->generation, seen);
  atomic_fetch_sub(&pool->sleepers, 1);
  return now;
}

static void wait_for_workers(hfta_pool *pool) {
  for (int i = 0; i < pool->spin_rounds; ++i) {
    if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0)
      return;
    relax();
  }
  atomic_store(&pool->caller_sleeps, 1);
  uint32_t left;
  while ((left = atomic_load(&pool->pending)) != 0)
    futex_wait(&pool->pending, left);
  atomic_store(&pool->caller_sleeps, 0);
}

static void raise_generation(hfta_pool *pool) {
  atomic_fetch_add(&pool->generation, 1);
  if (atomic_load(&pool->sleepers) != 0)
    futex_wake(&pool->generation, pool->threads);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Returns the beginning of a thread's range. Doesn't compute count * thread /
/// threads, since the product may overflow.
static int64_t range_begin(int64_t count, int threads, int thread) {
  int64_t share = count / threads, rest = count % threads;
  return share * thread + (thread < rest ? thread : rest);
}

static void run_range(hfta_pool *pool, int thread) {
  int64_t begin = range_begin(pool->count, pool->threads, thread);
  int64_t end = range_begin(pool->count, pool->threads, thread + 1);
  if (begin < end)
    pool->function(pool->argument, begin, end, thread);
}

static void *worker_main(void *argument) {
  worker *self = argument;
  hfta_pool *pool = self->pool;
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job(pool, seen);
    if (atomic_load(&pool->stopping))
      return NULL;
    run_range(pool, self->index);
    if (atomic_fetch_sub(&pool->pending, 1) == 1 &&
        atomic_load(&pool->caller_sleeps))
      futex_wake(&pool->pending, 1);
  }
}

void hfta_parallel_for(hfta_pool *pool, int64_t count,
                       hfta_range_function function, void *argument) {
  if (count <= 0)
    return;
  if (pool->threads == 1 || count == 1) {
    function(argument, 0, count, 0);
    return;
  }
  pool->function = function;
  pool->argument = argument;
  pool->count = count;
  atomic_store(&pool->pending, (uint32_t)pool->threads - 1);
  raise_generation(pool);
  run_range(pool, 0);
  wait_for_workers(pool);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Returns this rank's share of the host's processors, at most the `allowed`
/// ones. If a launcher binds ranks to processors, `allowed` may be the
/// processors of this rank alone or of several ranks, so the processors of the
/// whole host are divided among its ranks.
static int64_t share_of_host(int64_t allowed) {
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  int64_t granted = hfta_group_cpu_limit(&hfta_system_groups);
  int64_t online = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t all = !launcher.is_bound ? allowed
                : granted < online ? granted
                                   : online;
  int64_t share = all / launcher.local_size;
  share = share < allowed ? share : allowed;
  return share < 1 ? 1 : share;
}

int hfta_pool_default_threads(void) {
  int64_t count = share_of_host(hfta_cpu_limit());
  return count < HFTA_MAX_THREADS ? (int)count : HFTA_MAX_THREADS;
}

static hfta_status map_scratch(hfta_pool *pool, hfta_error *error) {
  if (pool->scratch_bytes == 0)
    return HFTA_OK;
  const uint64_t page = 4096;
  if (pool->scratch_bytes > UINT64_MAX / 2 / HFTA_MAX_THREADS)
    return hfta_fail(error, HFTA_INTERNAL,
                     "scratch of %llu bytes a thread "
                     "is more than memory can hold",
                     (unsigned long long)pool->scratch_bytes);
  pool->scratch_stride = (pool->scratch_bytes + page - 1) / page * page;
  uint64_t bytes = pool->scratch_stride * (uint64_t)pool->threads;
  pool->scratch = hfta_pages_map(bytes, page);
  if (!pool->scratch)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for %llu bytes of scratch",
                     (unsigned long long)bytes);
  return HFTA_OK;
}

static hfta_status start_workers(hfta_pool *pool, hfta_error *error) {
  for (int i = 1; i < pool->threads; ++i) {
    worker *self = &pool->workers[i];
    self->pool = pool;
    self->index = i;
    int code = hfta_thread_start(&self->thread, worker_main, self);
    if (code != 0)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "cannot start thread %d of %d: %s", i + 1, pool->threads,
                       strerror(code));
    pool->started = i;
  }
  return HFTA_OK;
}

hfta_status hfta_pool_create(int threads, uint64_t scratch_bytes,
                             hfta_pool **out_pool, hfta_error *error) {
  *out_pool = NULL;
  int processors = hfta_pool_default_threads();
  if (threads == 0)
    threads = processors;
  if (threads < 1 || threads > HFTA_MAX_THREADS)
    return hfta_fail(error, HFTA_USAGE,
                     "%d threads asked for, 1 to %d possible", threads,
                     HFTA_MAX_THREADS);
  size_t bytes = sizeof(hfta_pool) + sizeof(worker) * (size_t)threads;
  hfta_pool *pool = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!pool)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a thread pool");
  memset(pool, 0, bytes);
  pool->threads = threads;
  pool->scratch_bytes = scratch_bytes;
  // With more threads than processors, a spinning thread would keep another one
  // from working.
  pool->spin_rounds = threads <= processors ? SPIN_ROUNDS : 0;
  hfta_status status = map_scratch(pool, error);
  if (status == HFTA_OK)
    status = start_workers(pool, error);
  if (status != HFTA_OK) {
    hfta_pool_destroy(pool);
    return status;
  }
  *out_pool = pool;
  return HFTA_OK;
}

void hfta_pool_destroy(hfta_pool *pool) {
  if (!pool)
    return;
  atomic_store(&pool->stopping, 1);
  raise_generation(pool);
  for (int i = 1; i <= pool->started; ++i)
    pthread_join(pool->workers[i].thread, NULL);
  hfta_pages_unmap(pool->scratch,
                   pool->scratch_stride * (uint64_t)pool->threads);
  free(pool);
}

int hfta_pool_threads(const hfta_pool *pool) { return pool->threads; }

void *hfta_pool_scratch(const hfta_pool *pool, int thread) {
  if (!pool->scratch)
    return NULL;
  return pool->scratch + pool->scratch_stride * (uint64_t)thread;
}

uint64_t hfta_pool_scratch_bytes(const hfta_pool *pool) {
  return pool->scratch_bytes;
}
