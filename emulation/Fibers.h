//===- Fibers.h - Threads of a block that wait for each other ---*- C++ -*-===//
//
// Each has a stack of its own, and all run on the calling thread: one until it
// waits, then another one. One block at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FIBERS_H
#define HFTA_EMULATION_FIBERS_H

namespace fibers {

/// As many threads as a block has at most.
inline constexpr unsigned kMost = 1024;

/// Threads of a warp: those of neighbouring numbers.
inline constexpr unsigned kWarp = 32;

/// Runs `count` threads, each of which calls `body`. Between two waits they run
/// in the order that `next` says, which gives each number below `count` once in
/// so many calls. False if some wait for others that have ended, or that wait
/// for something else; those never go on. A body may be left by a jump to where
/// this function was called.
bool run(unsigned count, void (*body)(void *), unsigned (*next)(void *),
         void *argument);

/// Called by a body: returns once all threads have called it.
void wait();
/// The same for the threads of a warp, as many as there are.
void waitForWarp();
/// The number of the thread that runs.
unsigned getThread();

} // namespace fibers

#endif // HFTA_EMULATION_FIBERS_H
