//===- interrupt.c - Ctrl-C while it trains -------------------------------===//

#include "interrupt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *wait_main(void *argument) {
  hfta_interrupt *interrupt = argument;
  for (;;) {
    int number = 0;
    if (sigwait(&interrupt->watched, &number) != 0)
      continue;
    if (atomic_load(&interrupt->ending))
      return NULL;
    if (atomic_load(&interrupt->signal) != 0)
      _exit(128 + number);
    atomic_store(&interrupt->signal, number);
    fprintf(stderr,
            "\n%s: stopping after this step; once more to quit at once\n",
            interrupt->binary);
  }
  return NULL;
}

void hfta_interrupt_begin(hfta_interrupt *interrupt, const char *binary) {
  memset(interrupt, 0, sizeof(*interrupt));
  interrupt->binary = binary;
  atomic_init(&interrupt->signal, 0);
  atomic_init(&interrupt->ending, false);
  sigemptyset(&interrupt->watched);
  sigaddset(&interrupt->watched, SIGINT);
  sigaddset(&interrupt->watched, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &interrupt->watched, &interrupt->mask_before);
  // An ignored signal would never arrive: scripts ignore SIGINT for what they
  // start in the background, but it may be sent on purpose.
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(SIGINT, &standard, &interrupt->interrupt_before);
  sigaction(SIGTERM, &standard, &interrupt->terminate_before);
  interrupt->started =
      pthread_create(&interrupt->thread, NULL, wait_main, interrupt) == 0;
  if (!interrupt->started)
    pthread_sigmask(SIG_SETMASK, &interrupt->mask_before, NULL);
}

void hfta_interrupt_end(hfta_interrupt *interrupt) {
  if (!interrupt->started)
    return;
  // pthread_cancel would load libgcc_s at run time.
  atomic_store(&interrupt->ending, true);
  pthread_kill(interrupt->thread, SIGTERM);
  pthread_join(interrupt->thread, NULL);
  sigaction(SIGINT, &interrupt->interrupt_before, NULL);
  sigaction(SIGTERM, &interrupt->terminate_before, NULL);
  pthread_sigmask(SIG_SETMASK, &interrupt->mask_before, NULL);
}

bool hfta_interrupt_requested(void *argument) {
  hfta_interrupt *interrupt = argument;
  return atomic_load(&interrupt->signal) != 0;
}
