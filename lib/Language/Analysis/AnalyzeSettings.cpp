//===- AnalyzeSettings.cpp - Reads settings, by their records -------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Clauses that are settings, and settings that are arguments
//===----------------------------------------------------------------------===//

/// Returns the name of the first argument of a clause that has several, such as
/// `micro_batches 4, all_forwards_first = true`.
static llvm::StringRef getFirstArgument(const SettingInfo &setting) {
  return setting.type == SettingType::Word ? "value" : "count";
}

void JobAnalyzer::analyzeSetting(const Clause &clause,
                                 const SettingInfo &setting) {
  if (getSettingsOf(setting.name).size() > 1)
    readSettings(clause, {});
  else if (const ast::Expression *value = getOnlyValue(clause))
    readSetting(setting, *value);
}

/// Reads all settings of a clause. `before` are other parameters, which precede
/// the settings. Returns nothing if the arguments don't match the parameters.
std::optional<BoundArguments>
JobAnalyzer::readSettings(const Clause &clause,
                          llvm::ArrayRef<ParameterSpec> before) {
  return readSettings(clause.keyword.name,
                      {clause.keyword, clause.arguments, clause.range}, before);
}

/// Reads all settings of a clause whose arguments are in parentheses.
std::optional<BoundArguments>
JobAnalyzer::readSettings(llvm::StringRef keyword, const CallView &call,
                          llvm::ArrayRef<ParameterSpec> before) {
  llvm::SmallVector<const SettingInfo *> settings = getSettingsOf(keyword);
  llvm::SmallVector<ParameterSpec> signature(before);
  for (const SettingInfo *setting : settings)
    signature.push_back(
        {setting->isClause() ? getFirstArgument(*setting)
                             : setting->getArgument(),
         setting->isClause() ||
             (setting->traits & setting_traits::Required) != 0});
  std::optional<BoundArguments> arguments = bindArguments(
      {call.callee.name, signature}, call.arguments, call.range, diagnostics);
  if (!arguments)
    return std::nullopt;
  for (auto [setting, spec] :
       llvm::zip_equal(settings, llvm::drop_begin(signature, before.size())))
    if (const ast::Expression *value = arguments->get(spec.name))
      readSetting(*setting, *value);
  return arguments;
}

/// Converts the bound of a range to a whole number, which is clamped to
/// int64_t.
static int64_t clampToInteger(double bound) {
  if (bound <= static_cast<double>(INT64_MIN))
    return INT64_MIN;
  return bound >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(bound);
}

/// Returns whether the value says that the setting is determined by others.
static bool isAuto(const SettingInfo &setting, const ast::Expression &value) {
  auto *word = llvm::dyn_cast<ast::NameExpression>(&value);
  return word && (word->name == "auto" || word->name == setting.byDefault) &&
         (setting.traits & setting_traits::Auto) != 0;
}

/// Reads a list of whole numbers, which is the same for all copies.
void JobAnalyzer::readCounts(const SettingInfo &setting,
                             const ast::Expression &value) {
  if (isAuto(setting, value))
    return;
  auto *list = llvm::dyn_cast<ast::ListExpression>(&value);
  if (list && list->elements.empty()) {
    diagnostics.error(list->getRange(),
                      "the list of '" + setting.getArgument() + "' is empty",
                      "lists look like [1, 2]");
    return;
  }
  std::optional<std::vector<int64_t>> counts = constants.readIntegers(
      value, setting.getArgument(), clampToInteger(setting.range.least),
      clampToInteger(setting.range.most));
  if (counts)
    *std::get<std::vector<int64_t> *>(setting.get(info.job)) = *counts;
}

/// Reads a name, or a list of names.
void JobAnalyzer::readNames(const SettingInfo &setting,
                            const ast::Expression &value) {
  auto &names = *std::get<std::vector<std::string> *>(setting.get(info.job));
  for (const ast::Expression *name : getElements(value))
    names.push_back(constants.readString(*name, setting.getArgument())
                        .value_or(std::string()));
}

/// Reads a list whose elements are names or lists of names.
void JobAnalyzer::readNameLists(const SettingInfo &setting,
                                const ast::Expression &value) {
  auto &lists =
      *std::get<std::vector<std::vector<std::string>> *>(setting.get(info.job));
  for (const ast::Expression *element : getElements(value)) {
    std::vector<std::string> &names = lists.emplace_back();
    for (const ast::Expression *name : getElements(*element))
      names.push_back(constants.readString(*name, setting.getArgument())
                          .value_or(std::string()));
    if (names.empty())
      diagnostics.error(element->getRange(),
                        "a list of '" + setting.getArgument() + "' is empty",
                        "lists look like [\"a\", [\"b\", \"c\"]]");
  }
}

/// Reads a number that is the same for all copies.
void JobAnalyzer::readReal(const SettingInfo &setting,
                           const ast::Expression &value, double &place) {
  std::optional<Number> number =
      constants.readNumber(value, setting.getArgument());
  if (!number)
    return;
  if (setting.range.contains(number->value, number->integer.has_value())) {
    place = number->value;
    return;
  }
  diagnostics.error(value.getRange(),
                    "'" + setting.getArgument() + "' is out of range, got " +
                        printNumber(number->value),
                    "it is " + setting.range.describe());
}

/// Reads the name in `callee("NAME")`. It is the name of a file or folder, as
/// `what` says in messages. Returns an empty string after an error.
std::string JobAnalyzer::readFileName(const ast::CallExpression &call,
                                      llvm::StringRef what) {
  const ParameterSpec kName[] = {{what, true}};
  std::optional<BoundArguments> arguments = bindArguments(
      {call.callee.name, kName}, call.arguments, call.getRange(), diagnostics);
  if (!arguments)
    return "";
  const ast::Expression &value = *arguments->get(what);
  std::optional<std::string> name = constants.readString(value, what);
  if (name && name->empty())
    diagnostics.error(value.getRange(), "a " + what + " needs a name");
  return name.value_or("");
}

/// Reads `word("NAME")` and returns it as text; an empty string after an error.
std::string JobAnalyzer::readNamed(const SettingInfo &setting,
                                   const ast::CallExpression &call) {
  if (!setting.takesName(call.callee.name)) {
    diagnostics.error(call.callee.range,
                      "unknown " + setting.getArgument() + " '" +
                          call.callee.name + "'",
                      "'" + setting.getArgument() + "' is " + setting.usage);
    return "";
  }
  std::string name =
      readFileName(call, call.callee.name == "file" ? "file" : "folder");
  return name.empty() ? "" : Job::makeNamed(call.callee.name, name);
}

/// Reads `word(NUMBER)` and returns it as text; an empty string after an error.
std::string JobAnalyzer::readCall(const SettingInfo &setting,
                                  const ast::CallExpression &call) {
  static constexpr ParameterSpec kNumber[] = {{"number", true}};
  std::optional<BoundArguments> arguments =
      bindArguments({call.callee.name, kNumber}, call.arguments,
                    call.getRange(), diagnostics);
  double number = 0;
  unsigned errors = diagnostics.getErrorCount();
  if (arguments)
    readReal(setting, *arguments->get("number"), number);
  if (!arguments || diagnostics.getErrorCount() != errors)
    return "";
  return call.callee.name + "(" + printNumber(number) + ")";
}

/// Reads a setting whose value is a word, or a call that is stored as text.
void JobAnalyzer::readText(const SettingInfo &setting,
                           const ast::Expression &value) {
  std::string &text = *std::get<std::string *>(setting.get(info.job));
  auto *call = llvm::dyn_cast<ast::CallExpression>(&value);
  if (call && setting.takesNumber(call->callee.name))
    text = readCall(setting, *call);
  else if (call && llvm::StringRef(setting.usage).contains("(\""))
    text = readNamed(setting, *call);
  else if (std::optional<llvm::StringRef> word = constants.readWord(
               value, setting.getArgument(), setting.getWords()))
    text = word->str();
}

static llvm::StringRef describeOne(SettingType type) {
  switch (type) {
  case SettingType::Word:
    return "give one word";
  case SettingType::Flag:
    return "give true or false";
  case SettingType::Schedule:
    return "give one schedule";
  default:
    return "give one number";
  }
}

/// Reads a setting whose value may be a list: one with a value for each copy,
/// or a list for all copies. Returns false for all other settings.
bool JobAnalyzer::readOfCopies(const SettingInfo &setting,
                               const ast::Expression &value) {
  if (setting.isSwept())
    addNumbers(setting.name, value, setting.range);
  else if (setting.type == SettingType::Counts)
    readCounts(setting, value);
  else if (setting.type == SettingType::Names)
    readNames(setting, value);
  else if (setting.type == SettingType::NameLists)
    readNameLists(setting, value);
  else
    return false;
  return true;
}

void JobAnalyzer::readSetting(const SettingInfo &setting,
                              const ast::Expression &value) {
  if (readOfCopies(setting, value))
    return;
  if (llvm::isa<ast::ListExpression>(&value)) {
    diagnostics.error(value.getRange(),
                      "'" + setting.getArgument() +
                          "' is the same for all copies",
                      describeOne(setting.type));
    return;
  }
  if (setting.type == SettingType::Word)
    return readText(setting, value);
  if (setting.type == SettingType::Schedule)
    return readSchedule(value, getSchedulePrefix(setting),
                        *std::get<Schedule *>(setting.get(info.job)));
  SettingRef place = setting.get(info.job);
  if (auto *number = std::get_if<double *>(&place))
    return readReal(setting, value, **number);
  if (auto *flag = std::get_if<bool *>(&place)) {
    if (std::optional<bool> holds =
            constants.readBool(value, setting.getArgument()))
      **flag = *holds;
    return;
  }
  if (isAuto(setting, value)) {
    *std::get<int64_t *>(place) = Job::kAuto;
    return;
  }
  int64_t least = clampToInteger(setting.range.least);
  int64_t most = clampToInteger(setting.range.most);
  std::optional<int64_t> number =
      setting.type == SettingType::Size
          ? constants.readSize(value, setting.getArgument(), least, most)
          : constants.readInteger(value, setting.getArgument(), least, most);
  if (number)
    *std::get<int64_t *>(place) = *number;
}

//===----------------------------------------------------------------------===//
// Numbers that may differ between copies
//===----------------------------------------------------------------------===//

void JobAnalyzer::addNumbers(llvm::StringRef name, const ast::Expression &value,
                             const NumberRange &allowed, const void *group,
                             llvm::StringRef prefix) {
  auto *call = llvm::dyn_cast<ast::CallExpression>(&value);
  if (call && (isDistribution(value) || searches()))
    return addDistribution(name, *call, allowed, group, prefix);
  std::optional<std::vector<Number>> numbers =
      constants.readNumbers(value, name);
  if (!numbers)
    return;
  auto *list = llvm::dyn_cast<ast::ListExpression>(&value);
  bool ok = true;
  for (auto [element, number] : llvm::zip_equal(getElements(value), *numbers))
    ok &= checkNumber(name, *element, number, allowed);
  if (!ok)
    return;
  std::string key = (prefix + name).str();
  if (!list && group)
    diagnostics.error(value.getRange(),
                      "zip pairs lists, but '" + name + "' is one number",
                      "take it out of zip(...)");
  else if (list)
    info.sweep.addList(key, std::move(*numbers), value.getRange(),
                       {clausePosition, value.getRange().Start.getPointer()},
                       group);
  else
    info.sweep.addValue(key, numbers->front());
}

//===----------------------------------------------------------------------===//
// Arguments of optimizers and schedules
//===----------------------------------------------------------------------===//

/// Reads a word, and adds it to `words` unless it is the default.
void JobAnalyzer::readWord(const ast::Expression &value,
                           const ParameterInfo &parameter,
                           std::vector<std::string> &words) {
  llvm::SmallVector<llvm::StringRef> known;
  parameter.words.split(known, '|');
  std::optional<llvm::StringRef> word =
      constants.readWord(value, parameter.name, known);
  if (word && *word != known.front())
    words.push_back(word->str());
}

void JobAnalyzer::readParameter(const BoundArguments &arguments,
                                const ParameterInfo &parameter,
                                std::vector<std::string> &flags,
                                llvm::StringRef prefix) {
  for (const BoundArguments::Bound &bound : arguments.getAll()) {
    if (bound.name != parameter.name)
      continue;
    switch (parameter.kind) {
    case ParameterInfo::Kind::number:
    case ParameterInfo::Kind::required:
    case ParameterInfo::Kind::optional:
      return addNumbers(parameter.name, *bound.value, parameter.range,
                        bound.group, prefix);
    case ParameterInfo::Kind::milestones:
      return readMilestones(bound, parameter, prefix);
    case ParameterInfo::Kind::schedules:
      return; // The caller has the place where they are stored.
    case ParameterInfo::Kind::word:
      return readWord(*bound.value, parameter, flags);
    case ParameterInfo::Kind::flag:
      break;
    }
    if (!constants.readBool(*bound.value, parameter.name).value_or(false))
      return;
    flags.push_back(parameter.name.str());
    if (!parameter.needs.empty() && !arguments.get(parameter.needs))
      diagnostics.error(bound.value->getRange(),
                        "'" + parameter.name + "' needs '" + parameter.needs +
                            "'",
                        "give both, or leave '" + parameter.name + "' out");
    return;
  }
  if (parameter.initial && parameter.kind == ParameterInfo::Kind::flag)
    flags.push_back(parameter.name.str());
  else if (parameter.initial)
    info.sweep.addValue((prefix + parameter.name).str(),
                        Number::of(*parameter.initial));
}

/// Reads the parameters of an optimizer, schedule or preconditioner. Their
/// names in the sweep begin with `prefix`; `flags` gets the names of those that
/// are true, and words. Returns nothing if the arguments don't match the
/// parameters.
std::optional<BoundArguments> JobAnalyzer::readParameters(
    const CallView &call, llvm::ArrayRef<ParameterInfo> parameters,
    std::vector<std::string> &flags, llvm::StringRef prefix) {
  llvm::SmallVector<ParameterSpec> signature;
  for (const ParameterInfo &parameter : parameters)
    signature.push_back({parameter.name, parameter.isRequired()});
  const ParameterInfo *first = findByName(parameters, "beta1");
  const ParameterInfo *second = findByName(parameters, "beta2");
  // A pair would leave out the third one, which some optimizers have.
  if (first && second && !findByName(parameters, "beta3"))
    signature.push_back({"betas"});
  std::optional<BoundArguments> arguments = bindArguments(
      {call.callee.name, signature}, call.arguments, call.range, diagnostics);
  if (!arguments)
    return std::nullopt;
  bool isPair = arguments->get("betas") != nullptr;
  if (isPair)
    readBetas(*arguments, *first, *second);
  for (const ParameterInfo &parameter : parameters)
    if (!isPair || (&parameter != first && &parameter != second))
      readParameter(*arguments, parameter, flags, prefix);
  return arguments;
}

/// Reads `betas = [b1, b2]`, a list of such pairs, or a choice of them.
void JobAnalyzer::readBetas(const BoundArguments &arguments,
                            const ParameterInfo &first,
                            const ParameterInfo &second) {
  const ast::Expression *betas = arguments.get("betas");
  if (arguments.get("beta1") || arguments.get("beta2"))
    diagnostics.error(betas->getRange(), "'betas' excludes 'beta1' and 'beta2'",
                      "'betas' gives both");
  auto *list = llvm::dyn_cast<ast::ListExpression>(betas);
  auto *call = llvm::dyn_cast<ast::CallExpression>(betas);
  bool isChoice = call && call->callee.name == kChoice;
  if (isChoice && (!checkDistribution("betas", *call) ||
                   !checkChoices(*call, "betas = [0.9, 0.999]", diagnostics)))
    return;
  std::vector<const ast::ListExpression *> pairs;
  bool isSwept =
      isChoice || (list && !list->elements.empty() &&
                   llvm::isa<ast::ListExpression>(*list->elements.front()));
  if (isChoice) {
    for (const ast::Argument &argument : call->arguments)
      pairs.push_back(
          llvm::dyn_cast<ast::ListExpression>(argument.value.get()));
  } else if (isSwept) {
    for (const ast::ExpressionPtr &element : list->elements)
      pairs.push_back(llvm::dyn_cast<ast::ListExpression>(element.get()));
  } else {
    pairs.push_back(list);
  }
  std::vector<Number> values[2];
  for (const ast::ListExpression *pair : pairs) {
    if (!pair || pair->elements.size() != 2) {
      diagnostics.error(betas->getRange(), "'betas' is a pair of numbers",
                        "for example betas = [0.9, 0.999]");
      return;
    }
    for (unsigned i = 0; i < 2; ++i) {
      const NumberRange &range = (i == 0 ? first : second).range;
      std::optional<Number> number =
          constants.readNumber(*pair->elements[i], "betas");
      if (number && !range.contains(number->value, number->integer.has_value()))
        diagnostics.error(pair->elements[i]->getRange(),
                          "'betas' is out of range, got " +
                              printNumber(number->value),
                          "both are " + range.describe());
      values[i].push_back(number.value_or(Number()));
    }
  }
  for (unsigned i = 0; i < 2; ++i) {
    llvm::StringRef name = (i == 0 ? first : second).name;
    if (isChoice)
      info.choices.insert(name);
    if (isSwept)
      info.sweep.addList(name, values[i], betas->getRange(),
                         {clausePosition, betas->getRange().Start.getPointer()},
                         betas);
    else
      info.sweep.addValue(name, values[i].front());
  }
}

//===----------------------------------------------------------------------===//
// Names of a model's own settings
//===----------------------------------------------------------------------===//

/// Returns whether a term of the loss has a number for each copy by this name,
/// whether or not it is given.
bool JobAnalyzer::isLossNumber(llvm::StringRef name) const {
  return llvm::any_of(info.terms, [&](const LossTermInfo &term) {
    llvm::StringRef own = name;
    const ObjectiveParameter *parameter =
        own.consume_front(term.loss.prefix)
            ? findByName(findLoss(term.loss.name)->parameters, own)
            : nullptr;
    return name == term.weight ||
           (parameter && parameter->kind == ObjectiveParameter::Kind::number);
  });
}

/// Returns whether a setting of the job already has this name.
bool JobAnalyzer::isTaken(llvm::StringRef name) const {
  const SettingInfo *setting = findSetting(name);
  return (setting && setting->isSwept()) || name == "model" ||
         isLossNumber(name) ||
         hasScheduleParameter(info.job.schedule, "", name) ||
         llvm::any_of(info.job.numberSchedules,
                      [&](const NamedSchedule &other) {
                        return hasScheduleParameter(other.schedule,
                                                    other.name + "_", name);
                      }) ||
         findOptimizerNumber(name) || isTakenByPreconditioner(name);
}
