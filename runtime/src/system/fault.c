//===- fault.c - Reading mapped files that shrink -------------------------===//

#include "system/fault.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/// Where the thread's guarded read goes on after a fault; NULL: nowhere.
static _Thread_local sigjmp_buf *volatile guard;

static struct sigaction before;

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  if (guard && info->si_code > 0)
    siglongjmp(*guard, 1);
  // The faulting instruction runs again; what somebody sent is sent again.
  sigaction(number, &before, NULL);
  if (info->si_code <= 0)
    raise(number);
}

void hfta_fault_install(void) {
  struct sigaction action = {.sa_sigaction = handle,
                             // No mask has to be restored after a jump.
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
