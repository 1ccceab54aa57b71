//===- WarpGroups.h - Products of what lies in shared memory ----*- C++ -*-===//
//
// Warp groups begin products of matrices in shared memory, say which of them
// are a group, and wait for all but the last groups. Operands are read when
// they begin and again when they wait: what has changed meanwhile makes the
// sums NaNs. So are sums that are read too early.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_WARPGROUPS_H
#define HFTA_EMULATION_WARPGROUPS_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace warp_groups {

/// Columns of a product at most.
inline constexpr unsigned kMostColumns = 256;

// Called by a thread of a block that runs (Fibers.h).

/// What the thread wrote, and what its copies did, can be read by products. On
/// a GPU others' fences count, too: each thread's behind what it wrote, and
/// before the barrier.
void fence();

/// Begins a product of 64 rows and so many columns, of 8 words of factors each:
/// `lhs` and `rhs` are descriptors of matrices in `shared`, and of `transposed`
/// the first bit says that rows of the left one's memory are terms, not places,
/// the second one that those of the right one's are. `sums` are those before of
/// the thread, two for each 4 columns, or what the call before returned: where
/// the thread has sums it goes on from these. Returns nothing that is known
/// yet. Nothing is begun by who didn't call `fence` since it waited for all.
const float *multiply(uint32_t factors, uint32_t columns, uint32_t transposed,
                      const void *shared, uint64_t lhs, uint64_t rhs,
                      const float *sums);

/// What is not known yet.
const float *getUnknown();

/// The products begun since the last call are a group.
void commit();

/// Makes the products of all groups but the last `left`, whose sums stay with
/// the thread. The threads of a warp wait for each other.
void waitForGroups(uint32_t left);

/// Makes the products of all groups, and gives the sums out of hand: returns
/// them, until it calls this again. Of products that no group has they aren't
/// known. The threads of a warp wait for each other.
const float *wait();

/// Forgets all threads' products: another block begins.
void forget();

} // namespace warp_groups

#endif // HFTA_EMULATION_WARPGROUPS_H
