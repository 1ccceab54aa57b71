//===- ProductText.h - Kernels that are one product, as text ----*- C++ -*-===//
//
// Builds the text of kernels as the compiler's own ops are after their lowering
// to linalg: operands come from arguments through moves, pads and wider types,
// and one op multiplies them.
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

/// A tensor of a kernel.
struct TextTensor {
  std::string name;
  Numbers shape;
  std::string type; ///< its elements' type

  std::string printType() const;
};

/// Loops by name, and the indices of tensors in terms of them, as in an affine
/// map.
struct ProductLoops {
  std::string all, lhs, rhs, result;
};

/// The type in which factors are multiplied, and the tile (`ProductTile`).
struct ProductFactors {
  std::string type;
  std::array<int64_t, 6> tile;
};

class ProductText {
public:
  TextTensor addArgument(Numbers shape, const std::string &type);
  /// Returns the same numbers as f32, or the tensor itself if it is f32
  /// already.
  TextTensor widen(const TextTensor &from);
  TextTensor makePositive(const TextTensor &from);
  /// Pads by these numbers at the beginning and end of each axis.
  TextTensor pad(const TextTensor &from,
                 const std::vector<std::pair<int64_t, int64_t>> &around,
                 const std::string &by = "0.0");
  /// Slices; axes of one element are dropped if `shape` lacks them.
  TextTensor slice(const TextTensor &from, const Numbers &offsets,
                   const Numbers &sizes, Numbers shape = {});
  /// Transposes by an op for it, or by one that could compute something as
  /// well.
  TextTensor transpose(const TextTensor &from, const Numbers &permutation);
  TextTensor rearrange(const TextTensor &from, const Numbers &permutation);
  /// Collapses or expands axes by these groups: "[0, 1], [2]".
  TextTensor collapse(const TextTensor &from, const std::string &groups,
                      Numbers shape);
  TextTensor expand(const TextTensor &from, const std::string &groups,
                    Numbers shape);

  /// Returns the kernel `product`, which returns the product in this shape.
  std::string multiply(const TextTensor &lhs, const TextTensor &rhs,
                       const ProductLoops &loops, Numbers shape,
                       const ProductFactors &factors);

private:
  TextTensor make(Numbers shape, const std::string &type);
  /// Takes, for each element, the one that `map` finds; `made` computes %z from
  /// %x where the element changes.
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
