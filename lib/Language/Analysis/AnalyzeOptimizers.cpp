//===- AnalyzeOptimizers.cpp - The optimizer of each copy -----------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// The name under which the sweep holds the numbers of the kinds that a list of
/// optimizers gives to copies.
static constexpr llvm::StringLiteral kOptimizer = "optimizer";
static constexpr llvm::StringLiteral kClip = "clip";

void JobAnalyzer::analyzeOptimizer(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  if (!value)
    return;
  if (auto *list = llvm::dyn_cast<ast::ListExpression>(value))
    return readOptimizers(*list);
  if (std::optional<OptimizerKind> kind = readOptimizer(*value))
    info.job.optimizers.push_back(std::move(*kind));
}

/// Reads one optimizer, and adds its numbers to the sweep, where their names
/// begin with `prefix`.
std::optional<OptimizerKind>
JobAnalyzer::readOptimizer(const ast::Expression &value,
                           llvm::StringRef prefix) {
  std::optional<CallView> call =
      getCall(value, "an optimizer such as adam(lr = 1e-3)", diagnostics);
  const OptimizerInfo *optimizer =
      call ? findKind(getOptimizers(), *call, kOptimizer, diagnostics)
           : nullptr;
  std::vector<std::string> given;
  if (!optimizer ||
      !readParameters(*call, optimizer->parameters, given, prefix))
    return std::nullopt;
  OptimizerKind kind{optimizer->name.str(), {}};
  for (const ParameterInfo &parameter : optimizer->parameters) {
    bool isOptional = parameter.kind == ParameterInfo::Kind::optional;
    std::string key = (prefix + parameter.name).str();
    if (isOptional ? info.sweep.contains(key)
                   : llvm::is_contained(given, parameter.name))
      kind.options.push_back(parameter.name.str());
    llvm::SmallVector<llvm::StringRef> words;
    parameter.words.split(words, '|');
    for (llvm::StringRef word : words)
      if (llvm::is_contained(given, word))
        kind.options.push_back(word.str());
  }
  return kind;
}

/// Returns the index of a kind among the job's optimizers, to which it is added
/// if it is new.
int64_t JobAnalyzer::addOptimizer(const OptimizerKind &kind) {
  std::vector<OptimizerKind> &all = info.job.optimizers;
  auto known = llvm::find(all, kind);
  if (known == all.end())
    known = all.insert(known, kind);
  return known - all.begin();
}

/// Reads a list of optimizers, which is one axis of the copies: it has the
/// copies that the first optimizer's own lists make, then those of the second
/// one, and so on. A copy has no number for a parameter that its optimizer
/// lacks.
void JobAnalyzer::readOptimizers(const ast::ListExpression &list) {
  if (searches()) {
    diagnostics.error(list.getRange(),
                      "a search takes one optimizer, not a "
                      "list",
                      "lists of optimizers make copies without a search");
    return;
  }
  if (list.elements.empty()) {
    diagnostics.error(
        list.getRange(), "expected at least one optimizer",
        "for example: optimizer [adamw(lr = 1e-3), sgd(lr = 0.1)]");
    return;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<Number> kinds;
  std::vector<std::string> names;
  std::vector<std::vector<Number>> values;
  for (const ast::ExpressionPtr &element : list.elements) {
    Sweep own;
    std::swap(own, info.sweep);
    std::optional<OptimizerKind> kind = readOptimizer(*element);
    std::swap(own, info.sweep);
    if (!kind || !own.cross(diagnostics))
      return;
    int64_t number = addOptimizer(*kind);
    size_t before = kinds.size();
    kinds.resize(before + own.getCopies(), Number::of(number));
    for (const ParameterInfo &parameter : findOptimizer(kind->name)->parameters)
      if (own.contains(parameter.name) &&
          !llvm::is_contained(names, parameter.name))
        names.push_back(parameter.name.str());
    values.resize(names.size());
    for (auto [name, column] : llvm::zip_equal(names, values)) {
      column.resize(before, Number::of(kNone));
      llvm::append_range(column, own.get(name));
      column.resize(kinds.size(), Number::of(kNone));
    }
  }
  auto add = [&](llvm::StringRef name, std::vector<Number> &column) {
    SweepPosition position{clausePosition, list.getRange().Start.getPointer()};
    if (column.size() == 1)
      info.sweep.addValue(name, column.front());
    else
      info.sweep.addList(name, std::move(column), list.getRange(), position,
                         &list);
  };
  add(kOptimizer, kinds);
  for (auto [name, column] : llvm::zip_equal(names, values))
    add(name, column);
}

//===----------------------------------------------------------------------===//
// Groups of parameters
//===----------------------------------------------------------------------===//

/// Reads what belongs to a group, and makes a name for it: of "head.*" it is
/// `head`, of several selectors all of their names.
void JobAnalyzer::readSelectors(
    llvm::ArrayRef<const ast::Expression *> selectors, GroupInfo &group,
    std::string &name) {
  for (const ast::Expression *selector : selectors) {
    bool isPattern = llvm::isa<ast::StringExpression>(selector);
    std::optional<std::string> text;
    if (isPattern)
      text = constants.readString(*selector, "group");
    else if (std::optional<llvm::StringRef> kind = constants.readWord(
                 *selector, "kind of parameters", getParameterKindNames()))
      text = kind->str();
    if (!text)
      continue;
    (isPattern ? group.patterns : group.kinds)
        .push_back({*text, selector->getRange()});
    std::string part;
    for (char letter : *text)
      if (llvm::isAlnum(letter))
        part += letter;
      else if (!part.empty() && part.back() != '_')
        part += '_';
    while (!part.empty() && part.back() == '_')
      part.pop_back();
    name += (name.empty() || part.empty() ? "" : "_") + part;
  }
  if (name.empty())
    name = "all";
}

/// Returns the numbers that a group may give: parameters of the job's
/// optimizers, and others that are read by updates.
llvm::SmallVector<ParameterInfo> JobAnalyzer::getNumbersOfOptimizers() const {
  llvm::SmallVector<ParameterInfo> numbers(getNumbersOfGroups());
  for (const OptimizerKind &kind : info.job.optimizers)
    for (llvm::StringRef name :
         findOptimizer(kind.name)->getScalars(getGivenOptions(kind))) {
      const ParameterInfo *parameter =
          findByName(findOptimizer(kind.name)->parameters, name);
      if (parameter && name != "lr" && !findByName(numbers, name))
        numbers.push_back(*parameter);
    }
  return numbers;
}

/// Makes the name of a group differ from those of the groups before it.
void JobAnalyzer::nameGroup(ParameterGroup &group) const {
  auto isTaken = [&](llvm::StringRef name) {
    return llvm::any_of(
        info.job.groupsOfParameters,
        [&](const ParameterGroup &other) { return other.name == name; });
  };
  std::string first = group.name;
  for (unsigned number = 2; isTaken(group.name); ++number)
    group.name = first + "_" + std::to_string(number);
}

/// Reads the optimizer of a group, whose numbers become the group's.
void JobAnalyzer::readGroupOptimizer(const ast::Expression &value,
                                     ParameterGroup &group) {
  std::optional<OptimizerKind> kind = readOptimizer(value, group.name + "_");
  if (!kind)
    return;
  group.optimizer = addOptimizer(*kind);
  for (const ParameterInfo &parameter : findOptimizer(kind->name)->parameters)
    if (info.sweep.contains(group.makeName(parameter.name)))
      group.numbers.push_back(parameter.name.str());
}

/// Reads a group of parameters. Its numbers are the hyper-parameters that begin
/// with its name.
void JobAnalyzer::analyzeGroup(const Clause &clause) {
  // Which numbers a group may give isn't known after a faulty optimizer.
  if (info.job.optimizers.empty())
    return;
  llvm::SmallVector<ParameterInfo> numbers = getNumbersOfOptimizers();
  llvm::SmallVector<ParameterSpec> names = {{kOptimizer}, {kClip}};
  for (const ParameterInfo &number : numbers)
    names.push_back({number.name});
  std::optional<BoundArguments> arguments =
      bindArguments({"group", names, /*variadic=*/true}, clause.arguments,
                    clause.range, diagnostics);
  if (!arguments)
    return;
  ParameterGroup group;
  GroupInfo members;
  members.range = clause.range;
  readSelectors(arguments->rest, members, group.name);
  if (arguments->rest.empty() || arguments->getAll().empty()) {
    diagnostics.error(clause.range,
                      "a group needs parameters, and numbers for them",
                      "for example: group vectors, weight_decay = 0");
    return;
  }
  nameGroup(group);
  for (const auto &named : {members.kinds, members.patterns})
    for (const NamedRange &one : named)
      group.members += (group.members.empty() ? "" : ", ") + one.name;
  if (const ast::Expression *optimizer = arguments->get(kOptimizer))
    readGroupOptimizer(*optimizer, group);
  if (const ast::Expression *clip = arguments->get(kClip))
    readGroupClip(*clip, group);
  for (const BoundArguments::Bound &bound : arguments->getAll()) {
    if (bound.name == kOptimizer || bound.name == kClip)
      continue;
    if (llvm::is_contained(group.numbers, bound.name)) {
      diagnostics.error(bound.value->getRange(),
                        "the group's optimizer has '" + bound.name + "', too",
                        "give it there alone");
      continue;
    }
    addNumbers(bound.name, *bound.value, findByName(numbers, bound.name)->range,
               bound.group, group.name + "_");
    group.numbers.push_back(bound.name.str());
  }
  info.job.groupsOfParameters.push_back(std::move(group));
  info.groups.push_back(std::move(members));
}

/// Stores the numbers of all optimizers as hyper-parameters, with a value for
/// each copy.
void JobAnalyzer::fillOptimizers() {
  Job &job = info.job;
  if (job.optimizers.size() > 1)
    for (const Number &kind : info.sweep.get(kOptimizer))
      job.optimizerOfCopy.push_back(*kind.integer);
  for (const OptimizerKind &kind : job.optimizers)
    for (const ParameterInfo &parameter : findOptimizer(kind.name)->parameters)
      if (info.sweep.contains(parameter.name) &&
          !job.findHyperParameter(parameter.name))
        job.hyperParameters.push_back(
            {parameter.name.str(), info.sweep.getValues(parameter.name)});
  for (const ParameterGroup &group : job.groupsOfParameters)
    for (const std::string &number : group.numbers)
      job.hyperParameters.push_back(
          {group.makeName(number),
           info.sweep.getValues(group.makeName(number))});
  fillUpdates();
}

/// Returns the range of a number of an optimizer or of a group; nothing if none
/// is called so.
std::optional<NumberRange>
JobAnalyzer::findOptimizerNumber(llvm::StringRef name) const {
  for (const ParameterGroup &group : info.job.groupsOfParameters)
    for (const std::string &number : group.numbers)
      if (group.makeName(number) == name) {
        std::optional<NumberRange> range = findGroupNumber(number);
        return range ? range : findOptimizerNumber(number);
      }
  for (const OptimizerKind &kind : info.job.optimizers)
    if (const ParameterInfo *parameter =
            findByName(findOptimizer(kind.name)->parameters, name))
      return parameter->range;
  return findUpdateNumber(name);
}
