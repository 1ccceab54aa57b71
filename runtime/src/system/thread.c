//===- thread.c - Starting the runtime's own threads ----------------------===//

#include "system/thread.h"

#include <signal.h>

static int start(pthread_t *out, const pthread_attr_t *attributes,
                 void *(*function)(void *), void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(out, attributes, function, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

int hfta_thread_start(pthread_t *out, void *(*function)(void *),
                      void *argument) {
  return start(out, NULL, function, argument);
}

int hfta_small_thread_start(pthread_t *out, void *(*function)(void *),
                            void *argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int code = pthread_attr_setstacksize(&attributes, HFTA_SMALL_STACK);
  if (code == 0)
    code = start(out, &attributes, function, argument);
  pthread_attr_destroy(&attributes);
  return code;
}
