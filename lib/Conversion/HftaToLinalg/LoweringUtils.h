//===- LoweringUtils.h - Helpers of the lowerings ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H

#include "LoopNest.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Layouts.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

namespace mlir::hfta {

/// Returns the signless type of a signed or unsigned integer type, and any
/// other type unchanged.
Type getSignlessType(Type elementType);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value createZero(OpBuilder &builder, Location loc, Type type);
/// Creates a constant of an integer or float type.
Value createNumber(OpBuilder &builder, Location loc, Type type, double value);
Value createIndex(OpBuilder &builder, Location loc, int64_t value);
/// Creates the least value of a type: minus infinity for floats, the signed
/// minimum for integers.
Value createLowest(OpBuilder &builder, Location loc, Type type);
/// Creates the greatest value of a type: infinity for floats, the signed
/// maximum for integers.
Value createHighest(OpBuilder &builder, Location loc, Type type);

/// Converts a scalar to another width: extends or truncates a float,
/// sign-extends or truncates a signless integer.
Value resize(OpBuilder &builder, Location loc, Value scalar, Type type);

/// Combines the running value of a reduction with the next element. A maximum
/// or minimum is NaN if either operand is NaN.
Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value running,
              Value next);

/// A loop nest's body with arguments (lhs, rhs, sum). Returns lhs * rhs + sum
/// with one rounding (`math.fma`), in the type of `sum`; if lhs and rhs are
/// integers, these are pairs of bf16 (`hfta.multiply_pairs`).
SmallVector<Value> multiplyAdd(OpBuilder &builder, Location loc,
                               ValueRange arguments);
/// A loop nest's body that returns its first argument.
SmallVector<Value> copyFirst(OpBuilder &builder, Location loc,
                             ValueRange arguments);

/// Creates a linear function of the iteration indices: the sum of each axis'
/// index times its factor, plus a constant.
Value createLinearIndex(OpBuilder &builder, Location loc,
                        ArrayRef<std::pair<Axis, int64_t>> terms,
                        int64_t constant);
/// Creates the row-major (linear) index of the element at `indices` in a tensor
/// of this shape.
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

/// Converts a tensor's floats, or its signless integers, to another width.
/// Returns the tensor unchanged if it has this element type.
Value resizeElements(OpBuilder &builder, Location loc, Value tensor,
                     Type elementType);

/// Reshapes a tensor; its elements keep their row-major order.
Value createReshape(OpBuilder &builder, Location loc, Value tensor,
                    ArrayRef<int64_t> shape);

/// Copies `tensor` into the layout that its user's lowering wants: result axis
/// i is input axis permutation[i]. Uses the named op linalg.transpose, which
/// isn't fused with elementwise ops. An identity is dropped.
Value pack(OpBuilder &builder, Location loc, Value tensor,
           ArrayRef<int64_t> permutation);
/// Packs `tensor`, whose axes are named by the expressions `from`; `to` holds
/// the same expressions in the result's order.
Value pack(OpBuilder &builder, Location loc, Value tensor, ArrayRef<Axis> from,
           ArrayRef<Axis> to);

/// A transposition: axis i of the result is axis permutation[i] of `source`.
struct Transposition {
  Value source;
  SmallVector<int64_t> permutation;
};
/// Returns the transposition that computes `tensor`, if a generic op as built
/// by `transpose` does; else nothing.
std::optional<Transposition> getTransposition(Value tensor);

/// Transposes the result of a lowering: result axis i is input axis
/// permutation[i]. Uses a generic op, which fuses with elementwise users.
/// Combines successive transpositions and drops an identity.
Value transpose(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> permutation);
/// Transposes `tensor`, whose axes are named by the expressions `from`; `to`
/// holds the same expressions in the result's order.
Value unpack(OpBuilder &builder, Location loc, Value tensor,
             ArrayRef<Axis> from, ArrayRef<Axis> to);

/// Creates a slice with unit strides. Returns the tensor itself if the slice is
/// the whole tensor.
Value createSlice(OpBuilder &builder, Location loc, Value tensor,
                  ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes);

/// Pads a tensor with a scalar. Amounts are given for each axis; a negative one
/// cuts elements off.
Value createPad(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);
/// Pads as `createPad` does, with amounts for the axes from `first` on; other
/// axes aren't padded.
Value padFrom(OpBuilder &builder, Location loc, Value tensor, size_t first,
              ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar);

/// Writes `tensor` into `destination` at the given offsets and strides. Returns
/// the new tensor.
Value createInsert(OpBuilder &builder, Location loc, Value tensor,
                   Value destination, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> strides);

/// Reads the element of a tensor at `indices`.
Value createExtract(OpBuilder &builder, Location loc, Value tensor,
                    ValueRange indices);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_LOWERINGUTILS_H
