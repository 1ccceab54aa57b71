//===- Node.h - The interface of handlers to a node -------------*- C++ -*-===//
//
// A node reports only its first error. After it, calls return null values and
// build nothing, so that handlers needn't check the result of every call.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_NODE_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_NODE_H

#include "Building/ConstantEvaluator.h"
#include "Building/ModelBuilder.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::hfta::onnx_import {

/// Returns `value` truncated to an integer and limited to the range of int64_t,
/// or 0 for NaN.
int64_t toInteger(double value);

/// Returns whether a file's BatchNormalization of operator set `opset`
/// normalizes by the statistics of the batch. Before 14, it does if it has
/// outputs for them.
bool isInTrainingMode(const ::onnx::NodeProto &norm, int64_t opset);

/// The view of an ONNX node through which a handler reads operands and
/// attributes, and builds ops.
class Node {
public:
  Node(ModelBuilder &model, const ::onnx::NodeProto &proto);

  StringRef getOpType() const { return proto.op_type(); }
  const ::onnx::NodeProto &getProto() const { return proto; }
  int64_t getOpset() const { return model.getOpset(proto); }
  ModelBuilder &getModel() { return model; }
  OpBuilder &getBuilder() { return model.getBuilder(); }
  Location getLoc() const { return location; }

  //===--- Errors ---------------------------------------------------------===//
  bool failed() const { return hasFailed; }
  /// Reports that the node is invalid. Returns null.
  Value invalid(const Twine &message);
  /// Reports that Hfta doesn't support the node. Returns null.
  Value unsupported(const Twine &message);
  /// Notes an error that has been reported elsewhere.
  void stop() { hasFailed = true; }

  //===--- Operands and results -------------------------------------------===//
  unsigned getNumInputs() const { return proto.input_size(); }
  bool hasInput(unsigned index) const;
  StringRef getInputName(unsigned index) const;
  /// Returns a required operand. Reports an error if it is absent. Returns
  /// null, without another report, if the node that defines it failed.
  Value getInput(unsigned index);
  /// Returns an operand that may be absent, which is null then.
  Value getOptionalInput(unsigned index);
  /// Returns all operands, none of which may be absent.
  SmallVector<Value> getInputs();
  /// Returns the value of an operand that must be known at compile time; error
  /// messages call it `what`. Returns nothing if the operand is absent, or
  /// after reporting that it isn't known.
  std::optional<DenseElementsAttr> getConstant(unsigned index, StringRef what);
  /// Returns the elements of an operand that must be a list of integers (or one
  /// integer); otherwise like getConstant().
  std::optional<SmallVector<int64_t>> getIntegers(unsigned index,
                                                  StringRef what);
  /// Returns the element of an operand that must be one number; otherwise like
  /// getConstant().
  std::optional<double> getNumber(unsigned index, StringRef what);

  unsigned getNumOutputs() const { return proto.output_size(); }
  StringRef getOutputName(unsigned index) const;
  /// Returns whether anything reads this output.
  bool isOutputUsed(unsigned index) const;
  void setOutput(unsigned index, Value value);

  //===--- Attributes -----------------------------------------------------===//
  bool hasAttribute(StringRef name) const;
  int64_t getInt(StringRef name, int64_t fallback);
  double getFloat(StringRef name, double fallback);
  /// Returns a number that must be finite and at least 0. Otherwise reports an
  /// error and returns `fallback`.
  double getNonNegative(StringRef name, double fallback);
  std::string getString(StringRef name, StringRef fallback);
  std::optional<SmallVector<int64_t>> getInts(StringRef name);
  std::optional<SmallVector<float>> getFloats(StringRef name);
  const ::onnx::TensorProto *getTensor(StringRef name);
  /// Returns a required attribute that holds a graph; null after an error.
  const ::onnx::GraphProto *getGraph(StringRef name);
  /// Returns `axis` counted from the front. Reports an error and returns 0 if
  /// it is outside of the rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Returns the axes, counted from the front and sorted. Reports axes outside
  /// of the rank and repeated ones.
  SmallVector<int64_t> normalizeAxes(ArrayRef<int64_t> axes, int64_t rank);

  //===--- Building -------------------------------------------------------===//
  /// Builds an op whose result types follow from its operands, and folds it if
  /// its operands are constant; returns null after an error. `arguments` are
  /// those of the op's `build`, without result types.
  template <typename OpTy, typename... Arguments>
  Value create(Arguments &&...arguments) {
    SmallVector<Value> results =
        createMany<OpTy>(1, std::forward<Arguments>(arguments)...);
    return results.empty() ? Value() : results.front();
  }
  /// Builds an op with several results; returns an empty list after an error.
  template <typename OpTy, typename... Arguments>
  SmallVector<Value> createMany(unsigned results, Arguments &&...arguments);

  /// Creates a constant whose elements all equal `value`.
  Value splat(ArrayRef<int64_t> shape, Type elementType, double value);
  Value splatLike(Value like, double value);
  Value integers(ArrayRef<int64_t> values);
  Value cast(Value value, Type elementType);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// Broadcasts `value` to `shape` by ONNX's rules, which align the axes at the
  /// end.
  Value broadcast(Value value, ArrayRef<int64_t> shape);
  /// Creates a constant of the given shape with the elements of `splat`.
  /// `exact` are the numbers before rounding, or null.
  Value repeatSplat(DenseElementsAttr splat, ArrayRef<int64_t> shape,
                    ElementsAttr exact);
  /// Broadcasts `value` to `shape`; axis i of the value becomes axis
  /// `dimensions[i]`.
  Value broadcastAlong(Value value, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> dimensions);
  /// Broadcasts all values to their common shape; returns an empty list after
  /// an error.
  SmallVector<Value> broadcastTogether(ArrayRef<Value> values);
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> axes);
  Value add(Value lhs, Value rhs) { return create<AddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return create<SubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return create<MulOp>(lhs, rhs); }
  Value div(Value lhs, Value rhs) { return create<DivOp>(lhs, rhs); }
  Value max(Value lhs, Value rhs) { return create<MaxOp>(lhs, rhs); }
  Value min(Value lhs, Value rhs) { return create<MinOp>(lhs, rhs); }
  Value compare(ComparePredicate predicate, Value lhs, Value rhs) {
    return create<CompareOp>(predicate, lhs, rhs);
  }

  /// Returns whether arithmetic is defined on the value's element type (a
  /// float, or a signless integer of more than one bit). Otherwise reports an
  /// error, unless the value is null.
  bool requireArithmetic(Value value);
  /// Returns whether the value has a float type. Otherwise reports an error,
  /// unless the value is null.
  bool requireFloat(Value value);

private:
  const ::onnx::AttributeProto *findAttribute(StringRef name) const;
  /// Returns the attribute, or null if it doesn't exist. Another type than
  /// `type` is an error.
  const ::onnx::AttributeProto *findAttribute(StringRef name, int type,
                                              StringRef typeName);
  SmallVector<Value>
  finish(OperationState &state,
         llvm::function_ref<LogicalResult(OperationState &,
                                          SmallVectorImpl<Type> &)>
             inferTypes);

  ModelBuilder &model;
  const ::onnx::NodeProto &proto;
  Location location;
  bool hasFailed = false;
};

// The functions of these names in this namespace would hide those of hfta.
using hfta::getElementType;
using hfta::getShape;

inline RankedTensorType getType(Value value) { return getTensorType(value); }
namespace detail {
template <typename Argument>
bool isNullValue(const Argument &argument) {
  if constexpr (std::is_same_v<Argument, Value>)
    return !argument;
  else if constexpr (std::is_same_v<Argument, SmallVector<Value>>)
    return llvm::is_contained(argument, Value());
  else
    return false;
}
} // namespace detail

template <typename OpTy, typename... Arguments>
SmallVector<Value> Node::createMany(unsigned results,
                                    Arguments &&...arguments) {
  if (hasFailed || (detail::isNullValue(arguments) || ...))
    return {};
  OperationState state(location, OpTy::getOperationName());
  SmallVector<Type> placeholders(results, getBuilder().getIndexType());
  OpTy::build(getBuilder(), state, TypeRange(placeholders),
              std::forward<Arguments>(arguments)...);
  state.types.clear();
  return finish(state,
                [&](OperationState &state, SmallVectorImpl<Type> &types) {
                  return OpTy::inferReturnTypes(
                      getBuilder().getContext(), state.location, state.operands,
                      state.attributes.getDictionary(getBuilder().getContext()),
                      state.getRawProperties(), {}, types);
                });
}

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_NODE_H
