//===- TensorCores.h - Bit-exact products of small matrices -----*- C++ -*-===//
//
// Computes sums of products as a chip's tensor cores do, after two models that
// were compared with the hardware bit by bit and agree with each other
// (MMA-Sim, arXiv 2511.10909; arXiv 2512.07004). The products are exact. A
// group of them and the sum so far are aligned to the largest exponent among
// them, truncated to a fixed number of fraction bits, and added up; the result
// is truncated to f32.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORCORES_H
#define HFTA_EMULATION_TENSORCORES_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace tensor_cores {

/// How a chip's tensor cores add up products.
struct Chip {
  unsigned words;        ///< words of factors whose products are one group
  unsigned fractionBits; ///< fraction bits that remain after alignment

  /// Returns the behaviour of a chip by its major version: 8, or from 9 on.
  static constexpr Chip get(int major) {
    return major < 9 ? Chip{4, 24} : Chip{8, 25};
  }
};

/// Returns `sum` plus the products of factors: 8 words of them on each side.
float addProducts(const Chip &chip, mlir::hfta::emulated::Factors factors,
                  const uint32_t *lhs, const uint32_t *rhs, float sum);

/// Sets the chip that `multiply` emulates from here on.
void setChip(const Chip &chip);
const Chip &getChip();

/// Multiplies a 16-row by an 8-column matrix; all threads of a warp call it
/// together. A thread passes its words of both matrices and its four elements
/// of the sums so far. Returns its four new sums, valid until its next call.
const float *multiply(uint32_t factors, uint32_t lhs0, uint32_t lhs1,
                      uint32_t lhs2, uint32_t lhs3, uint32_t rhs0,
                      uint32_t rhs1, float sum0, float sum1, float sum2,
                      float sum3);

/// Loads `count` 8 by 8 matrices, at most 4, of 16-bit elements; all threads of
/// a warp call it together. `row` is where the thread's row of 8 elements
/// begins: the first 8 threads pass the rows of the first matrix, the next 8
/// those of the second one, and so on. Returns a word for each matrix, valid
/// until the next call: two neighbouring elements of a row or, if `transposes`
/// isn't 0, of a column; the first one is in the lower half.
const uint32_t *readMatrices(uint32_t count, uint32_t transposes,
                             const void *row);

} // namespace tensor_cores

#endif // HFTA_EMULATION_TENSORCORES_H
