//===- TensorMaps.h - Tensor maps of products' operands ---------*- C++ -*-===//
//
// The part of a product's operand that a block reads is mostly a box of a
// tensor in memory, padded with zeros beyond the tensor's bounds. One
// instruction of one thread copies it (Parallel Thread Execution ISA,
// "Tensors", tiled mode). A tensor map describes how the whole tensor lies in
// memory (CUDA Driver API, "Tensor Map Object Management").
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORMAPS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORMAPS_H

#include "Read/ElementPlaces.h"
#include "Read/KernelProduct.h"

namespace mlir::hfta {

/// The first `count` iterations of a nest of some of an op's loops; the last
/// loop moves fastest.
struct LoopPart {
  ArrayRef<unsigned> loops;
  int64_t count;
};

/// A box of a tensor that is an argument of the kernel. The innermost dimension
/// comes first.
struct TensorMap {
  unsigned argument;
  int64_t elementBytes;
  SmallVector<int64_t> sizes, strides; ///< strides in bytes
  /// For each dimension, the distance in elements between neighbours in the box
  /// (`steps`), and the box's number of elements times this distance (`box`).
  SmallVector<int64_t> box, steps;
  /// The indices of the box's first element, as expressions of the loop indices
  /// at the box's beginning. They may be out of the tensor's bounds, where the
  /// copy writes zeros.
  Indices begin;

  /// Whether the box has zeros beyond the end of the loops over rows, or beyond
  /// the end of the loops inside of a row.
  bool endsWithRows, endsWithInner;

  static constexpr size_t kMostDimensions = 4; ///< and one of copies

  /// Finds the box of an operand that contains some rows; each row consists of
  /// the neighbours in memory that the loops `inner` enumerate. Returns nothing
  /// if these elements are no box, or if those of the next such parts of the
  /// loops aren't. A part may go beyond the end of its outermost loop.
  static std::optional<TensorMap> find(OpOperand &operand, LoopPart inner,
                                       LoopPart rows);

  /// Returns the map as an element of the attribute `kTensorMapsAttrName`.
  DictionaryAttr toAttribute(MLIRContext *context) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORMAPS_H
