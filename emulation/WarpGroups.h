//===- WarpGroups.h - Products of matrices in shared memory -----*- C++ -*-===//
//
// Warp groups begin products of matrices in shared memory (wgmma), commit them
// as groups, and wait for all but the latest groups. Operands are read both
// when a product begins and when a thread waits for it: if they changed in
// between, the sums become NaNs. Sums that are read too early are NaNs, too.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_WARPGROUPS_H
#define HFTA_EMULATION_WARPGROUPS_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace warp_groups {

/// The most columns of a product.
inline constexpr unsigned kMostColumns = 256;

// The functions below are called by a thread of a running block (Fibers.h).

/// Makes what the thread wrote, and what its copies brought, visible to
/// products. On a GPU other threads' data needs fences as well: each thread
/// calls this after its writes and before the barrier.
void fence();

/// Begins a product of 64 rows and `columns` columns, with 8 words of factors
/// for each row and column. `lhs` and `rhs` are descriptors of matrices in
/// `shared`. The first bit of `transposed` says that a row of the left
/// operand's memory is a term (a step of the sum) rather than a row of the
/// result; the second bit says so for the right operand. `sums` are the
/// thread's sums so far, two for each 4 columns, or what the previous call
/// returned: a thread that has sums continues from those. Returns sums that are
/// unknown yet. The sums become NaNs if the thread hasn't called `fence` since
/// it last waited for all products.
const float *multiply(uint32_t factors, uint32_t columns, uint32_t transposed,
                      const void *shared, uint64_t lhs, uint64_t rhs,
                      const float *sums);

/// Returns sums that aren't known yet: NaNs.
const float *getUnknown();

/// Makes a group of the products begun since the last call.
void commit();

/// Makes the products of all groups except the latest `left` ones. Their sums
/// stay with the thread. The threads of a warp wait for each other.
void waitForGroups(uint32_t left);

/// Makes the products of all groups and returns the thread's sums, which are
/// valid until its next call; the next product starts from the sums that it is
/// given. Sums are unknown if a product isn't in a group. The threads of a warp
/// wait for each other.
const float *wait();

/// Forgets all threads' products, before another block begins.
void forget();

} // namespace warp_groups

#endif // HFTA_EMULATION_WARPGROUPS_H
