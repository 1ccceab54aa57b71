//===- interrupt.h - Ctrl-C while it trains ---------------------*- C -*-===//
//
// Between begin and end, the first of SIGINT, SIGTERM, SIGHUP and SIGPIPE sets
// a flag; a later SIGINT or SIGTERM ends the process at once. A later SIGHUP or
// SIGPIPE never does: a terminal that closes may send SIGHUP several times, and
// SIGPIPE comes with each line of progress that nobody reads any more. If
// SIGHUP (nohup) or SIGPIPE was ignored, it stays ignored.
//
// Where a launcher has started several ranks, SIGUSR1 asks for an orderly end,
// and the other signals except SIGPIPE have their default effect: a launcher
// that stops its ranks with SIGTERM leaves them too little time. This is for
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
  bool left_alone[HFTA_INTERRUPT_SIGNALS]; ///< signals that were ignored and
                                           ///< stay so
  bool among_ranks;
  const char *binary;
  atomic_int signal;  ///< the first signal; 0 if none has come
  atomic_bool ending; ///< the thread is to return
} hfta_interrupt;

/// Must be called before other threads are started, as they inherit the signal
/// mask. A process may have one at a time. `among_ranks` says that the process
/// is one of several ranks.
void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary,
                          bool among_ranks);

void hfta_interrupt_end(hfta_interrupt *interrupt);

/// Serves as hfta_train_options.should_stop; the argument is the
/// hfta_interrupt.
bool hfta_interrupt_requested(void *argument);

#endif // HFTA_SRC_SYSTEM_INTERRUPT_H
