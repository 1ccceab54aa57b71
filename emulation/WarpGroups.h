//===- WarpGroups.h - Products of matrices in shared memory -----*- C++ -*-===//
//
// Emulates PTX's wgmma: the four warps of a warp group begin a product of
// matrices in shared memory, commit the products as groups, and wait for all
// but the latest groups. Each thread has some elements of the result, its sums.
//
// To detect missing waits, a product is computed when a thread waits for it;
// until then its sums are NaNs. They also become NaNs if an operand has changed
// since the product began.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_WARPGROUPS_H
#define HFTA_EMULATION_WARPGROUPS_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace warp_groups {

/// The most columns that a product can have.
inline constexpr unsigned kMostColumns = 256;

// The functions below are called by a thread of a running block (Fibers.h).

/// Makes data that the thread wrote to shared memory, or that its copies
/// brought, visible to products (PTX: fence.proxy.async). On a GPU, every
/// thread that wrote data must call this after its writes and before the
/// barrier. The emulation only checks that the thread that begins a product has
/// called it.
void fence();

/// Begins a product with 64 rows and `columns` columns, with 8 words of factors
/// (TensorCores.h) for each row and each column. `factors` is an
/// emulated::Factors. `lhs` and `rhs` are PTX's matrix descriptors of the
/// operands in `shared`.
///
/// Bit 0 of `transposed` says how the left operand is stored: if it is 1, a row
/// of memory has one term for all rows of the result; if it is 0, a row of
/// memory has all terms of one row of the result. Bit 1 says the same of the
/// right operand and the result's columns.
///
/// `sums` are the thread's columns / 2 sums so far. They are used only by the
/// first product after `wait`; later products add to the sums that the thread
/// already has, and may pass what the previous call returned.
///
/// Returns columns / 2 NaNs, as the sums aren't known yet. The thread's sums
/// become NaNs if it hasn't called `fence` since it last waited for all of its
/// products.
const float *multiply(uint32_t factors, uint32_t columns, uint32_t transposed,
                      const void *shared, uint64_t lhs, uint64_t rhs,
                      const float *sums);

/// Returns NaNs, as many as a thread can have sums. They stand for sums that
/// aren't known yet.
const float *getUnknown();

/// Commits the products that the thread has begun since its last call as a
/// group.
void commit();

/// Computes the products of all of the thread's groups except the latest `left`
/// ones, and adds them to the thread's sums. The threads of a warp wait for
/// each other.
void waitForGroups(uint32_t left);

/// Computes the products of all groups. Returns the thread's sums, valid until
/// its next product begins, or NaNs if some product isn't committed. The next
/// product starts from the sums that are passed to it. The threads of a warp
/// wait for each other.
const float *wait();

/// Discards the products and sums of all threads. Called before a block begins.
void forget();

} // namespace warp_groups

#endif // HFTA_EMULATION_WARPGROUPS_H
