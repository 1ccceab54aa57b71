//===- Packing.cpp - Searches over what programs hold constant ------------===//

#include "Analysis/Packing.h"
#include "Analysis/Builtins.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "hfta/search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// The choices of a train block
//===----------------------------------------------------------------------===//

namespace {
/// A choice in a syntax tree, and the name of what it chooses.
struct Place {
  ast::ExpressionPtr *value;
  std::string name;
  unsigned clause; ///< as SweepPosition::clause

  SweepPosition getPosition() const {
    return {clause, (*value)->getRange().Start.getPointer()};
  }
};

/// Finds the choices among values of which each needs an array of its own. All
/// others are numbers of copies.
class ChoiceFinder {
public:
  ChoiceFinder(ast::JobFile &file, llvm::StringRef train) : file(file) {
    for (auto &positioned : file.trains)
      if (positioned.declaration.name.name == train)
        visitTrain(positioned);
  }

  /// Returns the choices in the order of what a search varies.
  std::vector<Place> takePlaces() {
    llvm::stable_sort(places, [](const Place &a, const Place &b) {
      return a.getPosition() < b.getPosition();
    });
    return std::move(places);
  }

private:
  using IsNumber = llvm::function_ref<bool(llvm::StringRef)>;

  static ast::CallExpression *getCall(ast::ExpressionPtr &value) {
    return llvm::dyn_cast<ast::CallExpression>(value.get());
  }
  static bool isChoice(ast::ExpressionPtr &value) {
    ast::CallExpression *call = getCall(value);
    return call && call->callee.name == kChoice;
  }

  void add(ast::ExpressionPtr &value, const std::string &name) {
    std::string unique = name;
    for (unsigned i = 2; !names.insert(unique).second; ++i)
      unique = name + "." + std::to_string(i);
    places.push_back({&value, unique, clause});
  }

  void visitTrain(ast::Positioned<ast::TrainDeclaration> &train) {
    std::vector<ast::Clause> &clauses = train.declaration.clauses;
    // A planner chooses the number of micro-batches with the stages.
    isPlanned = train.declaration.find("pipeline") != nullptr;
    for (auto [index, one] : llvm::enumerate(clauses)) {
      clause = 1 + index;
      visitClause(one);
    }
    if (auto *model = findModel(train.declaration)) {
      clause = model->position < train.position ? 0 : clauses.size() + 1;
      visitModel(model->declaration);
    }
  }

  void visitClause(ast::Clause &one) {
    llvm::StringRef keyword = one.keyword.name;
    if (keyword == "model" || keyword == "schedule")
      visitValue(one, [&](ast::CallExpression &call) {
        if (keyword == "schedule")
          visitSchedule(call, "");
      });
    else if (keyword == "schedule_of")
      for (ast::Argument &argument : one.arguments)
        if (isChoice(argument.value))
          add(argument.value, "schedule_of_" + argument.name.name);
        else if (ast::CallExpression *call = getCall(argument.value))
          visitSchedule(*call, argument.name.name + "_");
        else
          continue;
    else if (keyword == "optimizer")
      visitCall(one, [&](ast::CallExpression &call) {
        const OptimizerInfo *optimizer = findOptimizer(call.callee.name);
        visitArguments(call, getOptimizers(), "", [&](llvm::StringRef name) {
          const ParameterInfo *parameter =
              optimizer ? findByName(optimizer->parameters, name) : nullptr;
          return !parameter || parameter->kind != ParameterInfo::Kind::flag;
        });
      });
    else if (keyword == "loss")
      visitCall(one, [&](ast::CallExpression &call) {
        const LossInfo *loss = findLoss(call.callee.name);
        visitNamed(call.arguments, "", [&](llvm::StringRef name) {
          const ObjectiveParameter *parameter =
              loss ? findByName(loss->parameters, name) : nullptr;
          return !parameter ||
                 parameter->kind == ObjectiveParameter::Kind::number;
        });
      });
    else if (keyword == "precondition")
      visitCall(one, [&](ast::CallExpression &call) { visitKfac(call); });
    else if (keyword == "data")
      visitNamed(one.arguments, "", [](llvm::StringRef) { return false; });
    else if (keyword == "micro_batches"
                 ? !isPlanned
                 : llvm::is_contained({"precision", "clip_norm", "loss_scale",
                                       "growth_interval"},
                                      keyword))
      visitSettings(one);
  }

  /// Visits a clause with one value, which may itself be a choice.
  void visitValue(ast::Clause &one,
                  llvm::function_ref<void(ast::CallExpression &)> visit) {
    if (one.arguments.size() != 1)
      return;
    ast::ExpressionPtr &value = one.arguments.front().value;
    bool isModel = llvm::any_of(file.models, [](const auto &model) {
      return model.declaration.name.name == kChoice;
    });
    if (isChoice(value) && !(isModel && one.keyword.name == "model"))
      add(value, one.keyword.name);
    else if (ast::CallExpression *call = getCall(value))
      visit(*call);
  }

  /// Visits a clause whose value is a call, but no choice of calls.
  void visitCall(ast::Clause &one,
                 llvm::function_ref<void(ast::CallExpression &)> visit) {
    if (one.arguments.size() == 1)
      if (ast::CallExpression *call = getCall(one.arguments.front().value))
        visit(*call);
  }

  /// Visits the arguments `name = choice(...)` but those that are numbers of
  /// copies.
  void visitNamed(std::vector<ast::Argument> &arguments, llvm::StringRef prefix,
                  IsNumber isNumber) {
    for (ast::Argument &argument : arguments)
      if (argument.name && isChoice(argument.value) &&
          !isNumber(argument.name.name))
        add(argument.value, (prefix + argument.name.name).str());
  }

  /// Visits all arguments of a call of one of `table`'s kinds.
  template <typename Table>
  void visitArguments(ast::CallExpression &call, const Table &table,
                      llvm::StringRef prefix, IsNumber isNumber) {
    auto *kind = findByName(table, call.callee.name);
    size_t position = 0;
    for (ast::Argument &argument : call.arguments) {
      llvm::StringRef name = argument.name.name;
      if (!argument.name && kind && position < kind->parameters.size())
        name = kind->parameters[position++].name;
      if (!name.empty() && isChoice(argument.value) && !isNumber(name))
        add(argument.value, (prefix + name).str());
    }
  }

  void visitKfac(ast::CallExpression &call) {
    visitNamed(call.arguments, "", [](llvm::StringRef name) {
      return findByName(getKfacParameters(), name) != nullptr;
    });
    for (ast::Argument &argument : call.arguments)
      if (argument.name.name == "damping_schedule" && !isChoice(argument.value))
        if (ast::CallExpression *schedule = getCall(argument.value))
          visitSchedule(*schedule, "damping_");
  }

  /// Visits a schedule, and its parts.
  void visitSchedule(ast::CallExpression &call, llvm::StringRef prefix) {
    visitArguments(call, getSchedules(), prefix,
                   [](llvm::StringRef) { return false; });
    for (ast::Argument &argument : call.arguments)
      if (auto *list =
              llvm::dyn_cast<ast::ListExpression>(argument.value.get()))
        for (auto [index, part] : llvm::enumerate(list->elements)) {
          std::string name = getPartPrefix(prefix, index);
          if (isChoice(part))
            add(part, llvm::StringRef(name).drop_back().str());
          else if (ast::CallExpression *schedule = getCall(part))
            visitSchedule(*schedule, name);
        }
  }

  /// Visits a clause whose arguments are settings: the first one has its name.
  void visitSettings(ast::Clause &one) {
    for (ast::Argument &argument : one.arguments)
      if (isChoice(argument.value))
        add(argument.value, argument.name && one.keyword.name == "precision"
                                ? "precision_" + argument.name.name
                            : argument.name ? argument.name.name
                                            : one.keyword.name);
  }

  /// Returns the model that a train block trains; null if that is a choice
  /// itself, or is unknown.
  ast::Positioned<ast::ModelDeclaration> *
  findModel(ast::TrainDeclaration &train) {
    const ast::Clause *one = train.find("model");
    if (!one || one->arguments.size() != 1)
      return nullptr;
    const ast::Expression *value = one->arguments.front().value.get();
    std::string name;
    if (auto *call = llvm::dyn_cast<ast::CallExpression>(value))
      name = call->callee.name;
    else if (auto *word = llvm::dyn_cast<ast::NameExpression>(value))
      name = word->name;
    for (auto &model : file.models)
      if (model.declaration.name.name == name)
        return &model;
    return nullptr;
  }

  void visitModel(ast::ModelDeclaration &model) {
    if (model.onnx)
      for (ast::Argument &argument : model.onnx->arguments)
        if (isChoice(argument.value))
          add(argument.value, "model");
    for (ast::Statement &statement : model.statements)
      if (statement.value)
        visitBody(statement.value, statement.target.name);
    for (ast::Argument &output : model.results)
      visitBody(output.value, getOutputName(output));
  }

  /// Visits an expression of a model's body. `name`: of what it computes.
  void visitBody(ast::ExpressionPtr &value, const std::string &name) {
    // With a dot, it is no name of a setting or hyper-parameter.
    if (isChoice(value))
      return add(value, name + ".value");
    if (ast::CallExpression *call = getCall(value)) {
      const Builtin *builtin = findBuiltin(call->callee.name);
      size_t position = 0;
      for (ast::Argument &argument : call->arguments) {
        llvm::StringRef parameter = argument.name.name;
        if (!argument.name && builtin && !builtin->variadic &&
            position < builtin->parameters.size())
          parameter = builtin->parameters[position++].name;
        bool isRate = call->callee.name == "dropout" && parameter == "rate";
        if (isChoice(argument.value) && !isRate && !parameter.empty())
          add(argument.value, (name + "." + parameter).str());
        else if (!isChoice(argument.value) || parameter.empty())
          visitBody(argument.value, name);
      }
    } else if (auto *binary =
                   llvm::dyn_cast<ast::BinaryExpression>(value.get())) {
      visitBody(binary->lhs, name);
      visitBody(binary->rhs, name);
    } else if (auto *negation =
                   llvm::dyn_cast<ast::NegationExpression>(value.get())) {
      visitBody(negation->operand, name);
    } else if (auto *list = llvm::dyn_cast<ast::ListExpression>(value.get())) {
      for (ast::ExpressionPtr &element : list->elements)
        visitBody(element, name);
    }
  }

  ast::JobFile &file;
  unsigned clause = 0;
  bool isPlanned = false;
  std::vector<Place> places;
  llvm::StringSet<> names;
};
} // namespace

//===----------------------------------------------------------------------===//
// The values of a choice
//===----------------------------------------------------------------------===//

/// Returns the number that an expression is; nothing if it is anything else.
static std::optional<double> getNumber(const ast::Expression &expression) {
  if (auto *number = llvm::dyn_cast<ast::NumberExpression>(&expression))
    return number->value;
  auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression);
  std::optional<double> operand =
      negation ? getNumber(*negation->operand) : std::nullopt;
  return operand ? std::optional(-*operand) : std::nullopt;
}

/// Returns the text by which users know a value. `byCallee`: what is called
/// tells it from the other values.
static std::string getLabel(const ast::Expression &expression, bool byCallee) {
  if (auto *string = llvm::dyn_cast<ast::StringExpression>(&expression))
    return string->value;
  if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression);
      call && byCallee)
    return call->callee.name;
  const char *begin = expression.getRange().Start.getPointer();
  return std::string(begin, expression.getRange().End.getPointer());
}

/// Returns whether all values are calls or words, of different names.
static bool haveOwnCallees(const ast::CallExpression &choice) {
  llvm::StringSet<> names;
  return llvm::all_of(choice.arguments, [&](const ast::Argument &argument) {
    if (auto *call = llvm::dyn_cast<ast::CallExpression>(argument.value.get()))
      return names.insert(call->callee.name).second;
    auto *word = llvm::dyn_cast<ast::NameExpression>(argument.value.get());
    return word && names.insert(word->name).second;
  });
}

/// Describes a choice as a setting of the search.
static SearchSetting describe(const std::string &name,
                              const ast::CallExpression &choice) {
  SearchSetting setting;
  setting.name = name;
  setting.distribution = HFTA_CHOICE;
  setting.isPacked = true;
  bool areNumbers =
      llvm::all_of(choice.arguments, [](const ast::Argument &argument) {
        return getNumber(*argument.value).has_value();
      });
  bool byCallee = haveOwnCallees(choice);
  for (auto [index, argument] : llvm::enumerate(choice.arguments)) {
    setting.choices.push_back(areNumbers ? *getNumber(*argument.value)
                                         : static_cast<double>(index));
    if (!areNumbers)
      setting.labels.push_back(getLabel(*argument.value, byCallee));
  }
  return setting;
}

/// Reports a value that a choice has twice.
static void checkDistinct(const SearchSetting &setting,
                          const ast::CallExpression &choice,
                          JobDiagnostics &diagnostics) {
  for (size_t i = 1; i < choice.arguments.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      bool isSame = setting.labels.empty()
                        ? setting.choices[i] == setting.choices[j]
                        : setting.labels[i] == setting.labels[j];
      if (isSame)
        return diagnostics.error(choice.arguments[i].getRange(),
                                 "'" + setting.name + "' has this choice twice",
                                 "each choice gets an array of its own: leave "
                                 "one out");
    }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Packing::Packing(const ast::JobFile &file,
                 const ast::Positioned<ast::TrainDeclaration> &train,
                 JobDiagnostics &diagnostics)
    : file(file), train(train.declaration.name.name) {
  // Nothing is changed before an array is taken.
  auto &tree = const_cast<ast::JobFile &>(file);
  int64_t arrays = 1;
  for (const Place &place : ChoiceFinder(tree, this->train).takePlaces()) {
    const auto &call = *llvm::cast<ast::CallExpression>(place.value->get());
    if (!train.declaration.find("search")) {
      diagnostics.error(call.getRange(),
                        "the distribution of '" + place.name +
                            "' needs a clause 'search'",
                        "for example: search random(trials = 32)");
      continue;
    }
    if (!checkChoices(call, place.name + " = ...", diagnostics))
      continue;
    SearchSetting setting = describe(place.name, call);
    checkDistinct(setting, call, diagnostics);
    arrays *= static_cast<int64_t>(setting.choices.size());
    if (arrays > HFTA_MOST_ARRAYS) {
      diagnostics.error(call.getRange(),
                        "the choices up to this one make " +
                            llvm::Twine(arrays) + " arrays, more than " +
                            llvm::Twine(static_cast<int64_t>(HFTA_MOST_ARRAYS)),
                        "each combination of values that a program holds as "
                        "constants is compiled as an array of its own");
      arrays = 1;
    }
    choices.push_back(
        {std::move(setting), call.getRange(), place.getPosition()});
  }
}

int64_t Packing::getArrayCount() const {
  int64_t count = 1;
  for (const SearchedRange &choice : choices)
    count *= static_cast<int64_t>(choice.setting.choices.size());
  return count;
}

/// Replaces a choice by one of its values.
static void choose(const Place &place, int64_t index) {
  auto *call = llvm::cast<ast::CallExpression>(place.value->get());
  ast::ExpressionPtr value = std::move(call->arguments[index].value);
  *place.value = std::move(value);
}

ast::JobFile Packing::takeFirst() const {
  ast::JobFile result = ast::clone(file);
  for (const Place &place : ChoiceFinder(result, train).takePlaces())
    if (!llvm::cast<ast::CallExpression>(place.value->get())->arguments.empty())
      choose(place, 0);
  return result;
}

ast::JobFile Packing::takeArray(int64_t array, JobInfo &info) const {
  ast::JobFile result = ast::clone(file);
  std::vector<Place> places = ChoiceFinder(result, train).takePlaces();
  info.job.search.arrays = getArrayCount();
  info.job.search.array = array;
  info.searchedRanges = choices;
  for (auto [place, choice] :
       llvm::reverse(llvm::zip_equal(places, info.searchedRanges))) {
    auto count = static_cast<int64_t>(choice.setting.choices.size());
    int64_t index = array % count;
    array /= count;
    choice.setting.own = choice.setting.choices[index];
    choose(place, index);
  }
  return result;
}

std::string language::getTitle(const Job &job) {
  std::string choices;
  for (const SearchSetting &setting : job.search.settings)
    if (setting.isPacked)
      choices += (choices.empty() ? "" : ", ") + setting.name + " = " +
                 setting.getOwnText();
  return choices.empty() ? job.name : job.name + " (" + choices + ")";
}

/// Returns whether two arrays vary a setting alike.
static bool areAlike(const SearchSetting &a, const SearchSetting &b) {
  return a.name == b.name && a.distribution == b.distribution &&
         a.low == b.low && a.high == b.high && a.step == b.step &&
         a.choices == b.choices && a.labels == b.labels && a.zip == b.zip;
}

void language::checkSameSearch(const JobInfo &first, const JobInfo &other,
                               JobDiagnostics &diagnostics) {
  const std::vector<SearchSetting> &one = first.job.search.settings;
  const std::vector<SearchSetting> &two = other.job.search.settings;
  if (one.size() == two.size() &&
      llvm::all_of(llvm::zip_equal(one, two), [](const auto &pair) {
        return areAlike(std::get<0>(pair), std::get<1>(pair));
      }))
    return;
  diagnostics.error(first.train->find("search")->range,
                    "the numbers that the search varies depend on its choices",
                    "all choices must vary the same numbers");
}
