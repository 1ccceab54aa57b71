//===- BodyBuilder.cpp - Builds models of the language --------------------===//

#include "Building/BodyBuilder.h"

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMaxElements = int64_t(1) << 36;

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VariableDeclarer::VariableDeclarer(ModelOp model)
    : model(model), builder(model.getContext()) {
  for (VariableOp variable : model.getBody().getOps<VariableOp>())
    last = variable;
}

VariableOp VariableDeclarer::declare(Location loc, StringRef name,
                                     RankedTensorType type, Role role,
                                     Attribute initial, bool trained) {
  std::string symbol = names::getModelSymbol(name);
  if (SymbolTable::lookupSymbolIn(model, symbol))
    llvm::report_fatal_error("variable '" + Twine(name) +
                             "' is declared twice");
  setInsertionPoint();
  VariableOp variable =
      VariableOp::create(builder, loc, symbol, type, role, initial);
  if (symbol != name)
    variable.setKnownAs(name);
  variable.setTrained(trained);
  last = variable;
  return variable;
}

VariableOp VariableDeclarer::getScalar(Location loc, PurposeAttr purpose,
                                       Type elementType) {
  if (VariableOp known = VariableIndex(model).lookup(purpose))
    return known;
  setInsertionPoint();
  VariableOp variable = VariableOp::create(
      builder, loc, purpose, RankedTensorType::get({}, elementType));
  last = variable;
  return variable;
}

void VariableDeclarer::setInsertionPoint() {
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&model.getBody().front());
}

BodyBuilder::BodyBuilder(OpBuilder &builder, ModelOp model, const JobInfo &info,
                         const ast::ModelDeclaration &declaration,
                         JobDiagnostics &diagnostics)
    : builder(builder), model(model), info(info), declaration(declaration),
      diagnostics(diagnostics), declarer(model),
      modes(getNames(info.evaluationMode), getNames(info.trainingMode)),
      floatType(builder.getF32Type()), batch(info.getNetworkBatch()) {}

Value BodyBuilder::read(VariableOp variable) {
  return tensors->create<ReadOp>(variable.getTensorType(),
                                 variable.getSymName(), IntegerAttr());
}

Value BodyBuilder::makeParameter(StringRef layer, StringRef suffix,
                                 ArrayRef<int64_t> shape, Attribute initial) {
  return read(declarer.declare(tensors->getLoc(), (layer + "." + suffix).str(),
                               RankedTensorType::get(shape, floatType),
                               Role::parameter, initial, /*trained=*/true));
}

Value BodyBuilder::makeFilled(StringRef layer, StringRef suffix,
                              ArrayRef<int64_t> shape, double value,
                              Role role) {
  bool isParameter = role == Role::parameter;
  auto type = RankedTensorType::get(shape, floatType);
  auto initial =
      DenseElementsAttr::get(type, Attribute(FloatAttr::get(floatType, value)));
  return read(declarer.declare(tensors->getLoc(), (layer + "." + suffix).str(),
                               type, role, initial, isParameter));
}

void BodyBuilder::replaceStatistic(Value old, Value value) {
  tensors->create<WriteOp>(
      value, cast<ReadOp>(old.getDefiningOp()).getVariable(), IntegerAttr());
}

Attribute BodyBuilder::getUniform(double bound) const {
  return UniformAttr::get(builder.getContext(), builder.getF64FloatAttr(-bound),
                          builder.getF64FloatAttr(bound));
}

Attribute BodyBuilder::getNormal() const {
  return NormalAttr::get(builder.getContext(), builder.getF64FloatAttr(0.0),
                         builder.getF64FloatAttr(1.0));
}

Value BodyBuilder::readScalar(Purpose purpose) {
  return read(declarer.getScalar(
      model.getLoc(), PurposeAttr::get(builder.getContext(), purpose),
      builder.getI64Type()));
}

Value BodyBuilder::readHyperParameter(StringRef name) {
  return read(declarer.getScalar(
      model.getLoc(),
      PurposeAttr::get(builder.getContext(), Purpose::hyper_parameter, name),
      floatType));
}

StringRef BodyBuilder::getRateName(const ast::CallExpression &call) const {
  auto found = info.dropoutRates.find(&call);
  return found == info.dropoutRates.end() ? StringRef() : found->second;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

Value BodyBuilder::fail(llvm::SMRange range, const Twine &message,
                        const Twine &hint) {
  diagnostics.error(range, message, hint);
  return nullptr;
}

bool BodyBuilder::checkSize(ArrayRef<int64_t> shape, llvm::SMRange range) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (!llvm::MulOverflow(elements, size, elements) &&
        elements <= kMaxElements)
      continue;
    fail(range, "a tensor of shape " + printShape(shape) + " is too large",
         "at most " + Twine(kMaxElements) + " elements");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void BodyBuilder::setLocation(StringRef name, llvm::SMRange range) {
  FileLineColLoc place = diagnostics.getLocation(builder.getContext(), range);
  tensors.emplace(builder, NameLoc::get(builder.getStringAttr(name), place));
}

Operand BodyBuilder::evaluate(const ast::Expression &expression) {
  if (auto *number = dyn_cast<ast::NumberExpression>(&expression)) {
    if (number->isSize)
      return {fail(expression.getRange(), "a size isn't a value of a model",
                   "write a number without a unit"),
              std::nullopt};
    return {nullptr, Number{number->value, number->integer}};
  }
  if (auto *name = dyn_cast<ast::NameExpression>(&expression))
    return evaluateName(*name);
  if (auto *call = dyn_cast<ast::CallExpression>(&expression))
    return {evaluateCall(*call), std::nullopt};
  if (auto *binary = dyn_cast<ast::BinaryExpression>(&expression))
    return evaluateBinary(*binary);
  if (auto *negation = dyn_cast<ast::NegationExpression>(&expression))
    return evaluateNegation(*negation);
  auto *member = dyn_cast<ast::MemberExpression>(&expression);
  if (member && member->call && callNetwork)
    return {callNetwork(*member->call, &member->member), std::nullopt};
  if (isa<ast::ListExpression>(expression))
    fail(expression.getRange(), "a list isn't a value of a model",
         "only hyper-parameters and dropout rates differ between copies");
  else if (isa<ast::StringExpression>(expression))
    fail(expression.getRange(), "a string isn't a value of a model",
         "values are tensors and numbers");
  else
    fail(expression.getRange(), "a model can't use another model's outputs",
         "values are tensors and numbers");
  return {};
}

Operand BodyBuilder::evaluateName(const ast::NameExpression &name) {
  auto value = values.find(name.name);
  if (value != values.end())
    return {value->second, std::nullopt};
  auto size = sizes.find(name.name);
  if (size != sizes.end())
    return {nullptr, Number::of(size->second)};
  fail(name.getRange(), "'" + name.name + "' isn't a tensor",
       "values are tensors and numbers");
  return {};
}

Operand BodyBuilder::evaluateNegation(const ast::NegationExpression &negation) {
  Operand operand = evaluate(*negation.operand);
  setRange(negation.getRange());
  if (operand.value)
    return {tensors->unary<NegOp>(operand.value), std::nullopt};
  if (operand.number)
    return {
        nullptr,
        ConstantReader(diagnostics, &sizes).readNumber(negation, "operand")};
  return {};
}

Operand BodyBuilder::evaluateBinary(const ast::BinaryExpression &binary) {
  Operand lhs = evaluate(*binary.lhs);
  Operand rhs = evaluate(*binary.rhs);
  setRange(binary.getRange());
  if (!lhs || !rhs)
    return {};
  if (lhs.number && rhs.number)
    return {nullptr,
            ConstantReader(diagnostics, &sizes).readNumber(binary, "operand")};
  Value tensor = lhs.value ? lhs.value : rhs.value;
  Type elementType = getElementType(tensor);
  auto makeTensor = [&](Operand &operand) {
    if (operand.value)
      return true;
    if (!isa<FloatType>(elementType) && !operand.number->integer) {
      fail(binary.getRange(),
           "a tensor of whole numbers can't be combined with " +
               printNumber(operand.number->value),
           "declare the input as f32");
      return false;
    }
    operand.value = tensors->splatLike(tensor, operand.number->value);
    return true;
  };
  if (!makeTensor(lhs) || !makeTensor(rhs))
    return {};
  return {buildBinary(binary.operation, lhs.value, rhs.value,
                      binary.operationRange),
          std::nullopt};
}

bool BodyBuilder::broadcastTogether(Value &lhs, Value &rhs,
                                    llvm::SMRange range) {
  ArrayRef<int64_t> a = getShape(lhs), b = getShape(rhs);
  size_t rank = std::max(a.size(), b.size());
  SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    shape[i] = x == 1 ? y : x;
    if (x == y || x == 1 || y == 1)
      continue;
    fail(range,
         "shapes " + printShape(a) + " and " + printShape(b) +
             " can't be broadcast",
         "axes are matched from the last one on; each pair is equal or has a "
         "1");
    return false;
  }
  if (!checkSize(shape, range))
    return false;
  for (Value *value : {&lhs, &rhs}) {
    auto dimensions = llvm::to_vector(
        llvm::seq<int64_t>(rank - getTensorType(*value).getRank(), rank));
    *value = tensors->broadcast(*value, shape, dimensions);
  }
  return true;
}

Value BodyBuilder::buildBinary(char operation, Value lhs, Value rhs,
                               llvm::SMRange range) {
  if (getElementType(lhs) != getElementType(rhs))
    return fail(range, "whole numbers can't be combined with floats",
                "declare the input of whole numbers as f32");
  if (!broadcastTogether(lhs, rhs, range))
    return nullptr;
  switch (operation) {
  case '+':
    return tensors->binary<AddOp>(lhs, rhs);
  case '-':
    return tensors->binary<SubOp>(lhs, rhs);
  case '*':
    return tensors->binary<MulOp>(lhs, rhs);
  default:
    return tensors->binary<DivOp>(lhs, rhs);
  }
}

Value BodyBuilder::evaluateCall(const ast::CallExpression &call) {
  const Builtin *builtin = findBuiltin(call.callee.name);
  if (!builtin)
    return callNetwork ? callNetwork(call, /*output=*/nullptr) : nullptr;
  std::optional<BoundArguments> arguments =
      bindArguments({builtin->name, builtin->parameters, builtin->variadic},
                    call.arguments, call.getRange(), diagnostics);
  if (!arguments)
    return nullptr;
  auto layer = info.layerNames.find(&call);
  if ((builtin->isLayer || builtin->isRandom) && layer == info.layerNames.end())
    return fail(call.getRange(),
                "'" + builtin->name +
                    "' is a layer, which belongs into a model",
                "a loss computes from outputs of networks");
  BuiltinCall built(*this, call, std::move(*arguments),
                    layer == info.layerNames.end() ? StringRef()
                                                   : layer->second);
  setRange(call.getRange());
  Value result = builtin->build(*this, built);
  if (result && !checkSize(getShape(result), call.getRange()))
    return nullptr;
  return result;
}

Value BodyBuilder::evaluateTensor(const ast::Expression &expression,
                                  StringRef what) {
  Operand operand = evaluate(expression);
  if (operand.number)
    return fail(expression.getRange(),
                "'" + what + "' must be a tensor, got " +
                    printNumber(operand.number->value),
                "combine the number with a tensor, for example 2 * x");
  return operand.value;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

void BodyBuilder::bindInputs(Block &block, ArrayRef<InputBinding> inputs) {
  size_t index = 0;
  for (const ast::Binding &input : declaration.inputs) {
    setLocation(input.name.name, input.name.range);
    if (!input.type)
      values[input.name.name] = readHyperParameter(input.name.name);
    else
      values[input.name.name] = block.getArgument(index++);
  }
}

void BodyBuilder::assign(const ast::Expression &expression) {
  Operand operand = evaluate(expression);
  if (!operand.number)
    values[scope] = operand.value;
  else if (operand.number->integer)
    sizes[scope] = *operand.number->integer;
  else
    values[scope] = fail(expression.getRange(),
                         "a name stands for a tensor or a whole number, got " +
                             printNumber(operand.number->value),
                         "write the number where it is used");
}

SmallVector<Value> BodyBuilder::evaluateResults() {
  SmallVector<Value> results;
  for (const ast::Argument &output : declaration.results) {
    scope = getOutputName(output);
    setLocation(scope, output.getRange());
    Value value = evaluateTensor(*output.value, scope);
    if (value && (getShape(value).empty() || getShape(value).front() != batch))
      value = fail(output.getRange(),
                   "output '" + scope + "' of shape " +
                       printShape(getShape(value)) +
                       " doesn't have the batch on axis 0",
                   "an output has one row for each sample");
    results.push_back(value);
  }
  return results;
}

bool BodyBuilder::build(ArrayRef<InputBinding> inputs) {
  unsigned errors = diagnostics.getErrorCount();
  SmallVector<Type> types;
  for (const InputBinding &input : inputs)
    types.push_back(input.type);
  Location loc =
      diagnostics.getLocation(builder.getContext(), declaration.name.range);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&model.getBody().front());
  auto forward = func::FuncOp::create(builder, loc, "forward",
                                      builder.getFunctionType(types, {}));
  Block *block = forward.addEntryBlock();
  builder.setInsertionPointToStart(block);
  bindInputs(*block, inputs);
  for (const ast::Statement &statement : declaration.statements) {
    scope = statement.target.name;
    setLocation(scope, statement.target.range);
    if (statement.value)
      assign(*statement.value);
  }
  SmallVector<Value> results = evaluateResults();
  if (diagnostics.getErrorCount() != errors)
    return false;
  func::ReturnOp::create(builder, loc, results);
  forward.setType(
      builder.getFunctionType(types, ValueRange(results).getTypes()));
  for (const auto &[index, input] : llvm::enumerate(inputs)) {
    forward.setArgAttr(index, HftaDialect::kNameAttrName,
                       builder.getStringAttr(input.field));
    if (input.fileName != input.field)
      forward.setArgAttr(index, "hfta.file_name",
                         builder.getStringAttr(input.fileName));
  }
  for (const auto &[index, output] : llvm::enumerate(declaration.results))
    forward.setResultAttr(index, HftaDialect::kNameAttrName,
                          builder.getStringAttr(getOutputName(output)));
  return true;
}
