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

/// From here to the end some thread computes, and waits for nothing. Several
/// threads may, each with its own begin and end.
void hfta_computing_begin(void);
void hfta_computing_end(void);

/// Whether any thread is between the two.
bool hfta_is_computing(void);

/// `ended` is called by the thread that was the last to compute, each time that
/// none does any more, from now on; NULL: nothing is. After this returns what
/// was to be called before isn't called any more. There is one such function in
/// a process.
void hfta_computing_listen(void (*ended)(void *argument), void *argument);

#endif // HFTA_SRC_SYSTEM_COMPUTING_H
