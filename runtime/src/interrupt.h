//===- interrupt.h - Ctrl-C while it trains ---------------------*- C -*-===//
//
// Between begin and end, SIGINT and SIGTERM go to a thread that waits for
// them: the first sets a flag, a second one ends the process at once. For
// programs whose `main` is ours; libraries never touch signals.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INTERRUPT_H
#define HFTA_SRC_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct hfta_interrupt {
  pthread_t thread;
  bool started;
  sigset_t watched;
  sigset_t mask_before;
  struct sigaction interrupt_before;
  struct sigaction terminate_before;
  const char *binary;
  atomic_int signal;  ///< 0: none yet
  atomic_bool ending; ///< the thread is to return
} hfta_interrupt;

/// Must come before other threads are started: they inherit the mask.
void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary);

void hfta_interrupt_end(hfta_interrupt *interrupt);

/// For hfta_train_options.should_stop; the argument is the hfta_interrupt.
bool hfta_interrupt_requested(void *argument);

#endif // HFTA_SRC_INTERRUPT_H
