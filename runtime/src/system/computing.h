//===- computing.h - Whether the process computes ---------------*- C -*-===//
//
// What looks after something now and then takes time from the threads that
// compute, so it looks rarely while they do, and at once when they no longer
// do.
//
// Threads: any may call anything here.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_COMPUTING_H
#define HFTA_SRC_SYSTEM_COMPUTING_H

#include <stdbool.h>

/// From here to the end a thread computes. Several threads may, each with its
/// own begin and end.
void hfta_computing_begin(void);
void hfta_computing_end(void);

/// From here to the end a thread waits for what another one is to bring.
void hfta_waiting_begin(void);
void hfta_waiting_end(void);

/// Whether any thread computes, and none waits.
bool hfta_is_computing(void);

/// `ended` is called by each thread that begins to wait, and by the last that
/// ends computing, from now on; NULL: nothing is. After this returns what was
/// to be called before isn't called any more. There is one such function in a
/// process.
void hfta_computing_listen(void (*ended)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_COMPUTING_H
