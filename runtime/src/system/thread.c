//===- thread.c - Threads of our own in a host program --------------------===//

#include "system/thread.h"

#include <signal.h>

int hfta_thread_start(pthread_t *out, void *(*function)(void *),
                      void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(out, NULL, function, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}
