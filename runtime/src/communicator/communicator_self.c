//===- communicator_self.c - A communicator of a single rank --------------===//

#include "communicator/posted.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct self_communicator {
  hfta_communicator base;
  double timeout; // seconds
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  hfta_posted_pool pool;
  hfta_own_transfers own;
  hfta_error error; // code HFTA_OK while nothing has failed
} self_communicator;

static hfta_status self_open(const hfta_rank_options *options,
                             hfta_communicator **out, hfta_error *error) {
  self_communicator *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a communicator");
  self->base = (hfta_communicator){&hfta_communicator_self, 0, 1, 1, NULL};
  self->timeout = options->timeout;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  *out = &self->base;
  return HFTA_OK;
}

static void self_close(hfta_communicator *communicator) {
  self_communicator *self = (self_communicator *)communicator;
  hfta_posted_pool_free(&self->pool);
  pthread_cond_destroy(&self->ended);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

static hfta_status self_split(hfta_communicator *communicator, int color,
                              int key, hfta_communicator **out,
                              hfta_error *error) {
  (void)key;
  self_communicator *self = (self_communicator *)communicator;
  hfta_rank_options options = {.timeout = self->timeout};
  return color < 0 ? HFTA_OK : self_open(&options, out, error);
}

/// Returns the code of the first failure and copies its message. The caller
/// holds the mutex.
static hfta_status report(self_communicator *self, hfta_error *error) {
  return self->error.code == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, self->error.code, "%s", self->error.message);
}

static hfta_status self_post(hfta_communicator *communicator,
                             const hfta_post *post, hfta_posted **out,
                             hfta_error *error) {
  self_communicator *self = (self_communicator *)communicator;
  pthread_mutex_lock(&self->mutex);
  hfta_posted *posted = NULL;
  if (self->error.code == HFTA_OK &&
      hfta_posted_create(&self->pool, communicator, post, &posted,
                         &self->error) == HFTA_OK)
    hfta_own_transfers_start(&self->own, posted, &self->mutex, &self->error);
  hfta_status status = report(self, error);
  if (status == HFTA_OK)
    *out = posted;
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
  return status;
}

static hfta_status self_wait(hfta_communicator *communicator,
                             hfta_posted *posted, hfta_error *error) {
  self_communicator *self = (self_communicator *)communicator;
  pthread_mutex_lock(&self->mutex);
  if (posted->left != 0)
    hfta_own_transfers_await(posted, &self->ended, &self->mutex, self->timeout,
                             &self->error);
  hfta_status status = report(self, error);
  if (status != HFTA_OK) {
    pthread_cond_broadcast(&self->ended);
    hfta_own_transfers_forget(&self->own, posted, &self->ended, &self->mutex);
  }
  hfta_posted_destroy(&self->pool, posted);
  pthread_mutex_unlock(&self->mutex);
  return status;
}

static void self_progress(hfta_communicator *communicator) {
  (void)communicator;
}

static void self_give_up(hfta_communicator *communicator, hfta_status code,
                         const char *message) {
  self_communicator *self = (self_communicator *)communicator;
  pthread_mutex_lock(&self->mutex);
  if (self->error.code == HFTA_OK)
    hfta_fail(&self->error, code, "%s", message);
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
}

static void self_fail(hfta_communicator *communicator, hfta_status code,
                      const char *line) {
  (void)communicator;
  fprintf(stderr, "%s\n", line);
  exit(code);
}

const hfta_communicator_functions hfta_communicator_self = {
    "self",    self_open, self_close,    self_split,   self_post,
    self_wait, NULL,      self_progress, self_give_up, self_fail};
