//===- fault.h - Reading mapped files that shrink ---------------*- C -*-===//
//
// Reading a mapped page that the file no longer has (or whose disk fails)
// raises SIGBUS. Programs whose `main` is ours turn it into an error; libraries
// never touch signals, so there the host program's handler gets it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FAULT_H
#define HFTA_SRC_SYSTEM_FAULT_H

#include <stdbool.h>

/// Installs the handler, for the rest of the process. A SIGBUS outside of
/// hfta_fault_guard has its previous effect.
void hfta_fault_install(void);

/// Calls `read(argument)`; returns false if a mapped page was gone. In that
/// case `read` was left by a jump, and any resources that it held are lost. A
/// thread can have one guard at a time, and must not block SIGBUS.
bool hfta_fault_guard(void (*read)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_FAULT_H
