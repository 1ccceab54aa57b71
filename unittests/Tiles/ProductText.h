//===- ProductText.h - Kernels that are one product, as text ----*- C++ -*-===//
//
// Kernels as the compiler's own ops are once they are linalg's: operands come
// from arguments by moves, pads and wider types, and one op multiplies them.
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
  std::string type; ///< of its elements

  std::string printType() const;
};

/// Loops by name, and the indices that they give, as an affine map has them.
struct ProductLoops {
  std::string all, lhs, rhs, result;
};

/// What is multiplied, and in which tile (`ProductTile`).
struct ProductFactors {
  std::string type;
  std::array<int64_t, 6> tile;
};

class ProductText {
public:
  TextTensor addArgument(Numbers shape, const std::string &type);
  /// The same numbers as f32; the tensor itself if it has these.
  TextTensor widen(const TextTensor &from);
  TextTensor makePositive(const TextTensor &from);
  /// By so many along each axis, before and behind.
  TextTensor pad(const TextTensor &from,
                 const std::vector<std::pair<int64_t, int64_t>> &around,
                 const std::string &by = "0.0");
  /// Axes of one element are dropped if `shape` hasn't them.
  TextTensor slice(const TextTensor &from, const Numbers &offsets,
                   const Numbers &sizes, Numbers shape = {});
  /// By an op that only does so, or by one that could compute something.
  TextTensor transpose(const TextTensor &from, const Numbers &permutation);
  TextTensor rearrange(const TextTensor &from, const Numbers &permutation);
  /// Axes are collapsed, or expanded, by these groups: "[0, 1], [2]".
  TextTensor collapse(const TextTensor &from, const std::string &groups,
                      Numbers shape);
  TextTensor expand(const TextTensor &from, const std::string &groups,
                    Numbers shape);

  /// The kernel `product`, which returns their product, of this shape.
  std::string multiply(const TextTensor &lhs, const TextTensor &rhs,
                       const ProductLoops &loops, Numbers shape,
                       const ProductFactors &factors);

private:
  TextTensor make(Numbers shape, const std::string &type);
  /// Of each element one that `map` finds; `made` makes %z of %x if it is to be
  /// another one.
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
