//===- thread.h - Threads of our own in a host program ----------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_THREAD_H
#define HFTA_SRC_SYSTEM_THREAD_H

#include <pthread.h>

/// Starts a thread with every signal blocked, so that the host program's
/// handlers don't run on it; but that of a faulty read is the thread's own.
/// Returns 0 or a number of errno.
int hfta_thread_start(pthread_t *out, void *(*function)(void *),
                      void *argument);

/// Bytes of a small thread's stack, all of which limits of memory may count.
enum { HFTA_SMALL_STACK = 512 << 10 };

/// The same with a small stack: for all but what computes.
int hfta_small_thread_start(pthread_t *out, void *(*function)(void *),
                            void *argument);

#endif // HFTA_SRC_SYSTEM_THREAD_H
