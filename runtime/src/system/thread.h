//===- thread.h - Starting the runtime's own threads --------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_THREAD_H
#define HFTA_SRC_SYSTEM_THREAD_H

#include <pthread.h>

/// Starts a thread with all signals blocked except SIGBUS, so that the host
/// program's handlers don't run on it. SIGBUS reports failed reads of mapped
/// files (fault.h). Returns 0 or an errno value.
int hfta_thread_start(pthread_t *out, void *(*function)(void *),
                      void *argument);

/// The stack size of a small thread in bytes. It is small because limits of
/// virtual memory may count all of it.
enum { HFTA_SMALL_STACK = 512 << 10 };

/// Starts a thread as hfta_thread_start does, but with a small stack. Suits all
/// threads except those that run kernels.
int hfta_small_thread_start(pthread_t *out, void *(*function)(void *),
                            void *argument);

#endif // HFTA_SRC_SYSTEM_THREAD_H
