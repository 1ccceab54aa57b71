//===- BulkCopies.h - Bulk copies of tensors, and mbarriers -----*- C++ -*-===//
//
// A thread begins copies of whole boxes of tensors into shared memory. An
// mbarrier, an object in shared memory, counts arrivals and the bytes that
// copies bring; a thread that waits for its phase waits for both. A copy is
// made as late as possible: once a thread waits for it and no other thread can
// go on. Until then its destination holds NaNs. See "Parallel Thread Execution
// ISA", "mbarrier" and "cp.async.bulk.tensor".
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_BULKCOPIES_H
#define HFTA_EMULATION_BULKCOPIES_H

#include <cstdint>

namespace bulk_copies {

/// The alignment of a copy's destination, in bytes.
inline constexpr unsigned kAlignment = 128;

// The functions below are called by a thread of a running block (Fibers.h). The
// block fails if an mbarrier hasn't been initialised.

/// Initialises an mbarrier whose phases consist of `arrivals` arrivals.
void initialise(void *barrier, uint32_t arrivals);
/// Adds arrivals to the current phase. The thread goes on after all others, so
/// that threads it released too early are noticed.
void arrive(void *barrier, uint32_t arrivals);
/// Adds one arrival, and makes the phase expect `bytes` more bytes.
void arriveExpecting(void *barrier, uint32_t bytes);
/// Returns once the phase of this parity is over. If the current phase has the
/// other parity, that is the phase before, and the call returns at once. After
/// this the thread's products (WarpGroups.h) can read what was copied.
void wait(void *barrier, uint32_t parity);

/// Begins a copy of a map's (TensorMaps.h) box at the given coordinates, of
/// which the first `rank` count. The copy's bytes count for the barrier's
/// current phase.
void begin(void *to, const void *map, void *barrier, uint32_t rank,
           int32_t first, int32_t second, int32_t third, int32_t fourth,
           int32_t fifth);

/// Returns whether all copies that were begun have been made, and brought as
/// many bytes as the mbarriers expected.
bool areMade();

/// Forgets all copies and mbarriers, before another block begins.
void forget();

} // namespace bulk_copies

#endif // HFTA_EMULATION_BULKCOPIES_H
