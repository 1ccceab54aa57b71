//===- BulkCopies.h - Copies of boxes, and who waits for them ---*- C++ -*-===//
//
// A thread begins copies of whole boxes of tensors into shared memory. An
// mbarrier, a place there, counts arrivals and the bytes that copies bring: who
// waits for its phase sees both. Nothing is copied before somebody waits and
// nobody else can go on; until then the place holds NaNs. "Parallel Thread
// Execution ISA", "mbarrier" and "cp.async.bulk.tensor".
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_BULKCOPIES_H
#define HFTA_EMULATION_BULKCOPIES_H

#include <cstdint>

namespace bulk_copies {

/// What the place of a copy is aligned to.
inline constexpr unsigned kAlignment = 128;

// Called by a thread of a block that runs (Fibers.h). The block fails where an
// mbarrier hasn't been initialised.

/// Of an mbarrier at a place: so many arrivals are a phase.
void initialise(void *barrier, uint32_t arrivals);
/// Some arrivals of this phase. Who says so goes on after all others.
void arrive(void *barrier, uint32_t arrivals);
/// One more arrival, and so many bytes before the phase is over.
void arriveExpecting(void *barrier, uint32_t bytes);
/// Returns once the phase of this parity is over, which is the one before the
/// current phase if that has the other parity. What was copied can be read by
/// the thread's products (WarpGroups.h).
void wait(void *barrier, uint32_t parity);

/// Begins a copy of the box that a map (TensorMaps.h) has at as many
/// coordinates as the tensor has dimensions. The barrier's phase gets its
/// bytes.
void begin(void *to, const void *map, void *barrier, uint32_t rank,
           int32_t first, int32_t second, int32_t third, int32_t fourth,
           int32_t fifth);

/// Whether all copies that were begun have been made, and brought as many bytes
/// as were expected.
bool areMade();

/// Forgets copies and mbarriers: another block begins.
void forget();

} // namespace bulk_copies

#endif // HFTA_EMULATION_BULKCOPIES_H
