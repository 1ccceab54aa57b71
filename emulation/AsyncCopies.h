//===- AsyncCopies.h - Copies that threads don't wait for -------*- C++ -*-===//
//
// A thread begins copies into shared memory, says which of them are a group,
// and waits for all but its last groups. Nothing is copied before it waits, and
// until then the place holds NaNs: who reads too early computes something else.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_ASYNCCOPIES_H
#define HFTA_EMULATION_ASYNCCOPIES_H

#include <cstdint>

namespace async_copies {

/// What a copy writes.
inline constexpr uint32_t kBytes = 16;

// Called by a thread of a block that runs (Fibers.h).

/// Begins a copy of `count` bytes, at most kBytes, behind which come zeros.
void begin(void *to, const void *from, uint32_t count);
/// The copies begun since the last call are a group.
void commit();
/// Makes the copies of all groups but the last `left`.
void wait(uint32_t left);

/// Forgets all threads' copies and groups: another block begins.
void forget();

} // namespace async_copies

#endif // HFTA_EMULATION_ASYNCCOPIES_H
