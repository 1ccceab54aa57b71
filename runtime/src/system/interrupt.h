//===- interrupt.h - Stopping a training by signals ---------------*- C -*-===//
//
// Between begin and end, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE sets a
// flag, and a later SIGINT or SIGTERM ends the process at once. A later SIGHUP
// or SIGPIPE doesn't: a terminal that closes may send SIGHUP several times, and
// SIGPIPE comes with each line of progress that nobody reads any more. If
// SIGHUP (as with nohup) or SIGPIPE was ignored before, it stays ignored.
//
// If a launcher has started several ranks, SIGUSR1 asks for an orderly end
// instead, and the other signals except SIGPIPE have their default effect: a
// launcher that stops its ranks with SIGTERM leaves them too little time. This
// file is for programs with Hfta's `main`; libraries never change signal
// handlers.
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
  sigset_t watched; ///< the signals that the signal thread waits for
  sigset_t mask_before;
  struct sigaction before[HFTA_INTERRUPT_SIGNALS]; ///< the signals' actions
                                                   ///< before
                                                   ///< hfta_interrupt_begin
  bool left_alone[HFTA_INTERRUPT_SIGNALS]; ///< whether the signal was ignored,
                                           ///< and stays so
  bool among_ranks;
  const char *binary;
  atomic_int signal;  ///< the first signal that has come; 0 if none has
  atomic_bool ending; ///< asks the signal thread to return
} hfta_interrupt;

/// Begins to handle signals. Must be called before other threads are started,
/// since they inherit the signal mask. A process may have one active object at
/// a time. `binary` is the program's name for messages; `among_ranks` tells
/// whether the process is one of several ranks.
void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary,
                          bool among_ranks);

/// Restores the signals' previous actions and the signal mask.
void hfta_interrupt_end(hfta_interrupt *interrupt);

/// Returns whether a signal has come. Serves as hfta_train_options.should_stop;
/// the argument is the hfta_interrupt.
bool hfta_interrupt_requested(void *argument);

#endif // HFTA_SRC_SYSTEM_INTERRUPT_H
