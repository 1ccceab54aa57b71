//===- pool.c - A thread pool whose threads steal work --------------------===//
//
// To start a job, the caller fills the threads' ranges of work and increments
// `generation`. A thread takes pieces from the front of its own range, and when
// that is empty, from the back of others'. So a thread that another process
// keeps from running holds up one piece, and not all of its range; and no one
// waits for a thread that has taken nothing. The job is done when no work is
// `left`.
//
// Both sides spin for a few microseconds before they sleep on a futex. The
// number of sleepers is counted, so that the system call that wakes them is
// made only if there are any.
//===----------------------------------------------------------------------===//

#include "hfta/pool.h"

#include "hfta/communicator.h"
#include "system/cpu_limit.h"
#include "system/pages.h"
#include "system/thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPIN_ROUNDS = 2000 };

/// One thread of the pool; the caller is the first one. Each has a cache line
/// of its own.
typedef struct worker {
  /// The units of work that no one has taken yet: the first one in the lower 32
  /// bits, and the end in the upper ones.
  _Alignas(64) _Atomic uint64_t range;
  hfta_pool *pool;
  pthread_t thread;
  int index;
} worker;

struct hfta_pool {
  // The caller writes the next four members before it fills the ranges. A
  // thread reads them after it has taken a piece: until that is done, the job
  // is this one.
  hfta_range_function function;
  void *argument;
  int64_t count;
  int64_t unit; ///< the work of a unit, so that numbers of units have 32 bits

  // Each of the two groups has a cache line of its own, since workers poll the
  // first group and the caller polls the second one.
  _Alignas(64) _Atomic uint32_t generation;
  _Atomic uint32_t sleepers;
  _Atomic uint32_t stopping;
  _Alignas(64) _Atomic uint32_t left; ///< units that aren't done yet
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

static void wait_until_done(hfta_pool *pool) {
  for (int i = 0; i < pool->spin_rounds; ++i) {
    if (atomic_load_explicit(&pool->left, memory_order_acquire) == 0)
      return;
    relax();
  }
  atomic_store(&pool->caller_sleeps, 1);
  uint32_t left;
  while ((left = atomic_load(&pool->left)) != 0)
    futex_wait(&pool->left, left);
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
static uint32_t range_begin(uint32_t count, int threads, int thread) {
  uint32_t share = count / (uint32_t)threads, rest = count % (uint32_t)threads;
  uint32_t before = (uint32_t)thread;
  return share * before + (before < rest ? before : rest);
}

static uint64_t pack(uint32_t begin, uint32_t end) {
  return (uint64_t)end << 32 | begin;
}

/// Takes an eighth of what is left of a range, at least one unit: at its front,
/// or at its back. Returns the piece, which is empty if nothing is left.
static uint64_t take(_Atomic uint64_t *range, bool front) {
  uint64_t seen = atomic_load_explicit(range, memory_order_acquire);
  for (;;) {
    uint32_t begin = (uint32_t)seen, end = (uint32_t)(seen >> 32);
    if (begin >= end)
      return 0;
    uint32_t size = (end - begin - 1) / 8 + 1;
    uint64_t rest = front ? pack(begin + size, end) : pack(begin, end - size);
    if (atomic_compare_exchange_weak(range, &seen, rest))
      return front ? pack(begin, begin + size) : pack(end - size, end);
  }
}

/// Runs pieces until no range has any work left.
static void run_pieces(hfta_pool *pool, int thread) {
  for (int i = 0; i < pool->threads;) {
    int owner = (thread + i) % pool->threads;
    uint64_t piece = take(&pool->workers[owner].range, /*front=*/i == 0);
    if (!piece) {
      ++i;
      continue;
    }
    uint32_t first = (uint32_t)piece, behind = (uint32_t)(piece >> 32);
    int64_t begin = first * pool->unit, end = behind * pool->unit;
    pool->function(pool->argument, begin, end < pool->count ? end : pool->count,
                   thread);
    if (atomic_fetch_sub(&pool->left, behind - first) == behind - first &&
        atomic_load(&pool->caller_sleeps))
      futex_wake(&pool->left, 1);
  }
}

static void *worker_main(void *argument) {
  worker *self = argument;
  hfta_pool *pool = self->pool;
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job(pool, seen);
    if (atomic_load(&pool->stopping))
      return NULL;
    run_pieces(pool, self->index);
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
  pool->unit = (count - 1) / UINT32_MAX + 1;
  uint32_t units = (uint32_t)((count - 1) / pool->unit + 1);
  atomic_store(&pool->left, units);
  for (int i = 0; i < pool->threads; ++i)
    atomic_store_explicit(&pool->workers[i].range,
                          pack(range_begin(units, pool->threads, i),
                               range_begin(units, pool->threads, i + 1)),
                          memory_order_release);
  raise_generation(pool);
  run_pieces(pool, 0);
  wait_until_done(pool);
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
