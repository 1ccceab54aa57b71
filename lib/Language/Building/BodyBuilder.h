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

/// What an expression gives: a tensor, or a number until it meets one. Neither
/// after an error, which has been reported.
struct Operand {
  Value value;
  std::optional<Number> number;
  explicit operator bool() const { return value || number; }
};

/// Declares variables of a model, before its functions.
class VariableDeclarer {
public:
  explicit VariableDeclarer(ModelOp model);
  /// A tensor that users call `name`. Declaring it twice ends the program with
  /// an internal error.
  VariableOp declare(Location loc, StringRef name, RankedTensorType type,
                     Role role, Attribute initial, bool trained);
  /// The scalar for this purpose, declared on first use.
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

  /// Builds @forward. False after errors, which are reported.
  bool build(ArrayRef<InputBinding> inputs);
  /// Sizes of axes by name, the batch's too.
  llvm::StringMap<int64_t> sizes;

  // For builtins. Values are null after an error.
  TensorBuilder &getTensors() { return *tensors; }
  JobDiagnostics &getDiagnostics() { return diagnostics; }
  int64_t getBatch() const { return batch; }
  Operand evaluate(const ast::Expression &expression);
  /// The tensor that an expression gives; a number is an error.
  Value evaluateTensor(const ast::Expression &expression, StringRef what);
  /// Ops built from now on stand at `range`.
  void setRange(llvm::SMRange range) { setLocation(scope, range); }
  /// Reports an error and gives null.
  Value fail(llvm::SMRange range, const Twine &message, const Twine &hint = "");
  /// Reports a shape that is too large.
  bool checkSize(ArrayRef<int64_t> shape, llvm::SMRange range);
  /// Both operands in one shape; false after an error.
  bool broadcastTogether(Value &lhs, Value &rhs, llvm::SMRange range);
  Value buildBinary(char operation, Value lhs, Value rhs, llvm::SMRange range);

  /// The value of a parameter called `scope.suffix`.
  Value makeParameter(StringRef layer, StringRef suffix,
                      ArrayRef<int64_t> shape, Attribute initial);
  /// A parameter or statistic with one value everywhere.
  Value makeFilled(StringRef layer, StringRef suffix, ArrayRef<int64_t> shape,
                   double value, Role role);
  /// The new value of what makeFilled gave.
  void replaceStatistic(Value old, Value value);
  Attribute getUniform(double bound) const;
  Attribute getNormal() const;
  /// A run-time scalar of the compiler's.
  Value readScalar(Purpose purpose);
  /// A hyper-parameter of the model, one value a copy.
  Value readHyperParameter(StringRef name);
  /// The hyper-parameter that a dropout call's rate is; empty if it names one.
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
  /// Of all floats: hfta-apply-precision gives them the job's types.
  FloatType floatType;
  int64_t batch;
  std::optional<TensorBuilder> tensors;
  llvm::StringMap<Value> values;
  std::string scope; ///< what is being assigned
};

/// The arguments of a call to a builtin, read as values of their kinds. After
/// an error, which is reported, `hasFailed()`.
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
  /// A tensor of floats with at least `leastRank` axes.
  Value getFloats(StringRef name, int64_t leastRank = 0);
  int64_t getInteger(StringRef name, int64_t otherwise, int64_t least,
                     int64_t most);
  bool getBool(StringRef name, bool otherwise);
  double getNumber(StringRef name, double otherwise);
  /// A whole number for all of `count` axes, or a list of one each.
  SmallVector<int64_t> getIntegers(StringRef name, int64_t count,
                                   int64_t otherwise, int64_t least,
                                   int64_t most);
  SmallVector<int64_t> getList(StringRef name, int64_t least, int64_t most);
  /// An axis of a tensor of this rank, counted from the front; not the batch.
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
