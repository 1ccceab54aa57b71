//===- LoweringUtils.h - What the lowerings share ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H

#include "LoopNest.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Layouts.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

namespace mlir::hfta {

/// Signed and unsigned integers as signless ones.
Type getSignlessType(Type elementType);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value createZero(OpBuilder &builder, Location loc, Type type);
/// An integer or float constant.
Value createNumber(OpBuilder &builder, Location loc, Type type, double value);
Value createIndex(OpBuilder &builder, Location loc, int64_t value);
/// The least value: minus infinity for floats.
Value createLowest(OpBuilder &builder, Location loc, Type type);
/// The greatest value: infinity for floats.
Value createHighest(OpBuilder &builder, Location loc, Type type);

/// Widens or narrows a float, sign-extends or truncates a signless integer.
Value resize(OpBuilder &builder, Location loc, Value scalar, Type type);

/// Body of a loop nest over (lhs, rhs, sum): lhs * rhs + sum, rounded once, in
/// the type of `sum`.
SmallVector<Value> multiplyAdd(OpBuilder &builder, Location loc,
                               ValueRange arguments);
/// Body of a loop nest that gives its first operand.
SmallVector<Value> copyFirst(OpBuilder &builder, Location loc,
                             ValueRange arguments);

/// A linear function of iteration indices: each index of linalg times its
/// factor, and a constant.
Value createLinearIndex(OpBuilder &builder, Location loc,
                        ArrayRef<std::pair<Axis, int64_t>> terms,
                        int64_t constant);
/// The row-major position of `indices` in `shape`.
Value createFlatIndex(OpBuilder &builder, Location loc, ValueRange indices,
                      ArrayRef<int64_t> shape);
Value getIterationIndex(OpBuilder &builder, Location loc, Axis axis);
/// Whether 0 <= index < size.
Value createIsInside(OpBuilder &builder, Location loc, Value index,
                     int64_t size);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value createFilled(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                   Value scalar);

/// Floats or signless integers in another element type of their kind.
Value resizeElements(OpBuilder &builder, Location loc, Value tensor,
                     Type elementType);

/// Another row-major shape of the same elements.
Value createReshape(OpBuilder &builder, Location loc, Value tensor,
                    ArrayRef<int64_t> shape);

/// Copies `tensor` into the layout that the lowering of its user wants, by a
/// named op that elementwise fusion leaves alone: result axis i is input axis
/// permutation[i].
Value pack(OpBuilder &builder, Location loc, Value tensor,
           ArrayRef<int64_t> permutation);
/// The same with axes named by the expressions of `from`; `to` holds the same
/// in another order.
Value pack(OpBuilder &builder, Location loc, Value tensor, ArrayRef<Axis> from,
           ArrayRef<Axis> to);

/// A tensor's axis i is `source`'s axis permutation[i].
struct Transposition {
  Value source;
  SmallVector<int64_t> permutation;
};
/// What `transpose` made a tensor from, if it did.
std::optional<Transposition> getTransposition(Value tensor);

/// Moves the axes of a lowering's result into another order, by a generic op
/// that fuses with its elementwise users: result axis i is input axis
/// permutation[i]. Transpositions in a row are one, or none.
Value transpose(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> permutation);
/// The same with axes named as for `pack`.
Value unpack(OpBuilder &builder, Location loc, Value tensor,
             ArrayRef<Axis> from, ArrayRef<Axis> to);

/// Unit-stride slice.
Value createSlice(OpBuilder &builder, Location loc, Value tensor,
                  ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes);

/// Surrounds with a scalar; negative amounts cut elements off.
Value createPad(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);
/// The same on neighbouring axes alone, from axis `first` on.
Value padFrom(OpBuilder &builder, Location loc, Value tensor, size_t first,
              ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);

/// Writes `tensor` into `destination` at offsets, with strides.
Value createInsert(OpBuilder &builder, Location loc, Value tensor,
                   Value destination, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> strides);

/// The element at `indices` of a tensor.
Value createExtract(OpBuilder &builder, Location loc, Value tensor,
                    ValueRange indices);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
