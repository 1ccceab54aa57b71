//===- TensorCores.h - Products of small matrices, bit by bit ---*- C++ -*-===//
//
// What a chip's tensor cores make of a sum of products, after two models that
// were compared with the hardware bit by bit and agree with each other
// (MMA-Sim, arXiv 2511.10909; arXiv 2512.07004): products are exact; so many of
// them and the sum before are aligned to the largest exponent among them, cut
// to so many bits, added up, and the result is cut to f32.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORCORES_H
#define HFTA_EMULATION_TENSORCORES_H

#include "Hfta/Conversion/EmulatedImage.h"

#include <cstdint>

namespace tensor_cores {

/// How a chip adds up.
struct Chip {
  unsigned words;        ///< of factors that are added up at once
  unsigned fractionBits; ///< that are left of what is aligned

  /// Of a chip's major version: 8, or from 9 on.
  static constexpr Chip get(int major) {
    return major < 9 ? Chip{4, 24} : Chip{8, 25};
  }
};

/// A sum and the products of neighbouring factors, 8 words of each.
float addProducts(const Chip &chip, mlir::hfta::emulated::Factors factors,
                  const uint32_t *lhs, const uint32_t *rhs, float sum);

/// From here on the threads' chip.
void setChip(const Chip &chip);
const Chip &getChip();

/// Called by the threads of a warp together: the thread's words of a 16-row and
/// an 8-column matrix and its four elements of the sums before. Returns those
/// behind, until it calls this again.
const float *multiply(uint32_t factors, uint32_t lhs0, uint32_t lhs1,
                      uint32_t lhs2, uint32_t lhs3, uint32_t rhs0,
                      uint32_t rhs1, float sum0, float sum1, float sum2,
                      float sum3);

/// Called by the threads of a warp together: where in memory the row begins,
/// 8 elements of 16 bits, that is the thread's; those of `count` 8 by 8
/// matrices, at most 4, are the first threads', in order. Returns of each
/// matrix the word of the thread's two neighbours, in a row or where it
/// transposes (not 0) in a column, the first of them in the lower half, until
/// it calls this again.
const uint32_t *readMatrices(uint32_t count, uint32_t transposes,
                             const void *row);

} // namespace tensor_cores

#endif // HFTA_EMULATION_TENSORCORES_H
