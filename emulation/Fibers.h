//===- Fibers.h - Threads of a block that wait for each other ---*- C++ -*-===//
//
// Each thread has a stack of its own. All run on the calling thread, one at a
// time: one runs until it waits, then another one. One block runs at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FIBERS_H
#define HFTA_EMULATION_FIBERS_H

#include <cstdint>

namespace fibers {

/// The most threads of a block.
inline constexpr unsigned kMost = 1024;

/// The threads of a warp, whose numbers are consecutive.
inline constexpr unsigned kWarp = 32;

/// The named barriers of a block.
inline constexpr unsigned kBarriers = 16;

/// Runs `count` threads, each of which calls `body`. Between two waits they run
/// in the order that `next` gives: `count` calls of it return each number below
/// `count` once. Returns false if some threads wait for others that have ended
/// or that wait for something else; those never go on. A body may be left by a
/// jump (longjmp) to the caller of this function.
bool run(unsigned count, void (*body)(void *), unsigned (*next)(void *),
         void *argument);

/// Waits until all threads of the block have called it. A body calls it.
void wait();
/// Waits until all threads of the warp have called it.
void waitForWarp();
/// Waits at the named barrier of a number below kBarriers, until `threads`
/// threads of the block have called it, whichever they are.
void waitAt(uint32_t barrier, uint32_t threads);
/// Returns once `holds` returns true. It is called when no other thread can go
/// on, possibly outside of any thread.
void waitUntil(bool (*holds)(void *), void *argument);
/// Returns once no other thread can go on, not even one in `waitUntil`.
void yield();
/// Fails the block for that reason: no thread goes on.
[[noreturn]] void fail(const char *reason);
/// Fails the block, as `fail` does, but can be called outside of a thread and
/// returns: a condition of `waitUntil` uses it.
void setFailure(const char *reason);
/// Returns why the last block failed; nullptr if nobody called `fail`.
const char *getFailure();
/// Returns the number of the running thread.
unsigned getThread();

} // namespace fibers

#endif // HFTA_EMULATION_FIBERS_H
