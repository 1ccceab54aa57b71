//===- AnalyzeModel.cpp - Names, layers and settings of models ------------===//

#include "Analysis/Builtins.h"
#include "Analysis/JobAnalyzer.h"
#include "Hfta/Language/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// The model clause
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeModel(const Clause &clause) {
  const ast::Expression *value = nullptr;
  std::optional<CallView> call;
  if (clause.arguments.empty() || !(value = getOnlyValue(clause)) ||
      !(call = getCall(*value, "a model such as net(image)", diagnostics)))
    return;
  std::vector<llvm::StringRef> known;
  for (const auto &model : file.models) {
    known.emplace_back(model.declaration.name.name);
    if (known.back() != call->callee.name)
      continue;
    info.model = &model.declaration;
    bool before = model.position < trainPosition;
    modelPosition = before ? 0 : info.train->clauses.size() + 1;
  }
  info.modelRange = call->range;
  if (!info.model) {
    diagnostics.error(call->callee.range,
                      "no model '" + call->callee.name + "'",
                      suggest(call->callee.name, known, "models are"));
    return;
  }
  if (call->hasParentheses)
    info.boundFields.emplace();
  for (const ast::Argument &argument : call->arguments) {
    if (argument.name) {
      info.modelSettings.push_back(&argument);
      continue;
    }
    auto *name = llvm::dyn_cast<ast::NameExpression>(argument.value.get());
    if (name)
      info.boundFields->push_back({name->name, argument.getRange()});
    else
      diagnostics.error(argument.getRange(),
                        "a model's inputs are fields of the data block",
                        "for example net(image)");
  }
}

/// Reads the arguments of `onnx`: a file for each positional argument, or a
/// single list of files.
void JobAnalyzer::analyzeFiles(const ast::ModelDeclaration &model) {
  const ast::CallExpression &onnx = *model.onnx;
  std::vector<const ast::Expression *> files;
  const ast::ListExpression *list = nullptr;
  for (const ast::Argument &argument : onnx.arguments) {
    if (argument.name) {
      diagnostics.error(argument.name.range, "'onnx' takes only files",
                        "options follow it: init fresh, freeze \"...\", "
                        "trainable \"...\", evaluation_mode \"...\", "
                        "training_mode \"...\", dim name = size");
      continue;
    }
    list = llvm::dyn_cast<ast::ListExpression>(argument.value.get());
    if (!list) {
      files.push_back(argument.value.get());
    } else if (onnx.arguments.size() > 1) {
      diagnostics.error(list->getRange(),
                        "a list of files must be the only argument of 'onnx'");
      return;
    }
  }
  if (list)
    for (const ast::ExpressionPtr &element : list->elements)
      files.push_back(element.get());
  if (files.empty())
    diagnostics.error(onnx.getRange(), "'onnx' names no file",
                      "for example onnx(\"net.onnx\")");
  std::vector<Number> indices;
  for (const ast::Expression *expression : files) {
    std::optional<std::string> path = constants.readString(*expression, "file");
    if (!path)
      continue;
    indices.push_back(Number::of(static_cast<int64_t>(info.files.size())));
    info.files.push_back(
        {getPathFrom(file.directory, *path), expression->getRange()});
  }
  if (list && !indices.empty())
    info.sweep.addList("model", std::move(indices), list->getRange(),
                       {modelPosition, list->getRange().Start.getPointer()});
}

void JobAnalyzer::analyzeModelOptions(const ast::ModelDeclaration &model) {
  if (model.onnx)
    analyzeFiles(model);
  for (const Clause &option : model.options) {
    clausePosition = modelPosition;
    if (!option.arguments.empty())
      analyzeClause(option);
  }
  analyzeHyperParameters(model);
}

//===----------------------------------------------------------------------===//
// Hyper-parameters of models
//===----------------------------------------------------------------------===//

/// Returns the expressions of a model's body in the order of the text.
static std::vector<const ast::Expression *>
getExpressions(const ast::ModelDeclaration &model) {
  std::vector<const ast::Expression *> result;
  for (const ast::Statement &statement : model.statements)
    if (statement.value)
      result.push_back(statement.value.get());
  for (const ast::Argument &output : model.results)
    result.push_back(output.value.get());
  return result;
}

std::string language::getOutputName(const ast::Argument &output) {
  if (output.name)
    return output.name.name;
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(output.value.get()))
    return name->name;
  return "output";
}

/// Returns the rate of a dropout call; null if it has none.
static const ast::Expression *getRate(const ast::CallExpression &call) {
  unsigned positional = 0;
  for (const ast::Argument &argument : call.arguments) {
    if (argument.name ? argument.name.name == "rate" : positional == 1)
      return argument.value.get();
    positional += !argument.name;
  }
  return nullptr;
}

namespace {
struct Dropout {
  const ast::CallExpression *call;
  const ast::Expression *rate; ///< null if the default rate is meant
};
} // namespace

static std::vector<Dropout> getDropouts(const ast::ModelDeclaration &model) {
  std::vector<Dropout> dropouts;
  for (const ast::Expression *expression : getExpressions(model)) {
    std::vector<const ast::CallExpression *> calls;
    collectCalls(*expression, calls);
    for (const ast::CallExpression *call : calls)
      if (call->callee.name == "dropout")
        dropouts.push_back({call, getRate(*call)});
  }
  return dropouts;
}

unsigned JobAnalyzer::getModelClausePosition() const {
  return 1 + (info.train->find("model") - info.train->clauses.data());
}

void JobAnalyzer::addModelSetting(llvm::StringRef name,
                                  const ast::Expression &defaultValue,
                                  bool isRate) {
  const ast::Expression *value = &defaultValue;
  unsigned position = modelPosition;
  for (const ast::Argument *argument : info.modelSettings) {
    if (argument->name.name != name)
      continue;
    value = argument->value.get();
    position = getModelClausePosition();
  }
  clausePosition = position;
  NumberRange range = isRate ? NumberRange::belowOne() : NumberRange::any();
  addNumbers(name, *value, range);
  info.modelHyperParameters.push_back(name.str());
  info.modelNumbers[name] = range;
}

void JobAnalyzer::analyzeHyperParameters(const ast::ModelDeclaration &model) {
  std::vector<Dropout> dropouts = getDropouts(model);
  auto isRate = [&](llvm::StringRef name) {
    return llvm::any_of(dropouts, [&](const Dropout &dropout) {
      auto *rate = llvm::dyn_cast_if_present<ast::NameExpression>(dropout.rate);
      return rate && rate->name == name;
    });
  };
  for (const ast::Binding &input : model.inputs) {
    if (!input.value)
      continue;
    if (isTaken(input.name.name) ||
        llvm::is_contained(info.modelHyperParameters, input.name.name))
      diagnostics.error(input.name.range,
                        "a model's hyper-parameter can't be "
                        "called '" +
                            input.name.name + "'",
                        "the job has a setting of this name");
    else
      addModelSetting(input.name.name, *input.value, isRate(input.name.name));
  }
  addDropoutRates(model);
  std::vector<llvm::StringRef> known(info.modelHyperParameters.begin(),
                                     info.modelHyperParameters.end());
  if (model.onnx)
    known.emplace_back("dropout_rate");
  for (const ast::Argument *argument : info.modelSettings) {
    const ast::Identifier &name = argument->name;
    if (model.onnx && name.name == "dropout_rate") {
      clausePosition = getModelClausePosition();
      addNumbers(name.name, *argument->value, NumberRange::belowOne());
      info.modelHyperParameters.push_back(name.name);
      info.modelNumbers[name.name] = NumberRange::belowOne();
    }
    if (!llvm::is_contained(known, name.name))
      diagnostics.error(
          name.range,
          "model '" + model.name.name + "' has no hyper-parameter '" +
              name.name + "'",
          known.empty() ? "declare it: model " + model.name.name + "(..., " +
                              name.name + " = 0.5)"
                        : suggest(name.name, known, "hyper-parameters are"));
  }
}

void JobAnalyzer::addDropoutRates(const ast::ModelDeclaration &model) {
  std::vector<Dropout> dropouts = getDropouts(model);
  llvm::erase_if(dropouts, [](const Dropout &dropout) {
    return llvm::isa_and_present<ast::NameExpression>(dropout.rate);
  });
  static const std::unique_ptr<ast::NumberExpression> half = [] {
    auto number = std::make_unique<ast::NumberExpression>(llvm::SMRange());
    number->value = 0.5;
    return number;
  }();
  for (const Dropout &dropout : dropouts) {
    std::string name = "dropout_rate";
    if (dropouts.size() > 1)
      name = info.layerNames[dropout.call] + ".rate";
    if (hasTurns())
      name = model.name.name + "." + name;
    for (const ast::Binding &input : model.inputs)
      if (input.value && input.name.name == name)
        return diagnostics.error(
            input.name.range,
            "a hyper-parameter can't be called '" + name +
                "' where the model has a dropout with a rate of its own",
            "give it another name, as that rate has this one; or write "
            "dropout(x, " +
                name + ")");
    info.dropoutRates[dropout.call] = name;
    addModelSetting(name, dropout.rate ? *dropout.rate : *half,
                    /*isRate=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Names in a model's body
//===----------------------------------------------------------------------===//

void language::collectCalls(const ast::Expression &expression,
                            std::vector<const ast::CallExpression *> &calls) {
  if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression)) {
    for (const ast::Argument &argument : call->arguments)
      collectCalls(*argument.value, calls);
    calls.push_back(call);
  } else if (auto *member =
                 llvm::dyn_cast<ast::MemberExpression>(&expression)) {
    if (member->call)
      collectCalls(*member->call, calls);
  } else if (auto *binary =
                 llvm::dyn_cast<ast::BinaryExpression>(&expression)) {
    collectCalls(*binary->lhs, calls);
    collectCalls(*binary->rhs, calls);
  } else if (auto *negation =
                 llvm::dyn_cast<ast::NegationExpression>(&expression)) {
    collectCalls(*negation->operand, calls);
  } else if (auto *list = llvm::dyn_cast<ast::ListExpression>(&expression)) {
    for (const ast::ExpressionPtr &element : list->elements)
      collectCalls(*element, calls);
  }
}

namespace {
/// Checks the names in a model's body, and names its layers.
class NameChecker {
public:
  NameChecker(const ast::ModelDeclaration &model, JobInfo *info,
              JobDiagnostics &diagnostics)
      : model(model), info(info), diagnostics(diagnostics) {}

  void check() {
    unsigned errors = diagnostics.getErrorCount();
    for (const ast::Binding &input : model.inputs)
      if (input.type)
        for (const ast::Dimension &dimension : input.type->dimensions)
          if (dimension.name)
            sizes.insert(dimension.name.name);
    for (const ast::Binding &input : model.inputs)
      define(input.name);
    for (const ast::Statement &statement : model.statements) {
      if (statement.value)
        checkExpression(*statement.value);
      define(statement.target);
      if (statement.value)
        unused.insert(statement.target.name);
      if (statement.value &&
          nameLayers(statement.target.name, *statement.value))
        withLayers[statement.target.name] = statement.target.range;
    }
    llvm::StringMap<llvm::SMRange> outputs;
    for (const ast::Argument &output : model.results) {
      checkExpression(*output.value);
      checkOutput(output, outputs);
    }
    // Report unused names only if there are no other errors: one of them may be
    // the name that a misspelt name should have been.
    if (diagnostics.getErrorCount() != errors)
      return;
    for (const ast::Statement &statement : model.statements)
      if (unused.contains(statement.target.name) && !model.results.empty())
        diagnostics.error(statement.target.range,
                          "'" + statement.target.name + "' is never used",
                          "remove it, or return it as an output");
  }

private:
  void define(const ast::Identifier &name) {
    if (sizes.contains(name.name))
      diagnostics.error(name.range,
                        "'" + name.name + "' is the name of an axis",
                        "give axes and values different names");
    auto [first, inserted] = defined.try_emplace(name.name, name.range);
    if (inserted)
      return;
    diagnostics.error(name.range, "'" + name.name + "' is defined twice",
                      "a layer has the name that it is assigned to: give each "
                      "layer its own name");
    diagnostics.note(first->second, "the first one is here");
  }

  void checkOutput(const ast::Argument &output,
                   llvm::StringMap<llvm::SMRange> &outputs) {
    std::string name = getOutputName(output);
    auto [first, inserted] = outputs.try_emplace(name, output.getRange());
    if (!inserted) {
      diagnostics.error(output.getRange(),
                        "second output called '" + name + "'",
                        "name outputs: return a = ..., b = ...");
      diagnostics.note(first->second, "the first one is here");
    }
    // The layers of a variable with the same name may have the same names.
    auto other = withLayers.find(name);
    bool taken = other != withLayers.end();
    if (!nameLayers(name, *output.value) || !taken)
      return;
    diagnostics.error(output.getRange(),
                      "layers of output '" + name + "' and of variable '" +
                          name + "' would have the same names",
                      "name the output: return result = ...");
    diagnostics.note(other->second, "the variable is here");
  }

  void checkExpression(const ast::Expression &expression) {
    if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression))
      return checkName(*name);
    if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression)) {
      checkCallee(*call);
      // The rate of a dropout may be a distribution.
      const ast::Expression *rate =
          call->callee.name == "dropout" ? getRate(*call) : nullptr;
      for (const ast::Argument &argument : call->arguments)
        if (argument.value.get() != rate || !isDistribution(*rate))
          checkExpression(*argument.value);
    } else if (auto *binary =
                   llvm::dyn_cast<ast::BinaryExpression>(&expression)) {
      checkExpression(*binary->lhs);
      checkExpression(*binary->rhs);
    } else if (auto *negation =
                   llvm::dyn_cast<ast::NegationExpression>(&expression)) {
      checkExpression(*negation->operand);
    } else if (auto *list = llvm::dyn_cast<ast::ListExpression>(&expression)) {
      for (const ast::ExpressionPtr &element : list->elements)
        checkExpression(*element);
    }
  }

  void checkName(const ast::NameExpression &name) {
    unused.erase(name.name);
    if (defined.count(name.name) || sizes.contains(name.name) ||
        name.name == "true" || name.name == "false")
      return;
    std::vector<llvm::StringRef> known;
    for (const auto &entry : defined)
      known.push_back(entry.getKey());
    llvm::sort(known);
    diagnostics.error(name.getRange(), "unknown name '" + name.name + "'",
                      suggest(name.name, known, "names are"));
  }

  void checkCallee(const ast::CallExpression &call) {
    const Builtin *builtin = findBuiltin(call.callee.name);
    if (builtin) {
      bindArguments({builtin->name, builtin->parameters, builtin->variadic},
                    call.arguments, call.getRange(), diagnostics);
      return;
    }
    if (call.callee.name == kChoice) {
      // Choices of a model that the job trains have been replaced (Packing.h).
      if (info)
        diagnostics.error(call.getRange(),
                          "a model with choices can't be one of several models "
                          "to choose from",
                          "choose there among models without choices");
      return;
    }
    if (isDistribution(call)) {
      diagnostics.error(call.getRange(),
                        "only a dropout's rate and hyper-parameters of the "
                        "model can be drawn from a range",
                        "choice(...) may choose among a few values of anything "
                        "else");
      return;
    }
    std::vector<llvm::StringRef> known = getBuiltinNames();
    llvm::StringRef nearest = findNearest(call.callee.name, known);
    diagnostics.error(
        call.callee.range, "unknown function '" + call.callee.name + "'",
        nearest.empty() ? llvm::Twine("docs/language.md lists all")
                        : "did you mean '" + nearest + "'?");
  }

  /// Names the layers of an expression. A single layer is called `scope`, so
  /// that its parameter is `scope.weight`; several are called `scope.0`,
  /// `scope.1`, … in the order of evaluation. Returns false if there are none.
  bool nameLayers(llvm::StringRef scope, const ast::Expression &expression) {
    std::vector<const ast::CallExpression *> calls;
    collectCalls(expression, calls);
    bool any = false;
    for (bool random : {false, true}) {
      std::vector<const ast::CallExpression *> layers;
      for (const ast::CallExpression *call : calls) {
        const Builtin *builtin = findBuiltin(call->callee.name);
        if (builtin && (random ? builtin->isRandom : builtin->isLayer))
          layers.push_back(call);
      }
      any |= !layers.empty();
      for (const auto &[index, call] : llvm::enumerate(layers)) {
        std::string name = scope.str();
        if (random)
          name += ".dropout";
        if (layers.size() > 1)
          name += (random ? "" : ".") + std::to_string(index);
        if (info)
          info->layerNames[call] = name;
      }
    }
    return any;
  }

  const ast::ModelDeclaration &model;
  JobInfo *info;
  JobDiagnostics &diagnostics;
  llvm::StringMap<llvm::SMRange> defined;
  llvm::StringSet<> sizes;
  llvm::StringSet<> unused;
  llvm::StringMap<llvm::SMRange> withLayers;
};
} // namespace

void language::checkModelNames(const ast::ModelDeclaration &model,
                               JobInfo *info, JobDiagnostics &diagnostics) {
  NameChecker(model, info, diagnostics).check();
}
