//===- BodyBuilder.h - Builds models of the language ------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_BODYBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_BODYBUILDER_H

#include "Analysis/Builtins.h"
#include "Analysis/JobAnalyzer.h"
#include "Building/TensorBuilder.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace mlir::hfta::language {

/// The binding of an argument of @forward to a field of the data block.
struct InputBinding {
  std::string field;
  std::string fileName; ///< the argument's name in the model
  RankedTensorType type;
};

/// The value of an expression: a tensor, or a number that hasn't been combined
/// with a tensor yet. Neither after an error, which has been reported.
struct Operand {
  Value value;
  std::optional<Number> number;
  explicit operator bool() const { return value || number; }
};

/// Declares variables of a model, in front of its functions.
class VariableDeclarer {
public:
  explicit VariableDeclarer(ModelOp model);
  /// Declares a tensor under the name that users see. Declaring a name twice is
  /// an internal error, which ends the program.
  VariableOp declare(Location loc, StringRef name, RankedTensorType type,
                     Role role, Attribute initial, bool trained);
  /// Returns the run-time scalar with this purpose, and declares it on first
  /// use.
  VariableOp getScalar(Location loc, PurposeAttr purpose, Type elementType);

private:
  void setInsertionPoint();

  ModelOp model;
  OpBuilder builder;
  Operation *last = nullptr;
};

/// Builds the body of one model.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &builder, ModelOp model, const JobInfo &info,
              const ast::ModelDeclaration &declaration,
              JobDiagnostics &diagnostics);

  /// Builds @forward. Returns false after errors, which have been reported.
  bool build(ArrayRef<InputBinding> inputs);
  /// Gives a name in expressions a value.
  void define(StringRef name, Value value) { values[name] = value; }
  /// Builds a call of a network, and returns its output of this name, or its
  /// only one for null; null after an error, which it has reported. Without
  /// such a function, expressions can't call networks.
  std::function<Value(const ast::CallExpression &call,
                      const ast::Identifier *output)>
      callNetwork;
  /// Sizes of axes by name, including that of the batch axis.
  llvm::StringMap<int64_t> sizes;

  // Methods for the functions of builtins. After an error, which has been
  // reported, they return null.
  TensorBuilder &getTensors() { return *tensors; }
  JobDiagnostics &getDiagnostics() { return diagnostics; }
  int64_t getBatch() const { return batch; }
  Operand evaluate(const ast::Expression &expression);
  /// Returns the tensor that an expression evaluates to. Reports an error if it
  /// is a number; `what` names it in the message.
  Value evaluateTensor(const ast::Expression &expression, StringRef what);
  /// Sets the name to which the location of all later ops refers.
  void setScope(StringRef name) { scope = name.str(); }
  /// Sets the source range to which the location of all later ops refers.
  void setRange(llvm::SMRange range) { setLocation(scope, range); }
  /// Reports an error and returns null.
  Value fail(llvm::SMRange range, const Twine &message, const Twine &hint = "");
  /// Returns whether a tensor may have this shape; reports an error if it is
  /// too large.
  bool checkSize(ArrayRef<int64_t> shape, llvm::SMRange range);
  /// Broadcasts both operands to a common shape. Returns false after an error,
  /// which has been reported.
  bool broadcastTogether(Value &lhs, Value &rhs, llvm::SMRange range);
  Value buildBinary(char operation, Value lhs, Value rhs, llvm::SMRange range);

  /// Declares a parameter called `layer.suffix` and returns its value.
  Value makeParameter(StringRef layer, StringRef suffix,
                      ArrayRef<int64_t> shape, Attribute initial);
  /// Declares a parameter or statistic whose elements all begin as `value`, and
  /// returns its value.
  Value makeFilled(StringRef layer, StringRef suffix, ArrayRef<int64_t> shape,
                   double value, Role role);
  /// Writes a new value of a statistic; `old` is the value that makeFilled
  /// returned.
  void replaceStatistic(Value old, Value value);
  Attribute getUniform(double bound) const;
  Attribute getNormal() const;
  /// Reads one of the compiler's run-time scalars, such as the step.
  Value readScalar(Purpose purpose);
  /// Reads a hyper-parameter of the model, a scalar with one value per copy.
  Value readHyperParameter(StringRef name);
  /// Returns the name of the hyper-parameter that holds the rate of a dropout
  /// call; empty if the call itself refers to a hyper-parameter by name.
  StringRef getRateName(const ast::CallExpression &call) const;
  /// The modes of the batch normalizations and dropouts that were built.
  ModeChooser &getModes() { return modes; }

private:
  Value read(VariableOp variable);
  Operand evaluateName(const ast::NameExpression &name);
  Operand evaluateBinary(const ast::BinaryExpression &binary);
  Operand evaluateNegation(const ast::NegationExpression &negation);
  Value evaluateCall(const ast::CallExpression &call);
  void setLocation(StringRef name, llvm::SMRange range);
  void bindInputs(Block &block, ArrayRef<InputBinding> inputs);
  /// Evaluates an expression and assigns its value to the name in `scope`.
  void assign(const ast::Expression &expression);
  SmallVector<Value> evaluateResults();

  OpBuilder &builder;
  ModelOp model;
  const JobInfo &info;
  const ast::ModelDeclaration &declaration;
  JobDiagnostics &diagnostics;
  VariableDeclarer declarer;
  ModeChooser modes;
  /// The type of all floats of the model. The pass hfta-apply-precision
  /// replaces it later by the job's types.
  FloatType floatType;
  int64_t batch;
  std::optional<TensorBuilder> tensors;
  llvm::StringMap<Value> values;
  std::string scope; ///< the name that is being assigned
};

/// The arguments of a call to a builtin function, read as values of the kinds
/// that the function expects. After an error, which was reported, `hasFailed`
/// returns true.
class BuiltinCall {
public:
  BuiltinCall(BodyBuilder &body, const ast::CallExpression &call,
              BoundArguments arguments, StringRef layerName)
      : body(body), call(call), arguments(std::move(arguments)),
        layerName(layerName) {}

  bool hasFailed() const { return failed; }
  const ast::CallExpression &getCall() const { return call; }
  llvm::SMRange getRange() const { return call.getRange(); }
  llvm::SMRange getRange(StringRef name) const;
  StringRef getLayerName() const { return layerName; }
  bool has(StringRef name) const { return arguments.get(name) != nullptr; }
  const ast::Expression *get(StringRef name) const {
    return arguments.get(name);
  }
  const BoundArguments &getArguments() const { return arguments; }

  Value getTensor(StringRef name);
  /// Returns a tensor of floats with at least `leastRank` axes.
  Value getFloats(StringRef name, int64_t leastRank = 0);
  int64_t getInteger(StringRef name, int64_t otherwise, int64_t least,
                     int64_t most);
  bool getBool(StringRef name, bool otherwise);
  double getNumber(StringRef name, double otherwise);
  /// Returns `count` whole numbers, one per axis, from a list, or from one
  /// number for all axes.
  SmallVector<int64_t> getIntegers(StringRef name, int64_t count,
                                   int64_t otherwise, int64_t least,
                                   int64_t most);
  SmallVector<int64_t> getList(StringRef name, int64_t least, int64_t most);
  /// Returns an axis of a tensor with this rank, where negative numbers count
  /// from the last axis. The batch axis is an error.
  int64_t getAxis(StringRef name, int64_t rank, int64_t otherwise);
  SmallVector<int64_t> getAxes(StringRef name, int64_t rank);

private:
  ConstantReader getReader() const;
  int64_t checkAxis(int64_t axis, int64_t rank, llvm::SMRange range);

  BodyBuilder &body;
  const ast::CallExpression &call;
  BoundArguments arguments;
  StringRef layerName;
  bool failed = false;
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_BODYBUILDER_H
