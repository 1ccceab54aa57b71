//===- fault.h - Reading mapped files that shrink ---------------*- C -*-===//
//
// A read of a mapped page that no longer belongs to the file, or whose disk
// fails, raises SIGBUS. Programs with Hfta's `main` turn the signal into an
// error. Hfta's libraries never change signal handlers, so there the host
// program's handler is called.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FAULT_H
#define HFTA_SRC_SYSTEM_FAULT_H

#include <stdbool.h>

/// Installs a handler of SIGBUS, for the rest of the process. A SIGBUS outside
/// of hfta_fault_guard has its previous effect.
void hfta_fault_install(void);

/// Calls `read(argument)`. Returns false if a mapped page couldn't be read:
/// then `read` was left by a jump, and resources that it held are lost. A
/// thread can have one guard at a time, and must not block SIGBUS. Needs
/// hfta_fault_install.
bool hfta_fault_guard(void (*read)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_FAULT_H
