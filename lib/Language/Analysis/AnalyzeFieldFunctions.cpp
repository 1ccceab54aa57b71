//===- AnalyzeFieldFunctions.cpp - Functions of fields in data blocks -----===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kData = "data", kView = "view",
                                     kField = "field";
static constexpr int64_t kMostViews = 1 << 20;

llvm::ArrayRef<double> FieldCall::getNumbers(llvm::StringRef parameter) const {
  for (const auto &[described, numbers] :
       llvm::zip_equal(function->parameters, values))
    if (described.name == parameter)
      return numbers;
  llvm_unreachable("a function of fields has no such parameter");
}

bool FieldCall::givesFloats() const {
  if (function->givesFloats)
    return true;
  for (const auto &[parameter, numbers] :
       llvm::zip_equal(function->parameters, values))
    if (parameter.isElement && numbers.front() != std::floor(numbers.front()))
      return true;
  return false;
}

std::string FieldCall::print() const {
  std::string text = (function->name + "(").str();
  llvm::StringRef separator;
  for (const auto &[parameter, numbers] :
       llvm::zip_equal(function->parameters, values)) {
    if (numbers.empty())
      continue;
    text += (separator + parameter.name + " = ").str();
    if (numbers.size() > 1)
      text += "[";
    llvm::interleave(
        numbers, [&](double number) { text += printNumber(number); },
        [&] { text += ", "; });
    if (numbers.size() > 1)
      text += "]";
    separator = ", ";
  }
  if (!like.empty())
    text += (separator + like).str();
  if (view != 0)
    text += (separator + kView + " = ").str() + std::to_string(view);
  return text + ")";
}

/// Checks the numbers of an argument, and completes them.
static bool checkNumbers(const FieldParameter &parameter,
                         const ast::Expression &expression,
                         const std::vector<Number> &numbers,
                         std::vector<double> &values,
                         JobDiagnostics &diagnostics) {
  using Form = FieldParameter::Form;
  size_t most = parameter.form == Form::number ? 1 : 2;
  size_t least = parameter.form == Form::interval ? 2 : 1;
  if (numbers.size() < least || numbers.size() > most) {
    diagnostics.error(expression.getRange(),
                      "'" + parameter.name + "' has " +
                          llvm::Twine(numbers.size()) +
                          (numbers.size() == 1 ? " number" : " numbers"),
                      parameter.form == Form::number ? "it is one number"
                      : parameter.form == Form::sides
                          ? "it is one number, or [height, width]"
                          : "it is the least and the largest, as [0.1, 0.3]");
    return false;
  }
  for (const Number &number : numbers)
    if (!parameter.range.contains(number.value, number.integer.has_value())) {
      diagnostics.error(expression.getRange(),
                        "'" + parameter.name + "' is out of range, got " +
                            printNumber(number.value),
                        "it is " + parameter.range.describe());
      return false;
    }
  values.clear();
  for (const Number &number : numbers)
    values.push_back(number.value);
  if (parameter.form == Form::sides && values.size() == 1)
    values.push_back(values.front());
  if (parameter.form != Form::interval || values[0] <= values[1])
    return true;
  diagnostics.error(expression.getRange(),
                    "'" + parameter.name + "' goes from " +
                        printNumber(values[0]) + " to " +
                        printNumber(values[1]),
                    "the first number is the least one");
  return false;
}

bool JobAnalyzer::readFieldArguments(const BoundArguments &arguments,
                                     FieldCall &call) {
  for (const FieldParameter &parameter : call.function->parameters) {
    std::vector<double> &values = call.values.emplace_back(parameter.initial);
    const ast::Expression *value = arguments.get(parameter.name);
    if (!value)
      continue;
    std::optional<std::vector<Number>> numbers =
        constants.readNumbers(*value, parameter.name);
    if (!numbers ||
        !checkNumbers(parameter, *value, *numbers, values, diagnostics))
      return false;
  }
  if (const ast::Expression *field = arguments.get(kField)) {
    auto *name = llvm::dyn_cast<ast::NameExpression>(field);
    if (!name) {
      diagnostics.error(field->getRange(), "expected the name of a field",
                        "that of one with mixup(...) or cutmix(...)");
      return false;
    }
    call.like = name->name;
  }
  const ast::Expression *view = arguments.get(kView);
  if (!view)
    return true;
  std::optional<int64_t> number =
      constants.readInteger(*view, kView, 0, kMostViews);
  call.view = number.value_or(0);
  return number.has_value();
}

bool JobAnalyzer::analyzeFieldFunction(const FieldFunction &function,
                                       const ast::CallExpression &call,
                                       DataSource &source,
                                       llvm::SMRange &sourceRange,
                                       std::vector<PrepareStep> &steps) {
  std::vector<ParameterSpec> parameters = {{kData, true}};
  for (const FieldParameter &parameter : function.parameters)
    parameters.push_back({parameter.name, parameter.required});
  using Mixing = FieldFunction::Mixing;
  if (function.mixing == Mixing::like)
    parameters.push_back({kField, true});
  if (function.isRandom && function.mixing == Mixing::none)
    parameters.push_back({kView});
  std::optional<BoundArguments> arguments =
      bindArguments({function.name, parameters}, call.arguments,
                    call.getRange(), diagnostics);
  if (!arguments ||
      !analyzePreparation(*arguments->get(kData), source, sourceRange, steps))
    return false;
  PrepareStep step{PrepareStep::Kind::call, {}, {}, call.getRange(), {}};
  step.call.function = &function;
  if (!readFieldArguments(*arguments, step.call))
    return false;
  if (function.mixing != Mixing::none &&
      !checkOneMixture(function, call.getRange(), steps))
    return false;
  step.call.number = llvm::count_if(steps, [&](const PrepareStep &other) {
    return other.call.function == &function &&
           other.call.view == step.call.view;
  });
  steps.push_back(std::move(step));
  return true;
}

/// Checks that a field can be mixed, and isn't yet.
bool JobAnalyzer::checkOneMixture(const FieldFunction &function,
                                  llvm::SMRange range,
                                  llvm::ArrayRef<PrepareStep> steps) {
  for (const PrepareStep &step : steps)
    if (step.call.isMixing()) {
      diagnostics.error(range,
                        "a field is mixed by '" + step.call.function->name +
                            "' and by '" + function.name + "'",
                        "leave out one of both");
      return false;
    }
  if (info.job.batch > 1)
    return true;
  diagnostics.error(range,
                    "'" + function.name +
                        "' mixes the samples of a batch, but 'batch' is 1",
                    "take a larger batch");
  return false;
}

/// Returns the call that mixes a field's samples; null if there is none.
const FieldCall *FieldInfo::findMixture() const {
  for (const PrepareStep &step : steps)
    if (step.call.isMixing())
      return &step.call;
  return nullptr;
}

/// Checks that fields that are mixed like others name such others.
void JobAnalyzer::checkMixtures() {
  for (const FieldInfo &field : info.fields) {
    const FieldCall *call = field.findMixture();
    if (!call || call->like.empty())
      continue;
    const FieldCall *found = nullptr;
    for (const FieldInfo &other : info.fields)
      if (other.name == call->like)
        found = other.findMixture();
    if (!found || !found->like.empty())
      diagnostics.error(field.range,
                        "field '" + field.name + "' is mixed like '" +
                            call->like +
                            (found ? "', which is mixed like another one"
                                   : "', which isn't a mixed field"),
                        "name a field with mixup(...) or cutmix(...)");
  }
}

/// Checks that a part other than the training data has no augmentations, which
/// are of training data alone.
bool JobAnalyzer::refuseAugmentations(llvm::StringRef part,
                                      llvm::ArrayRef<PrepareStep> steps) {
  for (const PrepareStep &step : steps)
    if (step.isRandom()) {
      diagnostics.error(step.range,
                        "'" + part + "' has the augmentation '" +
                            step.call.function->name + "'",
                        "only training data are augmented: leave it out here");
      return false;
    }
  return true;
}

/// Returns whether class numbers are still class numbers after a step, which
/// may move them and add whole numbers.
static bool keepsClasses(const PrepareStep &step) {
  if (step.kind == PrepareStep::Kind::call)
    return !step.call.givesFloats();
  return (step.kind == PrepareStep::Kind::add ||
          step.kind == PrepareStep::Kind::subtract) &&
         step.numbers.size() == 1 && step.numbers.front().integer;
}

/// Finds the shape that a field's samples have after its arithmetic.
bool JobAnalyzer::findPreparedShape(FieldInfo &field) {
  field.preparedShape = field.shape;
  bool hasClasses = !field.isFloat();
  for (const PrepareStep &step : field.steps) {
    bool hadClasses =
        std::exchange(hasClasses, hasClasses && keepsClasses(step));
    if (step.kind != PrepareStep::Kind::call)
      continue;
    if (step.call.function->takesClasses && !hadClasses) {
      std::string name = step.call.function->name.str();
      diagnostics.error(
          step.range,
          "'" + name + "' takes class numbers, but '" + field.name + "' " +
              (field.isFloat() ? "holds floats: " + printFieldType(field)
                               : "may hold other numbers before it"),
          field.isFloat() ? "store the numbers as integers, such as i64"
                          : "let '" + name +
                                "' come first; before it, whole numbers may "
                                "be added");
      return false;
    }
    std::vector<int64_t> before = field.preparedShape;
    std::string wrong =
        step.call.function->reshape(step.call, field.preparedShape);
    if (wrong.empty())
      continue;
    diagnostics.error(step.range,
                      "'" + step.call.function->name +
                          "' can't take samples of shape " + printShape(before),
                      wrong);
    return false;
  }
  return true;
}
