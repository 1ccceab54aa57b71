//===- fault.c - Reading mapped files that shrink -------------------------===//

#include "system/fault.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/// The place to which the handler jumps after a fault in the thread's guarded
/// read; NULL if the thread has no guarded read.
static _Thread_local sigjmp_buf *volatile guard;

/// The action for SIGBUS before hfta_fault_install.
static struct sigaction before;

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  if (guard && info->si_code > 0)
    siglongjmp(*guard, 1);
  // Restore the previous handler. The faulting instruction runs again and
  // faults again; a signal that a process has sent is raised again.
  sigaction(number, &before, NULL);
  if (info->si_code <= 0)
    raise(number);
}

void hfta_fault_install(void) {
  struct sigaction action = {.sa_sigaction = handle,
                             // SA_NODEFER: the signal isn't blocked in the
                             // handler, so the jump out of the handler needn't
                             // restore the signal mask.
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGBUS, &action, &before);
}

bool hfta_fault_guard(void (*read)(void *argument), void *argument) {
  sigjmp_buf place;
  bool whole = sigsetjmp(place, 0) == 0;
  if (whole) {
    guard = &place;
    read(argument);
  }
  guard = NULL;
  return whole;
}
