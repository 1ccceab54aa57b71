//===- computing.c - Whether the process computes -------------------------===//

#include "system/computing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int threads;

static struct {
  pthread_mutex_t mutex; // of all that follows, and held in the call
  void (*ended)(void *argument);
  void *argument;
} the_listener = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void hfta_computing_begin(void) { atomic_fetch_add(&threads, 1); }

void hfta_computing_end(void) {
  if (atomic_fetch_sub(&threads, 1) != 1)
    return;
  pthread_mutex_lock(&the_listener.mutex);
  if (the_listener.ended)
    the_listener.ended(the_listener.argument);
  pthread_mutex_unlock(&the_listener.mutex);
}

bool hfta_is_computing(void) { return atomic_load(&threads) > 0; }

void hfta_computing_listen(void (*ended)(void *argument), void *argument) {
  pthread_mutex_lock(&the_listener.mutex);
  the_listener.ended = ended;
  the_listener.argument = argument;
  pthread_mutex_unlock(&the_listener.mutex);
}
