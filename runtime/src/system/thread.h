//===- thread.h - Threads of our own in a host program ----------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_THREAD_H
#define HFTA_SRC_SYSTEM_THREAD_H

#include <pthread.h>

/// Starts a thread with all signals blocked, so that the host program's
/// handlers don't run on it; only the signal of a faulty read is left to the
/// thread. Returns 0 or an errno.
int hfta_thread_start(pthread_t *out, void *(*function)(void *),
                      void *argument);

/// The stack size of a small thread in bytes. Memory limits may count all of
/// it.
enum { HFTA_SMALL_STACK = 512 << 10 };

/// Starts a thread with a small stack; it suits all threads except those that
/// compute.
int hfta_small_thread_start(pthread_t *out, void *(*function)(void *),
                            void *argument);

#endif // HFTA_SRC_SYSTEM_THREAD_H
