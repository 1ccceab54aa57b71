//===- worker_group.c - Workers that share processes ----------------------===//

#include "communicator/worker_group.h"
#include "communicator/posted.h"
#include "communicator/worker_tags.h"
#include "system/clock.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct worker {
  int rank;  ///< the rank that the worker belongs to
  int place; ///< the worker's position among that rank's workers
} worker;

/// A worker's communicator.
typedef struct worker_communicator {
  hfta_communicator base;
  hfta_worker_group *group;
  int first; ///< the number of the worker that is rank 0 of this communicator
  bool is_stage; ///< whether this communicator contains one stage's workers,
                 ///< not all workers
  hfta_posted_pool pool;
  hfta_own_transfers own;
} communicator;

/// A worker of this process.
typedef struct own_worker {
  communicator all, stage;
  pthread_cond_t ended; ///< signalled when messages of this worker have ended
} own_worker;

struct hfta_worker_group {
  hfta_communicator *ranks;
  hfta_worker_tags tags;
  double timeout;
  int size, own_count;
  worker *workers;           ///< all workers of the program
  own_worker *own;           ///< the workers of this process, by their places
  _Atomic uint64_t progress; ///< the number of steps of progress that this
                             ///< process has made
  _Atomic int awaiting;  ///< the number of threads that wait for other ranks
  pthread_mutex_t mutex; ///< protects all communicators' posts and `error`
  hfta_error error;      ///< code HFTA_OK while nothing has failed
};

//===----------------------------------------------------------------------===//
// Places of workers
//===----------------------------------------------------------------------===//

static own_worker *owner_of(const communicator *self) {
  int number = self->first + self->base.rank;
  return &self->group->own[self->group->workers[number].place];
}

static const worker *worker_of(const communicator *self, int rank) {
  return &self->group->workers[self->first + rank];
}

static bool is_here(const communicator *self, int rank) {
  return worker_of(self, rank)->rank == self->group->ranks->rank;
}

/// Returns the communicator that worker `rank` of this process has for the
/// group of workers that `self` belongs to.
static communicator *counterpart_of(const communicator *self, int rank) {
  own_worker *own = &self->group->own[worker_of(self, rank)->place];
  return self->is_stage ? &own->stage : &own->all;
}

/// Returns the tag that a message with `peer` has in the ranks' communicator.
static int tag_with(const communicator *self, int peer, int tag) {
  const worker *here = worker_of(self, self->base.rank);
  const worker *there = worker_of(self, peer);
  bool is_lower = here->rank < there->rank;
  return hfta_worker_tag(&self->group->tags, self->is_stage,
                         (is_lower ? here : there)->place,
                         (is_lower ? there : here)->place, tag);
}

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

/// Records the first failure and wakes all waiting threads. The caller holds
/// the mutex.
static void break_group(hfta_worker_group *self, hfta_status code,
                        const char *message) {
  if (self->error.code == HFTA_OK)
    hfta_fail(&self->error, code, "%s", message);
  for (int i = 0; i < self->own_count; ++i)
    pthread_cond_broadcast(&self->own[i].ended);
}

/// Returns the code of the first failure and copies its message. The caller
/// holds the mutex.
static hfta_status report(const hfta_worker_group *self, hfta_error *error) {
  return self->error.code == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, self->error.code, "%s", self->error.message);
}

/// Makes the group fail, and with its first failure the ranks' communicator
/// too.
static void workers_give_up(hfta_communicator *base, hfta_status code,
                            const char *message) {
  hfta_worker_group *group = ((communicator *)base)->group;
  pthread_mutex_lock(&group->mutex);
  break_group(group, code, message);
  hfta_error first = group->error;
  pthread_mutex_unlock(&group->mutex);
  hfta_communicator_give_up(group->ranks, first.code, first.message);
}

//===----------------------------------------------------------------------===//
// Messages to other ranks
//===----------------------------------------------------------------------===//

/// The most consecutive messages between the same two workers that are posted
/// to the ranks' communicator together.
enum { MOST_AT_ONCE = 32 };

/// Posts `count` transfers with the same peer to the ranks' communicator. The
/// resulting post is stored in the first transfer's `request`.
static hfta_status post_run(communicator *self, hfta_transfer *first,
                            uint32_t count, hfta_error *error) {
  const hfta_label *label = &first->posted->label;
  int peer = first->message.peer;
  hfta_message messages[MOST_AT_ONCE];
  for (uint32_t i = 0; i < count; ++i) {
    messages[i] = first[i].message;
    messages[i].peer = worker_of(self, peer)->rank;
  }
  hfta_post post = {
      {label->what, label->micro_batch, tag_with(self, peer, label->tag)},
      messages,
      count};
  hfta_posted *posted;
  hfta_status status =
      hfta_communicator_post(self->group->ranks, &post, &posted, error);
  if (status == HFTA_OK)
    first->request = posted;
  return status;
}

static hfta_status post_to_ranks(communicator *self, hfta_posted *posted,
                                 hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < posted->count && status == HFTA_OK;) {
    hfta_transfer *first = &posted->transfers[i];
    uint32_t count = 1;
    while (i + count < posted->count && count < MOST_AT_ONCE &&
           first[count].message.peer == first->message.peer)
      ++count;
    if (!is_here(self, first->message.peer))
      status = post_run(self, first, count, error);
    i += count;
  }
  return status;
}

/// Waits for all messages of a post to and from other ranks, even after a
/// failure. Returns the first error.
static hfta_status await_ranks(communicator *self, hfta_posted *posted,
                               hfta_error *error) {
  hfta_worker_group *group = self->group;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < posted->count; ++i) {
    hfta_posted *run = posted->transfers[i].request;
    if (!run)
      continue;
    posted->transfers[i].request = NULL;
    atomic_fetch_add(&group->awaiting, 1);
    hfta_status own = hfta_communicator_wait(group->ranks, run,
                                             status == HFTA_OK ? error : NULL);
    atomic_fetch_sub(&group->awaiting, 1);
    if (status == HFTA_OK)
      status = own;
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Messages inside the process
//===----------------------------------------------------------------------===//

/// Copies the transfers within this process whose counterpart was posted
/// already, and adds the remaining ones to the list. The caller holds the
/// mutex, which is released during copies.
static hfta_status start_copies(communicator *self, hfta_posted *posted,
                                hfta_error *error) {
  hfta_worker_group *group = self->group;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < posted->count && status == HFTA_OK; ++i) {
    hfta_transfer *transfer = &posted->transfers[i];
    int peer = transfer->message.peer;
    if (!is_here(self, peer))
      continue;
    communicator *with = counterpart_of(self, peer);
    hfta_transfer *other = hfta_own_transfers_take(&with->own, peer, transfer);
    if (!other) {
      hfta_own_transfers_add(&self->own, transfer);
      continue;
    }
    status = hfta_transfer_copy(transfer, other, &group->mutex, error);
    if (status == HFTA_OK)
      status = report(group, error);
    pthread_cond_broadcast(&owner_of(with)->ended);
  }
  return status;
}

/// The longest interval, in seconds, between two checks of whether the process
/// makes progress.
static const double longest_look = 0.5;

typedef struct patience {
  uint64_t seen; ///< the group's progress at the last check
  double still;  ///< seconds without progress
} patience;

/// Returns whether a waiting worker must assume that its counterpart will never
/// be posted: for the timeout, the process has made no progress and no thread
/// of it waits for another rank. `seconds` is the duration of the wait since
/// the last call.
static bool is_lost(const hfta_worker_group *group, patience *self,
                    double seconds) {
  uint64_t now = atomic_load(&group->progress);
  if (now != self->seen || atomic_load(&group->awaiting) != 0) {
    *self = (patience){now, 0.0};
    return false;
  }
  self->still += seconds;
  return self->still > group->timeout;
}

/// Waits until a post's copies have ended or something fails. The caller holds
/// the mutex, which is released during the wait.
static hfta_status await_copies(communicator *self, hfta_posted *posted,
                                hfta_error *error) {
  hfta_worker_group *group = self->group;
  double look = group->timeout / 8.0;
  look = look < longest_look ? look : longest_look;
  patience patience = {atomic_load(&group->progress), 0.0};
  while (posted->left != 0 && group->error.code == HFTA_OK) {
    struct timespec until = hfta_clock_after(look);
    if (pthread_cond_timedwait(&owner_of(self)->ended, &group->mutex, &until) ==
            0 ||
        !is_lost(group, &patience, look))
      continue;
    return hfta_fail(
        error, HFTA_LOST,
        "worker %d has waited for another one of its process, which has made "
        "no progress for %g s: %s%s",
        self->first + self->base.rank, group->timeout, posted->label.what,
        hfta_describe_micro_batch(&posted->label).text);
  }
  return report(group, error);
}

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

/// Removes a failed post. Returns when no copy from or to its memory is in
/// progress. The caller holds the mutex, which is released during the wait.
static void forget(communicator *self, hfta_posted *posted) {
  hfta_own_transfers_forget(&self->own, posted, &owner_of(self)->ended,
                            &self->group->mutex);
  hfta_posted_destroy(&self->pool, posted);
}

static hfta_status create(communicator *self, const hfta_post *post,
                          hfta_posted **out, hfta_error *error) {
  if (!hfta_worker_tags_have(&self->group->tags, post->label.tag))
    return hfta_fail(error, HFTA_INTERNAL, "%s: tag %d, expected 0 to %d",
                     post->label.what, post->label.tag,
                     self->group->tags.schedules - 1);
  hfta_status status =
      hfta_posted_create(&self->pool, &self->base, post, out, error);
  if (status != HFTA_OK)
    return status;
  hfta_posted *posted = *out;
  posted->left = 0;
  for (uint32_t i = 0; i < posted->count; ++i)
    posted->left += is_here(self, posted->transfers[i].message.peer);
  return HFTA_OK;
}

/// Makes all workers of the process fail, after an error `own` of one of them.
/// Returns the group's first failure once no message of the post is in flight;
/// `posted` may be NULL.
static hfta_status fail_post(communicator *self, hfta_posted *posted,
                             const hfta_error *own, hfta_error *error) {
  hfta_worker_group *group = self->group;
  workers_give_up(&self->base, own->code, own->message);
  if (posted)
    await_ranks(self, posted, NULL);
  pthread_mutex_lock(&group->mutex);
  if (posted)
    forget(self, posted);
  hfta_status status = report(group, error);
  pthread_mutex_unlock(&group->mutex);
  return status;
}

static hfta_status workers_post(hfta_communicator *base, const hfta_post *post,
                                hfta_posted **out, hfta_error *error) {
  communicator *self = (communicator *)base;
  hfta_worker_group *group = self->group;
  hfta_posted *posted = NULL;
  hfta_error own = {.code = HFTA_OK};
  pthread_mutex_lock(&group->mutex);
  hfta_status status = report(group, &own);
  if (status == HFTA_OK)
    status = create(self, post, &posted, &own);
  pthread_mutex_unlock(&group->mutex);
  if (status == HFTA_OK)
    status = post_to_ranks(self, posted, &own);
  if (status == HFTA_OK) {
    pthread_mutex_lock(&group->mutex);
    status = report(group, &own);
    if (status == HFTA_OK)
      status = start_copies(self, posted, &own);
    pthread_cond_broadcast(&owner_of(self)->ended);
    pthread_mutex_unlock(&group->mutex);
  }
  if (status != HFTA_OK)
    return fail_post(self, posted, &own, error);
  atomic_fetch_add_explicit(&group->progress, 1, memory_order_relaxed);
  *out = posted;
  return HFTA_OK;
}

static hfta_status workers_wait(hfta_communicator *base, hfta_posted *posted,
                                hfta_error *error) {
  communicator *self = (communicator *)base;
  hfta_worker_group *group = self->group;
  hfta_error own;
  hfta_status status = await_ranks(self, posted, &own);
  pthread_mutex_lock(&group->mutex);
  if (status == HFTA_OK)
    status = await_copies(self, posted, &own);
  if (status == HFTA_OK)
    hfta_posted_destroy(&self->pool, posted);
  pthread_mutex_unlock(&group->mutex);
  if (status != HFTA_OK)
    return fail_post(self, posted, &own, error);
  atomic_fetch_add_explicit(&group->progress, 1, memory_order_relaxed);
  return status;
}

static void workers_progress(hfta_communicator *base) {
  hfta_worker_group *group = ((communicator *)base)->group;
  atomic_fetch_add_explicit(&group->progress, 1, memory_order_relaxed);
  hfta_communicator_progress(group->ranks);
}

static void workers_fail(hfta_communicator *base, hfta_status code,
                         const char *line) {
  hfta_communicator_fail(((communicator *)base)->group->ranks, code, line);
}

static hfta_status workers_open(const hfta_rank_options *options,
                                hfta_communicator **out, hfta_error *error) {
  (void)options;
  (void)out;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "workers have no launcher of their own");
}

static void workers_close(hfta_communicator *base) { (void)base; }

static hfta_status workers_split(hfta_communicator *base, int color, int key,
                                 hfta_communicator **out, hfta_error *error) {
  (void)base;
  (void)color;
  (void)key;
  (void)out;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "workers' communicators can't be split");
}

static bool workers_keep_memory(hfta_communicator *base) {
  return hfta_communicator_keeps_memory(((communicator *)base)->group->ranks);
}

static const hfta_communicator_functions functions = {
    "workers",       workers_open, workers_close,       workers_split,
    workers_post,    workers_wait, workers_keep_memory, workers_progress,
    workers_give_up, workers_fail};

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Fills in all workers. Returns the largest number of workers on one rank.
static int place_workers(hfta_worker_group *self, const hfta_worker_map *map) {
  int most = 0;
  for (int i = 0; i < self->size; ++i) {
    worker *own = &self->workers[i];
    *own = (worker){map->ranks[i], 0};
    for (int j = 0; j < i; ++j)
      own->place += self->workers[j].rank == own->rank;
    most = own->place + 1 > most ? own->place + 1 : most;
    self->own_count += own->rank == self->ranks->rank;
  }
  return most;
}

static void fill_communicator(hfta_worker_group *self, communicator *out,
                              int first, int count, int number) {
  int local = 0;
  for (int i = first; i < first + count; ++i)
    local += self->workers[i].rank == self->ranks->rank;
  // It is known only how many of the other ranks are on this host, not which.
  // So other ranks' workers count as local only if all ranks are.
  if (self->ranks->local_size == self->ranks->size)
    local = count;
  out->base =
      (hfta_communicator){&functions, number - first, count, local, NULL};
  out->group = self;
  out->first = first;
}

static void fill_own(hfta_worker_group *self, const hfta_worker_map *map,
                     const pthread_condattr_t *attributes) {
  int first = 0;
  for (int stage = 0; stage < map->stages; ++stage) {
    int count = map->replicas[stage];
    for (int i = first; i < first + count; ++i) {
      if (self->workers[i].rank != self->ranks->rank)
        continue;
      own_worker *own = &self->own[self->workers[i].place];
      fill_communicator(self, &own->all, 0, self->size, i);
      fill_communicator(self, &own->stage, first, count, i);
      own->stage.is_stage = true;
      pthread_cond_init(&own->ended, attributes);
    }
    first += count;
  }
}

static hfta_status make(hfta_worker_group *self, const hfta_worker_map *map,
                        hfta_error *error) {
  hfta_status no_memory = HFTA_UNSUPPORTED;
  self->workers = calloc((size_t)self->size, sizeof(*self->workers));
  if (!self->workers)
    return hfta_fail(error, no_memory, "not enough memory for workers");
  int most = place_workers(self, map);
  // If this process has all workers, no message leaves it, so tags need not
  // tell workers apart.
  if (self->ranks->size == 1)
    most = 1;
  hfta_status status =
      hfta_worker_tags_create(map->schedule_tags, most, &self->tags, error);
  if (status != HFTA_OK)
    return status;
  self->own = calloc((size_t)self->own_count, sizeof(*self->own));
  if (!self->own) {
    self->own_count = 0;
    return hfta_fail(error, no_memory, "not enough memory for workers");
  }
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  fill_own(self, map, &attributes);
  pthread_condattr_destroy(&attributes);
  return HFTA_OK;
}

hfta_status hfta_worker_group_create(hfta_communicator *ranks,
                                     const hfta_worker_map *map,
                                     hfta_worker_group **out,
                                     hfta_error *error) {
  *out = NULL;
  if (map->workers > HFTA_MAX_RANKS)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "%d workers: at most %d are possible", map->workers,
                     HFTA_MAX_RANKS);
  hfta_worker_group *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for workers");
  self->ranks = ranks;
  self->size = map->workers;
  self->timeout = map->timeout > 0.0 ? map->timeout : HFTA_DEFAULT_RANK_TIMEOUT;
  pthread_mutex_init(&self->mutex, NULL);
  hfta_status status = make(self, map, error);
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_worker_group_free(self);
  return status;
}

void hfta_worker_group_free(hfta_worker_group *self) {
  if (!self)
    return;
  for (int i = 0; self->own && i < self->own_count; ++i) {
    hfta_posted_pool_free(&self->own[i].all.pool);
    hfta_posted_pool_free(&self->own[i].stage.pool);
    pthread_cond_destroy(&self->own[i].ended);
  }
  pthread_mutex_destroy(&self->mutex);
  free(self->own);
  free(self->workers);
  free(self);
}

hfta_communicator *hfta_worker_group_all(hfta_worker_group *self, int worker) {
  return &self->own[self->workers[worker].place].all.base;
}

hfta_communicator *hfta_worker_group_stage(hfta_worker_group *self,
                                           int worker) {
  return &self->own[self->workers[worker].place].stage.base;
}
