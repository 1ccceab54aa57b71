//===- communicator_mpi.c - The ranks of an MPI launcher ------------------===//
//
// All communicators of a process exchange messages through a single MPI
// communicator. Each has a context number, which is part of the tags of its
// messages and keeps them apart from other communicators' messages. MPI's own
// functions that create communicators aren't used: they wait forever for a lost
// rank, and spin while they wait.
//===----------------------------------------------------------------------===//

#include "communicator/mpi_engine.h"
#include "formats/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef hfta_mpi_communicator communicator;

static communicator *make(hfta_engine *engine, int size, double timeout,
                          hfta_error *error) {
  communicator *self = calloc(1, sizeof(*self) + (size_t)size * sizeof(int));
  bool *is_far = calloc((size_t)size, sizeof(*is_far));
  if (!self || !is_far) {
    hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a communicator");
    free(self);
    free(is_far);
    return NULL;
  }
  self->base.is_far = is_far;
  self->base.functions = &hfta_communicator_mpi;
  self->base.size = size;
  self->engine = engine;
  self->timeout = timeout;
  return self;
}

/// Frees a communicator. After a failure of the engine nothing is freed,
/// because the engine's thread may still use earlier posts.
static void destroy(communicator *self) {
  pthread_mutex_lock(&self->engine->mutex);
  bool is_broken = self->engine->error.code != HFTA_OK;
  pthread_mutex_unlock(&self->engine->mutex);
  if (is_broken)
    return;
  hfta_posted_pool_free(&self->pool);
  free(self->base.is_far);
  free(self);
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// The record that each rank sends to all others when a communicator is
/// created.
typedef struct introduction {
  uint64_t version; // the version of the runtime, which must be the same on all
                    // ranks
  uint64_t host;    // equal for ranks that share processors
  uint64_t node; // hash of the host's name; MPI uses shared memory only between
                 // ranks of the same host name
  int32_t color, key;
  hfta_contexts contexts; // the contexts that are in use on this rank
} introduction;

static uint64_t hash(const char *text) {
  hfta_checksum sum;
  hfta_checksum_begin(&sum);
  hfta_checksum_add(&sum, text, strlen(text));
  return hfta_checksum_value(&sum);
}

static uint64_t identify_node(void) {
  char text[256] = "";
  return gethostname(text, sizeof(text) - 1) == 0 ? hash(text) : 0;
}

/// Returns a number that is equal for processes that share processors, even
/// where their host names differ.
static uint64_t identify_host(void) {
  char text[256] = "";
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  bool is_read = file && fgets(text, sizeof(text), file);
  if (file)
    fclose(file);
  return is_read ? hash(text) : identify_node();
}

static hfta_status introduce(communicator *self, int color, int key,
                             introduction *all, hfta_error *error) {
  uint64_t offsets[HFTA_MAX_RANKS + 1];
  for (int i = 0; i <= self->base.size; ++i)
    offsets[i] = (uint64_t)i * sizeof(*all);
  introduction *own = &all[self->base.rank];
  own->version = hash(HFTA_VERSION);
  own->host = identify_host();
  own->node = identify_node();
  own->color = color;
  own->key = key;
  pthread_mutex_lock(&self->engine->mutex);
  own->contexts = self->engine->contexts;
  pthread_mutex_unlock(&self->engine->mutex);
  hfta_label label = {"start of a communicator", -1, HFTA_TAG_SPLIT};
  hfta_posted *posted;
  hfta_status status = hfta_communicator_post_gather(&self->base, &label, all,
                                                     offsets, &posted, error);
  if (status == HFTA_OK)
    status = hfta_communicator_wait(&self->base, posted, error);
  for (int i = 0; i < self->base.size && status == HFTA_OK; ++i)
    if (all[i].version != own->version)
      status = hfta_fail(error, HFTA_USAGE,
                         "rank %d runs another version of the program than "
                         "rank %d",
                         self->world[i], self->world[self->base.rank]);
  return status;
}

/// Returns the lowest context that is free on all ranks; 0 if there is none,
/// since context 0 is always in use.
static int choose_context(const introduction *all, int count) {
  for (int i = 0; i < HFTA_MAX_CONTEXTS; ++i) {
    bool is_free = true;
    for (int j = 0; j < count; ++j)
      is_free &= (all[j].contexts.bits[i / 8] >> i % 8 & 1) == 0;
    if (is_free)
      return i;
  }
  return 0;
}

/// Collects the ranks that have this rank's color, in ascending order of their
/// keys; ranks with equal keys keep their order.
static int choose_members(const communicator *self, const introduction *all,
                          int *members) {
  int count = 0;
  for (int i = 0; i < self->base.size; ++i) {
    if (all[i].color != all[self->base.rank].color)
      continue;
    int place = count++;
    for (; place > 0 && all[members[place - 1]].key > all[i].key; --place)
      members[place] = members[place - 1];
    members[place] = i;
  }
  return count;
}

static hfta_status form(communicator *self, const introduction *all,
                        hfta_communicator **out, hfta_error *error) {
  int members[HFTA_MAX_RANKS];
  int count = choose_members(self, all, members);
  int context = choose_context(all, self->base.size);
  if (context == 0)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "more than %d communicators are open",
                     HFTA_MAX_CONTEXTS - 1);
  communicator *made = make(self->engine, count, self->timeout, error);
  if (!made)
    return HFTA_UNSUPPORTED;
  hfta_rank_options options = {.timeout = self->timeout};
  hfta_engine *engine;
  hfta_status status = hfta_engine_acquire(&options, &engine, error);
  if (status != HFTA_OK) {
    destroy(made);
    return status;
  }
  made->context = context;
  const introduction *own = &all[self->base.rank];
  for (int i = 0; i < count; ++i) {
    made->world[i] = self->world[members[i]];
    const introduction *other = &all[members[i]];
    made->base.local_size += other->host == own->host;
    made->base.is_far[i] = other->host != own->host || other->node != own->node;
    if (members[i] == self->base.rank)
      made->base.rank = i;
  }
  pthread_mutex_lock(&engine->mutex);
  engine->contexts.bits[context / 8] |= (uint8_t)(1 << context % 8);
  pthread_mutex_unlock(&engine->mutex);
  *out = &made->base;
  return HFTA_OK;
}

static hfta_status mpi_split(hfta_communicator *base, int color, int key,
                             hfta_communicator **out, hfta_error *error) {
  communicator *self = (communicator *)base;
  introduction *all = calloc((size_t)base->size, sizeof(*all));
  if (!all)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a communicator");
  hfta_status status = introduce(self, color, key, all, error);
  if (status == HFTA_OK && color >= 0)
    status = form(self, all, out, error);
  hfta_communicator_free(base, all);
  return status;
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

/// Opens a communicator of all ranks by splitting a temporary one. The
/// temporary one uses context 0, which is always reserved, so that no agreement
/// on a context is needed.
static hfta_status open_all(hfta_engine *engine, double timeout,
                            hfta_communicator **out, hfta_error *error) {
  int size = engine->heartbeats.size, rank = engine->heartbeats.rank;
  communicator *root = make(engine, size, timeout, error);
  if (!root)
    return HFTA_UNSUPPORTED;
  root->base.rank = rank;
  for (int i = 0; i < size; ++i)
    root->world[i] = i;
  hfta_status status = mpi_split(&root->base, 0, rank, out, error);
  destroy(root);
  return status;
}

static hfta_status mpi_open(const hfta_rank_options *options,
                            hfta_communicator **out, hfta_error *error) {
  hfta_engine *engine;
  hfta_status status = hfta_engine_acquire(options, &engine, error);
  if (status != HFTA_OK)
    return status;
  status = open_all(engine, options->timeout, out, error);
  hfta_engine_release(engine);
  return status;
}

static void mpi_close(hfta_communicator *base) {
  communicator *self = (communicator *)base;
  hfta_engine *engine = self->engine;
  pthread_mutex_lock(&engine->mutex);
  engine->contexts.bits[self->context / 8] &=
      (uint8_t)~(1 << self->context % 8);
  pthread_mutex_unlock(&engine->mutex);
  destroy(self);
  hfta_engine_release(engine);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Returns the code of the first failure and copies its message. The caller
/// holds the mutex.
static hfta_status report(const hfta_engine *engine, hfta_error *error) {
  return engine->error.code == HFTA_OK ? HFTA_OK
                                       : hfta_fail(error, engine->error.code,
                                                   "%s", engine->error.message);
}

static hfta_status mpi_post(hfta_communicator *base, const hfta_post *post,
                            hfta_posted **out, hfta_error *error) {
  communicator *self = (communicator *)base;
  hfta_engine *engine = self->engine;
  hfta_posted *posted = NULL;
  hfta_error own;
  pthread_mutex_lock(&engine->mutex);
  if (engine->error.code == HFTA_OK) {
    hfta_status status =
        hfta_posted_create(&self->pool, base, post, &posted, &own);
    if (status == HFTA_OK && posted->remote != 0) {
      *engine->posted_end = posted;
      engine->posted_end = &posted->next;
      pthread_cond_signal(&engine->changed);
    }
    if (status == HFTA_OK)
      status =
          hfta_own_transfers_start(&self->own, posted, &engine->mutex, &own);
    if (status != HFTA_OK)
      hfta_engine_break(engine, status, own.message);
    pthread_cond_broadcast(&engine->ended);
  }
  hfta_status status = report(engine, error);
  if (status == HFTA_OK)
    *out = posted;
  pthread_mutex_unlock(&engine->mutex);
  return status;
}

static hfta_status mpi_wait(hfta_communicator *base, hfta_posted *posted,
                            hfta_error *error) {
  communicator *self = (communicator *)base;
  hfta_engine *engine = self->engine;
  pthread_mutex_lock(&engine->mutex);
  posted->is_waited_for = true;
  posted->began = engine->now;
  while (posted->remote != 0 && engine->error.code == HFTA_OK)
    pthread_cond_wait(&engine->ended, &engine->mutex);
  if (posted->remote != 0)
    hfta_engine_settle(engine);
  if (posted->left != 0)
    hfta_own_transfers_await(posted, &engine->ended, &engine->mutex,
                             self->timeout, &engine->error);
  if (engine->error.code != HFTA_OK) {
    pthread_cond_broadcast(&engine->ended);
    hfta_own_transfers_forget(&self->own, posted, &engine->ended,
                              &engine->mutex);
  }
  hfta_status status = report(engine, error);
  // MPI may still access the memory of a post whose transfers haven't all
  // ended, so such a post isn't reused.
  if (posted->remote == 0)
    hfta_posted_destroy(&self->pool, posted);
  pthread_mutex_unlock(&engine->mutex);
  return status;
}

static bool mpi_keeps_memory(hfta_communicator *base) {
  hfta_engine *engine = ((communicator *)base)->engine;
  pthread_mutex_lock(&engine->mutex);
  bool keeps = engine->error.code != HFTA_OK && hfta_engine_settle(engine);
  pthread_mutex_unlock(&engine->mutex);
  return keeps;
}

static void mpi_progress(hfta_communicator *base) {
  communicator *self = (communicator *)base;
  atomic_fetch_add_explicit(&self->engine->counter, 1, memory_order_relaxed);
}

static void mpi_give_up(hfta_communicator *base, hfta_status code,
                        const char *message) {
  hfta_engine *engine = ((communicator *)base)->engine;
  pthread_mutex_lock(&engine->mutex);
  hfta_engine_break(engine, code, message);
  pthread_mutex_unlock(&engine->mutex);
}

static void mpi_fail(hfta_communicator *base, hfta_status code,
                     const char *line) {
  hfta_engine_fail(((communicator *)base)->engine, code, line);
}

const hfta_communicator_functions hfta_communicator_mpi = {
    "mpi",    mpi_open,         mpi_close,    mpi_split,   mpi_post,
    mpi_wait, mpi_keeps_memory, mpi_progress, mpi_give_up, mpi_fail};
