//===- TensorMaps.h - Boxes of operands that hardware copies ----*- C++ -*-===//
//
// A block's part of a product's operand is mostly a box of what lies in memory,
// padded by zeros where it goes beyond: one instruction of one thread copies it
// (Parallel Thread Execution ISA, "Tensors", tiled mode), told by a tensor map
// how the whole lies there (CUDA Driver API, "Tensor Map Object Management").
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H

#include "ElementPlaces.h"
#include "KernelProduct.h"

namespace mlir::hfta {

/// The first `count` of what some of an op's loops go through together, the
/// last loop moving fastest.
struct LoopPart {
  ArrayRef<unsigned> loops;
  int64_t count;
};

/// A box of an argument of a kernel. Of its dimensions the innermost comes
/// first.
struct TensorMap {
  unsigned argument;
  int64_t elementBytes;
  SmallVector<int64_t> sizes, strides; ///< the latter in bytes
  /// By how much neighbours in the box differ, and so much times as many as
  /// there are.
  SmallVector<int64_t> box, steps;
  /// The numbers of the box's first element, of those that the op's loops begin
  /// with; may be beyond the tensor, which has zeros there.
  Indices begin;

  /// Whether there are zeros where the loops of its rows, or those inside of
  /// one, would go beyond their end.
  bool endsWithRows, endsWithInner;

  static constexpr size_t kMostDimensions = 4; ///< without that of copies

  /// Of an operand of an op the elements of some rows, of which each is
  /// `inner`, neighbours in memory; nothing where that is no box, or where the
  /// next such part of the loops wouldn't be one. Where the outermost loop ends
  /// within a part, it goes on.
  static std::optional<TensorMap> find(OpOperand &operand, LoopPart inner,
                                       LoopPart rows);

  /// As the kernel's attribute has it.
  DictionaryAttr toAttribute(MLIRContext *context) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H
