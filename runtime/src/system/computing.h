//===- computing.h - Whether the process computes ---------------*- C -*-===//
//
// Keeps track of whether threads of the process compute. Background work that
// polls takes time from them, so it polls rarely while they compute, and at
// once when they stop.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_COMPUTING_H
#define HFTA_SRC_SYSTEM_COMPUTING_H

#include <stdbool.h>

/// Mark the beginning and the end of a time in which the calling thread
/// computes. Several threads may do so independently.
void hfta_computing_begin(void);
void hfta_computing_end(void);

/// Mark the beginning and the end of a time in which the calling thread waits
/// for another thread's result.
void hfta_waiting_begin(void);
void hfta_waiting_end(void);

/// Returns whether at least one thread computes and no thread waits.
bool hfta_is_computing(void);

/// Sets the function that is called when a thread begins to wait, and when the
/// last computing thread stops; NULL for none. It is called on that thread.
/// When this returns, the previous function isn't called any more. A process
/// has one such function.
void hfta_computing_listen(void (*ended)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_COMPUTING_H
