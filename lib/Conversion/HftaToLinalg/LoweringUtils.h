//===- LoweringUtils.h - Helpers of the lowerings ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H

#include "LoopNest.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Layouts.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

namespace mlir::hfta {

/// Returns the signless type of a signed or unsigned integer type; other types
/// stay.
Type getSignlessType(Type elementType);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value createZero(OpBuilder &builder, Location loc, Type type);
/// Creates an integer or float constant.
Value createNumber(OpBuilder &builder, Location loc, Type type, double value);
Value createIndex(OpBuilder &builder, Location loc, int64_t value);
/// Creates the least value of a type: minus infinity for floats.
Value createLowest(OpBuilder &builder, Location loc, Type type);
/// Creates the greatest value of a type: infinity for floats.
Value createHighest(OpBuilder &builder, Location loc, Type type);

/// Widens or narrows a float, sign-extends or truncates a signless integer.
Value resize(OpBuilder &builder, Location loc, Value scalar, Type type);

/// Combines two elements of a reduction. A maximum or minimum is NaN if either
/// is.
Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value running,
              Value next);

/// A body of a loop nest over (lhs, rhs, sum): returns lhs * rhs + sum, rounded
/// once, in the type of `sum`.
SmallVector<Value> multiplyAdd(OpBuilder &builder, Location loc,
                               ValueRange arguments);
/// A body of a loop nest that returns its first operand.
SmallVector<Value> copyFirst(OpBuilder &builder, Location loc,
                             ValueRange arguments);

/// Creates a linear function of the iteration indices: the sum of each
/// linalg.index times its factor, plus a constant.
Value createLinearIndex(OpBuilder &builder, Location loc,
                        ArrayRef<std::pair<Axis, int64_t>> terms,
                        int64_t constant);
/// Creates the row-major index of `indices` in `shape`.
Value createFlatIndex(OpBuilder &builder, Location loc, ValueRange indices,
                      ArrayRef<int64_t> shape);
Value getIterationIndex(OpBuilder &builder, Location loc, Axis axis);
/// Creates the condition 0 <= index < size.
Value createIsInside(OpBuilder &builder, Location loc, Value index,
                     int64_t size);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value createFilled(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                   Value scalar);

/// Converts floats or signless integers to another element type of their kind.
Value resizeElements(OpBuilder &builder, Location loc, Value tensor,
                     Type elementType);

/// Reshapes a tensor, whose elements keep their row-major order.
Value createReshape(OpBuilder &builder, Location loc, Value tensor,
                    ArrayRef<int64_t> shape);

/// Copies `tensor` into the layout that the lowering of its user wants, by a
/// named op that elementwise fusion leaves alone: result axis i is input axis
/// permutation[i].
Value pack(OpBuilder &builder, Location loc, Value tensor,
           ArrayRef<int64_t> permutation);
/// Packs as above, with axes named by the expressions of `from`; `to` holds
/// these expressions in the result's order.
Value pack(OpBuilder &builder, Location loc, Value tensor, ArrayRef<Axis> from,
           ArrayRef<Axis> to);

/// A tensor whose axis i is `source`'s axis permutation[i].
struct Transposition {
  Value source;
  SmallVector<int64_t> permutation;
};
/// Returns the operand of the transposition that made `tensor`, if `transpose`
/// did.
std::optional<Transposition> getTransposition(Value tensor);

/// Moves the axes of a lowering's result into another order, by a generic op
/// that fuses with its elementwise users: result axis i is input axis
/// permutation[i]. Successive transpositions are combined, and an identity is
/// dropped.
Value transpose(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> permutation);
/// Transposes as above, with axes named as for `pack`.
Value unpack(OpBuilder &builder, Location loc, Value tensor,
             ArrayRef<Axis> from, ArrayRef<Axis> to);

/// Creates a slice with unit strides.
Value createSlice(OpBuilder &builder, Location loc, Value tensor,
                  ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes);

/// Pads a tensor with a scalar; negative amounts cut elements off.
Value createPad(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);
/// Pads neighbouring axes only, from axis `first` on.
Value padFrom(OpBuilder &builder, Location loc, Value tensor, size_t first,
              ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);

/// Writes `tensor` into `destination` at the given offsets and strides.
Value createInsert(OpBuilder &builder, Location loc, Value tensor,
                   Value destination, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> strides);

/// Reads the element of a tensor at `indices`.
Value createExtract(OpBuilder &builder, Location loc, Value tensor,
                    ValueRange indices);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
