//===- AsyncCopies.h - Asynchronous copies (cp.async) -----------*- C++ -*-===//
//
// Emulates PTX's cp.async: a thread begins copies into shared memory, commits
// them as groups, and waits for all but its latest groups. A copy is made as
// late as possible, when the thread that began it waits for it. Until then its
// destination holds NaNs, so that a read before the wait gives a wrong result.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_ASYNCCOPIES_H
#define HFTA_EMULATION_ASYNCCOPIES_H

#include <cstdint>

namespace async_copies {

/// The number of bytes that each copy writes.
inline constexpr uint32_t kBytes = 16;

// The functions below are called by a thread of a running block (Fibers.h).

/// Begins a copy that writes kBytes bytes: the first `count` bytes come from
/// `from`, and the rest are zeros. A larger `count` counts as kBytes.
void begin(void *to, const void *from, uint32_t count);
/// Commits the copies that the thread has begun since its last call as a group.
void commit();
/// Makes the copies of all of the thread's groups except the latest `left`
/// ones. Copies that aren't committed aren't made.
void wait(uint32_t left);

/// Discards the copies and groups of all threads. Called before a block begins.
void forget();

} // namespace async_copies

#endif // HFTA_EMULATION_ASYNCCOPIES_H
