//===- computing.h - Whether the process computes ---------------*- C -*-===//
//
// Background work that polls something takes time from the threads that
// compute. So it polls rarely while they compute, and at once when they no
// longer do.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_COMPUTING_H
#define HFTA_SRC_SYSTEM_COMPUTING_H

#include <stdbool.h>

/// Mark the time in which a thread computes. Several threads may compute, each
/// with a begin and an end of its own.
void hfta_computing_begin(void);
void hfta_computing_end(void);

/// Mark the time in which a thread waits for another thread's result.
void hfta_waiting_begin(void);
void hfta_waiting_end(void);

/// Whether any thread computes and none waits.
bool hfta_is_computing(void);

/// Sets the function that each thread calls when it begins to wait, and that
/// the last computing thread calls when it ends; NULL for none. When this
/// returns, the previous function isn't called any more. A process has one such
/// function.
void hfta_computing_listen(void (*ended)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_COMPUTING_H
