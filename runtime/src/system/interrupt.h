//===- interrupt.h - Ctrl-C while it trains ---------------------*- C -*-===//
//
// Between begin and end the first of SIGINT, SIGTERM, SIGHUP and SIGPIPE sets a
// flag, and SIGINT or SIGTERM after it ends the process at once. A terminal
// that closes may send SIGHUP several times, and SIGPIPE comes back with each
// line of progress that nobody reads any more: these two never do. Where SIGHUP
// (nohup) or SIGPIPE is ignored it stays so.
//
// Where a launcher has started several ranks, SIGUSR1 is what asks for an
// orderly end, and the others but SIGPIPE do what they do by default: a
// launcher that stops its ranks by SIGTERM leaves them too little time. For
// programs whose `main` is ours; libraries never touch signals.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_INTERRUPT_H
#define HFTA_SRC_SYSTEM_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { HFTA_INTERRUPT_SIGNALS = 5 };

typedef struct hfta_interrupt {
  pthread_t thread;
  bool started;
  sigset_t watched;
  sigset_t mask_before;
  struct sigaction before[HFTA_INTERRUPT_SIGNALS];
  bool left_alone[HFTA_INTERRUPT_SIGNALS]; ///< ignored, and stay so
  bool among_ranks;
  const char *binary;
  atomic_int signal;  ///< 0: none yet
  atomic_bool ending; ///< the thread is to return
} hfta_interrupt;

/// Must come before other threads are started: they inherit the mask. One at a
/// time in a process. `among_ranks`: it is one of several ranks.
void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary,
                          bool among_ranks);

void hfta_interrupt_end(hfta_interrupt *interrupt);

/// For hfta_train_options.should_stop; the argument is the hfta_interrupt.
bool hfta_interrupt_requested(void *argument);

#endif // HFTA_SRC_SYSTEM_INTERRUPT_H
