//===- interrupt.c - Stopping a training by signals -----------------------===//

#include "system/interrupt.h"

#include "system/thread.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int numbers[HFTA_INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP,
                                                    SIGUSR1, SIGPIPE};

/// Returns whether the signal thread waits for a signal, provided that the
/// signal isn't ignored.
static bool is_watched(const hfta_interrupt *interrupt, int number) {
  return number != SIGPIPE && (number == SIGUSR1) == interrupt->among_ranks;
}

/// The active object, for handle_pipe: signal handlers have no argument.
static _Atomic(hfta_interrupt *) current;

/// Records a signal. Returns whether it is the first one.
static bool note_first(hfta_interrupt *interrupt, int number) {
  int none = 0;
  return atomic_compare_exchange_strong(&interrupt->signal, &none, number);
}

/// Handles SIGPIPE, which the kernel sends to the writing thread, so that the
/// signal thread can't receive it. The write fails in any case.
static void handle_pipe(int number) {
  hfta_interrupt *interrupt = atomic_load(&current);
  if (interrupt)
    note_first(interrupt, number);
}

static void *wait_main(void *argument) {
  hfta_interrupt *interrupt = argument;
  for (;;) {
    int number = 0;
    if (sigwait(&interrupt->watched, &number) != 0)
      continue;
    if (atomic_load(&interrupt->ending))
      return NULL;
    bool is_first = note_first(interrupt, number);
    if (interrupt->among_ranks)
      continue; // every rank gets the signal or learns of it from the others
    if (is_first)
      fprintf(stderr,
              "\n%s: stopping after this step; once more to quit at once\n",
              interrupt->binary);
    else if (number != SIGHUP)
      _exit(128 + number);
  }
  return NULL;
}

/// Records a signal's previous action, and decides whether the signal thread
/// waits for the signal. It doesn't wait for ignored signals, because sigwait
/// would receive them too.
static void look_at(hfta_interrupt *interrupt, int index) {
  struct sigaction *before = &interrupt->before[index];
  sigaction(numbers[index], NULL, before);
  bool ignored =
      !(before->sa_flags & SA_SIGINFO) && before->sa_handler == SIG_IGN;
  bool may_be_ignored = numbers[index] == SIGHUP || numbers[index] == SIGPIPE;
  interrupt->left_alone[index] = ignored && may_be_ignored;
  if (!interrupt->left_alone[index] && is_watched(interrupt, numbers[index]))
    sigaddset(&interrupt->watched, numbers[index]);
}

/// Installs the action of a signal that is handled here. Signals for the signal
/// thread get their default action, since an ignored signal would never arrive.
/// Shells ignore SIGINT for programs in the background, but it may still be
/// sent on purpose.
static void set_action(hfta_interrupt *interrupt, int index) {
  struct sigaction action = {
      .sa_handler = numbers[index] == SIGPIPE ? handle_pipe : SIG_DFL};
  bool is_ours = numbers[index] == SIGPIPE ||
                 sigismember(&interrupt->watched, numbers[index]);
  if (!interrupt->left_alone[index] && is_ours)
    sigaction(numbers[index], &action, NULL);
}

static void restore(hfta_interrupt *interrupt) {
  for (int i = 0; i < HFTA_INTERRUPT_SIGNALS; ++i)
    sigaction(numbers[i], &interrupt->before[i], NULL);
  atomic_store(&current, NULL);
  pthread_sigmask(SIG_SETMASK, &interrupt->mask_before, NULL);
}

void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary,
                          bool among_ranks) {
  memset(interrupt, 0, sizeof(*interrupt));
  interrupt->among_ranks = among_ranks;
  interrupt->binary = binary;
  atomic_init(&interrupt->signal, 0);
  atomic_init(&interrupt->ending, false);
  atomic_store(&current, interrupt);
  sigemptyset(&interrupt->watched);
  for (int i = 0; i < HFTA_INTERRUPT_SIGNALS; ++i)
    look_at(interrupt, i);
  pthread_sigmask(SIG_BLOCK, &interrupt->watched, &interrupt->mask_before);
  for (int i = 0; i < HFTA_INTERRUPT_SIGNALS; ++i)
    set_action(interrupt, i);
  interrupt->started =
      hfta_small_thread_start(&interrupt->thread, wait_main, interrupt) == 0;
  if (!interrupt->started)
    restore(interrupt);
}

void hfta_interrupt_end(hfta_interrupt *interrupt) {
  if (!interrupt->started)
    return;
  // The signal thread is woken by a signal, since pthread_cancel would load
  // libgcc_s at run time.
  atomic_store(&interrupt->ending, true);
  pthread_kill(interrupt->thread, interrupt->among_ranks ? SIGUSR1 : SIGTERM);
  pthread_join(interrupt->thread, NULL);
  restore(interrupt);
}

bool hfta_interrupt_requested(void *argument) {
  hfta_interrupt *interrupt = argument;
  return atomic_load(&interrupt->signal) != 0;
}
