//===- AsyncCopies.h - Asynchronous copies (cp.async) -----------*- C++ -*-===//
//
// A thread begins copies into shared memory, commits them as groups, and waits
// for all but its latest groups. No copy is made before the thread waits for
// it, and until then its destination holds NaNs: a thread that reads too early
// computes a wrong result.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_ASYNCCOPIES_H
#define HFTA_EMULATION_ASYNCCOPIES_H

#include <cstdint>

namespace async_copies {

/// The bytes that a copy writes.
inline constexpr uint32_t kBytes = 16;

// The functions below are called by a thread of a running block (Fibers.h).

/// Begins a copy of `count` bytes, at most kBytes; zeros fill the remaining
/// ones.
void begin(void *to, const void *from, uint32_t count);
/// Makes a group of the copies begun since the last call.
void commit();
/// Makes the copies of all groups except the latest `left` ones.
void wait(uint32_t left);

/// Forgets all threads' copies and groups, before another block begins.
void forget();

} // namespace async_copies

#endif // HFTA_EMULATION_ASYNCCOPIES_H
