//===- BulkCopies.h - Bulk copies of tensors, and mbarriers -----*- C++ -*-===//
//
// Emulates PTX's mbarrier and cp.async.bulk.tensor ("Parallel Thread Execution
// ISA", sections of these names). A bulk copy brings a box of a tensor into
// shared memory. An mbarrier is a barrier in shared memory, with phases: a
// phase ends when all of its arrivals have happened and all of the bytes that
// it expects have been copied.
//
// A copy is made as late as possible: when a thread waits for its mbarrier and
// no other thread can go on. Until then its destination holds NaNs.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_BULKCOPIES_H
#define HFTA_EMULATION_BULKCOPIES_H

#include <cstdint>

namespace bulk_copies {

/// The alignment, in bytes, that a copy's destination must have.
inline constexpr unsigned kAlignment = 128;

// The functions below are called by a thread of a running block (Fibers.h). The
// block fails (fibers::fail) if an argument is invalid or if an mbarrier wasn't
// initialised.

/// Initialises the mbarrier at this address. Each of its phases ends after
/// `arrivals` arrivals.
void initialise(void *barrier, uint32_t arrivals);
/// Adds arrivals to the mbarrier's current phase. Then all other threads run
/// first: if this thread has arrived too early, they use data that isn't
/// complete, and the error shows.
void arrive(void *barrier, uint32_t arrivals);
/// Adds one arrival, and makes the current phase expect `bytes` more bytes.
void arriveExpecting(void *barrier, uint32_t bytes);
/// Waits for the end of the phase with this parity (its number modulo 2). If
/// the current phase has the other parity, the phase meant is the previous one,
/// and the call returns at once. Afterwards the thread's products
/// (WarpGroups.h) can read the data that was copied.
void wait(void *barrier, uint32_t parity);

/// Begins a copy of a box of the tensor that `map` describes (TensorMaps.h).
/// The box begins at the first `rank` of the given coordinates; `rank` must be
/// the tensor's rank. The copy's bytes count for the mbarrier's current phase.
void begin(void *to, const void *map, void *barrier, uint32_t rank,
           int32_t first, int32_t second, int32_t third, int32_t fourth,
           int32_t fifth);

/// Returns whether every copy has been made, and every mbarrier has received
/// exactly the bytes that it expected.
bool areMade();

/// Discards all copies and mbarriers. Called before a block begins.
void forget();

} // namespace bulk_copies

#endif // HFTA_EMULATION_BULKCOPIES_H
