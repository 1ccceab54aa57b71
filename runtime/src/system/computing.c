//===- computing.c - Whether the process computes -------------------------===//

#include "system/computing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int computing, waiting;

static struct {
  // Protects the members below; held while `ended` is called.
  pthread_mutex_t mutex;
  void (*ended)(void *argument);
  void *argument;
} the_listener = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void tell(void) {
  pthread_mutex_lock(&the_listener.mutex);
  if (the_listener.ended)
    the_listener.ended(the_listener.argument);
  pthread_mutex_unlock(&the_listener.mutex);
}

void hfta_computing_begin(void) { atomic_fetch_add(&computing, 1); }

void hfta_computing_end(void) {
  if (atomic_fetch_sub(&computing, 1) == 1)
    tell();
}

void hfta_waiting_begin(void) {
  atomic_fetch_add(&waiting, 1);
  tell();
}

void hfta_waiting_end(void) { atomic_fetch_sub(&waiting, 1); }

bool hfta_is_computing(void) {
  return atomic_load(&computing) > 0 && atomic_load(&waiting) == 0;
}

void hfta_computing_listen(void (*ended)(void *argument), void *argument) {
  pthread_mutex_lock(&the_listener.mutex);
  the_listener.ended = ended;
  the_listener.argument = argument;
  pthread_mutex_unlock(&the_listener.mutex);
}
