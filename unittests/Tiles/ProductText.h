//===- ProductText.h - Kernels that are one product, as text ----*- C++ -*-===//
//
// Builds the text of kernels in the form that the compiler's own ops have after
// their lowering to linalg: arguments are moved, padded and widened, and then
// one op multiplies them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_PRODUCTTEXT_H
#define HFTA_UNITTESTS_TILES_PRODUCTTEXT_H

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mlir::hfta {

using Numbers = std::vector<int64_t>;

/// A tensor value in the text of a kernel.
struct TextTensor {
  std::string name;
  Numbers shape;
  std::string type; ///< element type

  std::string printType() const;
};

/// The names of all loops, and the indices of the operands and of the result in
/// terms of the loops, written as in an affine map.
struct ProductLoops {
  std::string all, lhs, rhs, result;
};

/// The type in which operands are multiplied, and the tile (`ProductTile`).
struct ProductFactors {
  std::string type;
  std::array<int64_t, 6> tile;
};

class ProductText {
public:
  TextTensor addArgument(Numbers shape, const std::string &type);
  /// Returns the tensor converted to f32, or the tensor itself if it is f32
  /// already.
  TextTensor widen(const TextTensor &from);
  TextTensor makePositive(const TextTensor &from);
  /// Pads each axis by these numbers of elements `by` at its beginning and end.
  TextTensor pad(const TextTensor &from,
                 const std::vector<std::pair<int64_t, int64_t>> &around,
                 const std::string &by = "0.0");
  /// Returns a slice. `shape` may leave out axes of one element.
  TextTensor slice(const TextTensor &from, const Numbers &offsets,
                   const Numbers &sizes, Numbers shape = {});
  /// Returns a transposed tensor: `transpose` uses linalg.transpose,
  /// `rearrange` a linalg.generic.
  TextTensor transpose(const TextTensor &from, const Numbers &permutation);
  TextTensor rearrange(const TextTensor &from, const Numbers &permutation);
  /// Returns a tensor reshaped by groups of axes, such as "[0, 1], [2]".
  TextTensor collapse(const TextTensor &from, const std::string &groups,
                      Numbers shape);
  TextTensor expand(const TextTensor &from, const std::string &groups,
                    Numbers shape);

  /// Returns the text of a kernel named `product`, which returns the product of
  /// lhs and rhs in this shape.
  std::string multiply(const TextTensor &lhs, const TextTensor &rhs,
                       const ProductLoops &loops, Numbers shape,
                       const ProductFactors &factors);

private:
  TextTensor make(Numbers shape, const std::string &type);
  /// Returns a tensor whose elements are those of `from` at the indices `map`.
  /// `made` is the text of ops that compute a new element %z from %x; if it is
  /// empty, elements don't change.
  TextTensor apply(const TextTensor &from, Numbers shape,
                   const std::string &type, const std::string &map,
                   const std::string &made);
  TextTensor reshape(const std::string &op, const TextTensor &from,
                     const std::string &groups, Numbers shape,
                     const std::string &rest);

  std::string arguments, body;
  int64_t count = 0;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTTEXT_H
