//===- fault.h - Reading mapped files that shrink ---------------*- C -*-===//
//
// Reading a mapped page that its file no longer has (or whose disk fails) sends
// SIGBUS. Programs whose `main` is ours turn it into an error; libraries never
// touch signals, and there the host's handler gets it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FAULT_H
#define HFTA_SRC_SYSTEM_FAULT_H

#include <stdbool.h>

/// Installs the handler, for the rest of the process. SIGBUS outside of
/// hfta_fault_guard does what it did before.
void hfta_fault_install(void);

/// Calls `read(argument)`; false if a mapped page was gone. Then `read` didn't
/// return: what it holds then is lost. One at a time in a thread, in which
/// SIGBUS must not be blocked.
bool hfta_fault_guard(void (*read)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_FAULT_H
