//===- BodyBuilder.h - Models of the language to hfta.model -----*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_BODYBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_BODYBUILDER_H

#include "Analysis/Builtins.h"
#include "Analysis/JobAnalyzer.h"
#include "Building/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta::language {

/// An argument of @forward: the field that it is bound to, and its type.
struct InputBinding {
  std::string field;
  std::string fileName; ///< the model's own name for it
  RankedTensorType type;
};

/// The result of an expression: a tensor, or a number that hasn't been combined
/// with a tensor yet. It is neither after an error, which has been reported.
struct Operand {
  Value value;
  std::optional<Number> number;
  explicit operator bool() const { return value || number; }
};

/// Declares variables of a model, before its functions.
class VariableDeclarer {
public:
  explicit VariableDeclarer(ModelOp model);
  /// Declares a tensor with the name that users see. Declaring it twice ends
  /// the program with an internal error.
  VariableOp declare(Location loc, StringRef name, RankedTensorType type,
                     Role role, Attribute initial, bool trained);
  /// Returns the scalar for this purpose, which is declared on first use.
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
              JobDiagnostics &diagnostics);

  /// Builds @forward. Returns false after errors, which are reported.
  bool build(ArrayRef<InputBinding> inputs);
  /// Sizes of axes by name, including the batch's.
  llvm::StringMap<int64_t> sizes;

  // The functions for builtins. Values are null after an error.
  TensorBuilder &getTensors() { return *tensors; }
  JobDiagnostics &getDiagnostics() { return diagnostics; }
  int64_t getBatch() const { return batch; }
  Operand evaluate(const ast::Expression &expression);
  /// Returns the tensor that an expression evaluates to; a number is an error.
  Value evaluateTensor(const ast::Expression &expression, StringRef what);
  /// Sets the location of all ops that are built from now on.
  void setRange(llvm::SMRange range) { setLocation(scope, range); }
  /// Reports an error and returns null.
  Value fail(llvm::SMRange range, const Twine &message, const Twine &hint = "");
  /// Reports a shape that is too large, and then returns false.
  bool checkSize(ArrayRef<int64_t> shape, llvm::SMRange range);
  /// Broadcasts both operands to one shape; returns false after an error.
  bool broadcastTogether(Value &lhs, Value &rhs, llvm::SMRange range);
  Value buildBinary(char operation, Value lhs, Value rhs, llvm::SMRange range);

  /// Makes a parameter called `scope.suffix` and returns its value.
  Value makeParameter(StringRef layer, StringRef suffix,
                      ArrayRef<int64_t> shape, Attribute initial);
  /// Makes a parameter or statistic with the same value everywhere.
  Value makeFilled(StringRef layer, StringRef suffix, ArrayRef<int64_t> shape,
                   double value, Role role);
  /// Replaces the value that makeFilled returned.
  void replaceStatistic(Value old, Value value);
  Attribute getUniform(double bound) const;
  Attribute getNormal() const;
  /// Reads a run-time scalar of the compiler.
  Value readScalar(Purpose purpose);
  /// Reads a hyper-parameter of the model, one value per copy.
  Value readHyperParameter(StringRef name);
  /// Returns the name of the hyper-parameter that holds a dropout call's rate;
  /// empty if the call itself names a hyper-parameter.
  StringRef getRateName(const ast::CallExpression &call) const;

private:
  Value read(VariableOp variable);
  Operand evaluateName(const ast::NameExpression &name);
  Operand evaluateBinary(const ast::BinaryExpression &binary);
  Operand evaluateNegation(const ast::NegationExpression &negation);
  Value evaluateCall(const ast::CallExpression &call);
  void setLocation(StringRef name, llvm::SMRange range);
  void bindInputs(Block &block, ArrayRef<InputBinding> inputs);
  /// Gives the expression's value the name `scope`.
  void assign(const ast::Expression &expression);
  SmallVector<Value> evaluateResults();

  OpBuilder &builder;
  ModelOp model;
  const JobInfo &info;
  JobDiagnostics &diagnostics;
  VariableDeclarer declarer;
  /// The type of all floats: hfta-apply-precision replaces it by the job's
  /// types.
  FloatType floatType;
  int64_t batch;
  std::optional<TensorBuilder> tensors;
  llvm::StringMap<Value> values;
  std::string scope; ///< the name that is being assigned
};

/// The arguments of a call to a builtin, read as values of their kinds. After
/// an error, which is reported, `hasFailed()` is true.
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
  /// Returns one whole number for each of `count` axes, from a list or from one
  /// number for all.
  SmallVector<int64_t> getIntegers(StringRef name, int64_t count,
                                   int64_t otherwise, int64_t least,
                                   int64_t most);
  SmallVector<int64_t> getList(StringRef name, int64_t least, int64_t most);
  /// Returns an axis of a tensor of this rank, counted from the front. The
  /// batch axis is an error.
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
