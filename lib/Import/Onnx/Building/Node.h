//===- Node.h - The interface of handlers to a node -------------*- C++ -*-===//
//
// The first error of a node is kept: it is reported once, and later calls
// return null values and do nothing, so that handlers needn't check every call.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_NODE_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_NODE_H

#include "Building/ConstantEvaluator.h"
#include "Building/ModelBuilder.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::hfta::onnx_import {

/// Returns `value` without its fraction, or the nearest integer of the type.
int64_t toInteger(double value);

class Node {
public:
  Node(ModelBuilder &model, const ::onnx::NodeProto &proto);

  StringRef getOpType() const { return proto.op_type(); }
  int64_t getOpset() const { return model.getOpset(proto); }
  ModelBuilder &getModel() { return model; }
  OpBuilder &getBuilder() { return model.getBuilder(); }
  Location getLoc() const { return location; }

  //===--- Errors ---------------------------------------------------------===//
  bool failed() const { return hasFailed; }
  /// Both report an error and return a null value.
  Value invalid(const Twine &message);
  Value unsupported(const Twine &message);
  /// Notes an error that has been reported elsewhere.
  void stop() { hasFailed = true; }

  //===--- Operands and results -------------------------------------------===//
  unsigned getNumInputs() const { return proto.input_size(); }
  bool hasInput(unsigned index) const;
  StringRef getInputName(unsigned index) const;
  /// Returns a required operand.
  Value getInput(unsigned index);
  /// Returns an operand that may be absent: null then.
  Value getOptionalInput(unsigned index);
  /// Returns all operands, none of which may be absent.
  SmallVector<Value> getInputs();
  /// Returns the value of an operand that must be known now; messages call it
  /// `what`. Returns nothing if it is absent or unknown, which is an error.
  std::optional<DenseElementsAttr> getConstant(unsigned index, StringRef what);
  std::optional<SmallVector<int64_t>> getIntegers(unsigned index,
                                                  StringRef what);
  /// Returns one number that must be known now.
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
  /// Returns an attribute that is finite and at least 0.
  double getNonNegative(StringRef name, double fallback);
  std::string getString(StringRef name, StringRef fallback);
  std::optional<SmallVector<int64_t>> getInts(StringRef name);
  std::optional<SmallVector<float>> getFloats(StringRef name);
  const ::onnx::TensorProto *getTensor(StringRef name);
  /// Returns a required graph.
  const ::onnx::GraphProto *getGraph(StringRef name);
  /// Returns `axis` counted from the front, checked against the rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Returns the axes sorted and checked.
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

  /// Makes a constant with one value everywhere.
  Value splat(ArrayRef<int64_t> shape, Type elementType, double value);
  Value splatLike(Value like, double value);
  Value integers(ArrayRef<int64_t> values);
  Value cast(Value value, Type elementType);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// Broadcast `value` to `shape` by ONNX's rules; `axis` is where axis 0 of
  /// the value goes (default: aligned at the end).
  Value broadcast(Value value, ArrayRef<int64_t> shape);
  /// Returns a splat with another shape; `exact` may be null.
  Value repeatSplat(DenseElementsAttr splat, ArrayRef<int64_t> shape,
                    ElementsAttr exact);
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

  /// Refuses element types on which arithmetic isn't defined.
  bool requireArithmetic(Value value);
  bool requireFloat(Value value);

private:
  const ::onnx::AttributeProto *findAttribute(StringRef name) const;
  /// Returns the attribute if it exists and has this type; another type is an
  /// error.
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

// Needed in addition to the functions of these names here.
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
