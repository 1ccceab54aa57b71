//===- TensorCores.h - Bit-exact products of small matrices -----*- C++ -*-===//
//
// Computes sums of products bit by bit as a chip's tensor cores do. The
// algorithm follows two published models, which were compared with the hardware
// and agree with each other (MMA-Sim, arXiv 2511.10909; arXiv 2512.07004):
//
// 1. Products are computed exactly, and divided into groups.
// 2. The products of a group and the accumulator are shifted to the largest
//    exponent among them, and truncated to a fixed number of fraction bits.
// 3. They are added up exactly. The sum, truncated to f32, is the new
//    accumulator.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORCORES_H
#define HFTA_EMULATION_TENSORCORES_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace tensor_cores {

/// The parameters of a chip's sums. A word has 32 bits: one TF32 factor or two
/// 16-bit factors.
struct Chip {
  unsigned words;        ///< words of each operand that give a group's products
  unsigned fractionBits; ///< fraction bits that are left when a term is shifted

  /// Returns the parameters for the major version of a compute capability, at
  /// least 8.
  static constexpr Chip get(int major) {
    return major < 9 ? Chip{4, 24} : Chip{8, 25};
  }
};

/// Returns `sum` plus the products of the factors in `lhs` and `rhs`, which
/// have 8 words each.
float addProducts(const Chip &chip, mlir::hfta::emulated::Factors factors,
                  const uint32_t *lhs, const uint32_t *rhs, float sum);

/// Sets the chip that `multiply` and warp groups' products (WarpGroups.h)
/// emulate from now on.
void setChip(const Chip &chip);
/// Returns the chip that was set, at first one of major version 8.
const Chip &getChip();

// The functions below must be called by all threads of a warp of a running
// block (Fibers.h), which wait for each other in the call.

/// Multiplies a matrix of 16 rows by one of 8 columns, as PTX's mma.sync does
/// (m16n8k8 for TF32, m16n8k16 for 16-bit factors). `factors` is an
/// emulated::Factors. Each thread passes its fragments as PTX defines them:
/// four words of the left matrix, two of the right one, and four accumulators.
/// Returns the thread's four new accumulators, valid until its next call.
const float *multiply(uint32_t factors, uint32_t lhs0, uint32_t lhs1,
                      uint32_t lhs2, uint32_t lhs3, uint32_t rhs0,
                      uint32_t rhs1, float sum0, float sum1, float sum2,
                      float sum3);

/// Loads `count` (at most 4) matrices of 8 by 8 elements of 16 bits, as PTX's
/// ldmatrix does. `row` is the address of a row of 8 elements: the first 8
/// threads pass the rows of the first matrix, the next 8 threads those of the
/// second matrix, and so on. Returns an array of `count` words, valid until the
/// thread's next call: the thread's fragment of each matrix. A fragment has two
/// neighbouring elements of a row or, if `transposes` isn't 0, of a column; the
/// first element is in the lower half.
const uint32_t *readMatrices(uint32_t count, uint32_t transposes,
                             const void *row);

} // namespace tensor_cores

#endif // HFTA_EMULATION_TENSORCORES_H
