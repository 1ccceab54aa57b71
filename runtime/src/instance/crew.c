//===- crew.c - One thread per worker -------------------------------------===//

#include "instance/crew.h"

#include "system/thread.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// A member of the crew with a thread of its own.
typedef struct member {
  hfta_crew *crew;
  pthread_t thread;
} member;

struct hfta_crew {
  pthread_mutex_t mutex; // protects the members below
  pthread_cond_t begun;
  pthread_cond_t ended;
  void (*work)(void *argument, uint32_t member);
  void *argument;
  uint64_t calls; // number of calls that have begun
  uint32_t busy;  // number of members that still run in the last call, the
                  // caller not included
  bool stopping;

  uint32_t
      started; // number of started threads, which are the members from 1 on
  member members[];
};

static void *member_main(void *argument) {
  member *own = argument;
  hfta_crew *self = own->crew;
  uint64_t done = 0;
  pthread_mutex_lock(&self->mutex);
  for (;;) {
    while (self->calls == done && !self->stopping)
      pthread_cond_wait(&self->begun, &self->mutex);
    if (self->calls == done)
      break;
    ++done;
    pthread_mutex_unlock(&self->mutex);
    self->work(self->argument, (uint32_t)(own - self->members));
    pthread_mutex_lock(&self->mutex);
    if (--self->busy == 0)
      pthread_cond_signal(&self->ended);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

void hfta_crew_do(hfta_crew *self,
                  void (*work)(void *argument, uint32_t member),
                  void *argument) {
  if (!self) {
    work(argument, 0);
    return;
  }
  pthread_mutex_lock(&self->mutex);
  self->work = work;
  self->argument = argument;
  self->busy = self->started;
  ++self->calls;
  pthread_cond_broadcast(&self->begun);
  pthread_mutex_unlock(&self->mutex);
  work(argument, 0);
  pthread_mutex_lock(&self->mutex);
  while (self->busy > 0)
    pthread_cond_wait(&self->ended, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
}

hfta_status hfta_crew_create(uint32_t members, hfta_crew **out,
                             hfta_error *error) {
  *out = NULL;
  hfta_crew *self = calloc(1, sizeof(*self) + members * sizeof(member));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->begun, NULL);
  pthread_cond_init(&self->ended, NULL);
  int code = 0;
  for (uint32_t i = 1; i < members && code == 0; ++i) {
    self->members[i].crew = self;
    code = hfta_thread_start(&self->members[i].thread, member_main,
                             &self->members[i]);
    self->started += code == 0;
  }
  if (code != 0) {
    hfta_crew_destroy(self);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot start a worker's thread: %s", strerror(code));
  }
  *out = self;
  return HFTA_OK;
}

void hfta_crew_destroy(hfta_crew *self) {
  if (!self)
    return;
  pthread_mutex_lock(&self->mutex);
  self->stopping = true;
  pthread_cond_broadcast(&self->begun);
  pthread_mutex_unlock(&self->mutex);
  for (uint32_t i = 1; i <= self->started; ++i)
    pthread_join(self->members[i].thread, NULL);
  pthread_cond_destroy(&self->begun);
  pthread_cond_destroy(&self->ended);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}
