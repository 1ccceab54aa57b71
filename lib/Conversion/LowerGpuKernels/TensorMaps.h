//===- TensorMaps.h - Tensor maps of products' operands ---------*- C++ -*-===//
//
// A block's part of a product's operand is mostly a box of a tensor in memory,
// padded with zeros beyond its bounds. One instruction of one thread copies it
// (Parallel Thread Execution ISA, "Tensors", tiled mode); a tensor map
// describes how the whole tensor lies in memory (CUDA Driver API, "Tensor Map
// Object Management").
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H

#include "ElementPlaces.h"
#include "KernelProduct.h"

namespace mlir::hfta {

/// The first `count` iterations of a nest of an op's loops, the last of which
/// moves fastest.
struct LoopPart {
  ArrayRef<unsigned> loops;
  int64_t count;
};

/// A box of a kernel's argument. The innermost dimension comes first.
struct TensorMap {
  unsigned argument;
  int64_t elementBytes;
  SmallVector<int64_t> sizes, strides; ///< strides in bytes
  /// The distance between neighbours in the box, and the number of elements
  /// times this distance.
  SmallVector<int64_t> box, steps;
  /// The indices of the box's first element, from the loops' indices at its
  /// beginning. They may be out of the tensor's bounds, where there are zeros.
  Indices begin;

  /// Whether there are zeros beyond the end of the rows' loops, or of those
  /// inside of a row.
  bool endsWithRows, endsWithInner;

  static constexpr size_t kMostDimensions = 4; ///< and one of copies

  /// Finds the box of an operand that contains some rows, each of which is
  /// `inner`, neighbours in memory. Returns nothing if that is no box, or if
  /// the next such part of the loops isn't one. A part may go beyond the end of
  /// the outermost loop.
  static std::optional<TensorMap> find(OpOperand &operand, LoopPart inner,
                                       LoopPart rows);

  /// Returns the map as an element of the kernel's attribute.
  DictionaryAttr toAttribute(MLIRContext *context) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORMAPS_H
