//===- Fibers.h - Threads of a block that wait for each other ---*- C++ -*-===//
//
// The threads of an emulated thread block are fibers: each has its own stack,
// and all run on one thread of the host, one at a time. A fiber runs until it
// waits for others or ends; then another one is resumed. One block runs at a
// time. A block fails if its threads do something that isn't allowed; then none
// of them is resumed any more.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FIBERS_H
#define HFTA_EMULATION_FIBERS_H

#include <cstdint>

namespace fibers {

/// The most threads of a block.
inline constexpr unsigned kMost = 1024;

/// The number of threads of a warp; these have consecutive numbers.
inline constexpr unsigned kWarp = 32;

/// The number of named barriers of a block.
inline constexpr unsigned kBarriers = 16;

/// Runs a block of `count` threads, each of which calls `body(argument)`.
///
/// The threads run in rounds: in each round, `next(argument)` is called `count`
/// times and must return each number below `count` once. The thread of that
/// number is resumed, unless it waits.
///
/// Returns true if all threads have ended. Returns false if the block has
/// failed, or if the remaining threads wait for each other forever (for
/// example, at a barrier that an ended thread can't reach). A body may be left
/// by longjmp to the caller of this function.
bool run(unsigned count, void (*body)(void *), unsigned (*next)(void *),
         void *argument);

// The functions below, except setFailure and getFailure, are called by a thread
// of the running block.

/// Waits until all threads of the block have called this function.
void wait();
/// Waits until all threads of the warp have called this function.
void waitForWarp();
/// Waits at a named barrier until `threads` threads of the block, no matter
/// which ones, wait there. The block fails unless `barrier` is less than
/// kBarriers, `threads` is a positive multiple of kWarp, and all threads that
/// wait there pass the same `threads`.
void waitAt(uint32_t barrier, uint32_t threads);
/// Waits until `holds(argument)` returns true. The condition is evaluated, on
/// the stack of `run`, whenever no other thread can go on.
void waitUntil(bool (*holds)(void *), void *argument);
/// Waits until no other thread can go on, not even one in `waitUntil`.
void yield();
/// Makes the block fail, and never returns. `reason` is kept by pointer; it
/// reads like "waits at a barrier that there isn't", as a message names the
/// thread or kernel before it.
[[noreturn]] void fail(const char *reason);
/// Makes the block fail, as `fail` does, but returns. It may be called by a
/// condition of `waitUntil`, and outside of a block; nullptr clears the reason.
void setFailure(const char *reason);
/// Returns the reason for which the last block failed, or nullptr. There is
/// also none if threads wait for each other forever.
const char *getFailure();
/// Returns the number of the running thread.
unsigned getThread();

} // namespace fibers

#endif // HFTA_EMULATION_FIBERS_H
