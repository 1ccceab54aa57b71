//===- AnalyzeSchedules.cpp - Numbers that change from step to step -------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kMilestones = "milestones";
static constexpr llvm::StringLiteral kSchedules = "schedules";

//===----------------------------------------------------------------------===//
// Milestones
//===----------------------------------------------------------------------===//

/// Returns the name of one milestone in the sweep, in which each is a number of
/// its own. The first one has the name of the parameter, by which `zip` pairs
/// all of them.
static std::string getMilestone(llvm::StringRef prefix, size_t index) {
  std::string name = (prefix + kMilestones).str();
  return index == 0 ? name : name + "." + std::to_string(index);
}

/// Returns the number of milestones of the copy that has most.
size_t JobAnalyzer::countMilestones(llvm::StringRef prefix) const {
  size_t count = 0;
  while (info.sweep.contains(getMilestone(prefix, count)))
    ++count;
  return count;
}

/// Reads a list of steps in ascending order.
std::optional<std::vector<Number>>
JobAnalyzer::readSteps(const ast::ListExpression &list,
                       const ParameterInfo &parameter) {
  std::optional<std::vector<Number>> steps =
      constants.readNumbers(list, parameter.name);
  if (!steps)
    return std::nullopt;
  for (auto [index, element] : llvm::enumerate(list.elements)) {
    const Number &step = (*steps)[index];
    if (!checkNumber(parameter.name, *element, step, parameter.range))
      return std::nullopt;
    if (index == 0 || (*steps)[index - 1].value <= step.value)
      continue;
    diagnostics.error(element->getRange(),
                      "'" + parameter.name + "' must ascend, but " +
                          printNumber(step.value) + " follows " +
                          printNumber((*steps)[index - 1].value),
                      "for example milestones = [1000, 2000]");
    return std::nullopt;
  }
  return steps;
}

static bool isListOfLists(const ast::Expression &value) {
  auto *list = llvm::dyn_cast<ast::ListExpression>(&value);
  return list && !list->elements.empty() &&
         llvm::isa<ast::ListExpression>(*list->elements.front());
}

/// Returns the rows of `milestones`: one list, or a list for each copy.
static llvm::SmallVector<const ast::Expression *>
getRows(const ast::Expression &milestones) {
  return isListOfLists(milestones)
             ? getElements(milestones)
             : llvm::SmallVector<const ast::Expression *>{&milestones};
}

/// Reads `milestones = [a, b]`, or a list of such lists, one for each copy.
void JobAnalyzer::readMilestones(const BoundArguments::Bound &bound,
                                 const ParameterInfo &parameter,
                                 llvm::StringRef prefix) {
  const ast::Expression &value = *bound.value;
  bool isSwept = isListOfLists(value);
  std::vector<std::vector<Number>> lists;
  size_t count = 0;
  for (const ast::Expression *row : getRows(value)) {
    auto *steps = llvm::dyn_cast<ast::ListExpression>(row);
    if (!steps && isDistribution(*row)) {
      constants.readNumber(*row, parameter.name);
      return;
    }
    if (!steps)
      return diagnostics.error(row->getRange(),
                               "'" + parameter.name + "' is a list of steps",
                               "for example milestones = [1000, 2000]");
    std::optional<std::vector<Number>> read = readSteps(*steps, parameter);
    if (!read)
      return;
    count = std::max(count, read->size());
    lists.push_back(std::move(*read));
  }
  if (!isSwept && bound.group)
    return diagnostics.error(value.getRange(),
                             "zip pairs lists, but '" + parameter.name +
                                 "' is one list of steps",
                             "take it out of zip(...)");
  for (size_t index = 0; index < count; ++index) {
    std::vector<Number> numbers;
    for (const std::vector<Number> &one : lists)
      numbers.push_back(
          index < one.size() ? one[index] : Number::of(NumberRange::kInfinity));
    if (isSwept)
      info.sweep.addList(getMilestone(prefix, index), std::move(numbers),
                         value.getRange(),
                         {clausePosition, value.getRange().Start.getPointer()},
                         bound.group ? bound.group : &value);
    else
      info.sweep.addValue(getMilestone(prefix, index), numbers.front());
  }
}

/// Stores the milestones of all copies.
void JobAnalyzer::fillMilestones(Schedule &schedule, llvm::StringRef prefix) {
  std::vector<std::vector<double>> columns;
  for (size_t i = 0, count = countMilestones(prefix); i < count; ++i)
    columns.push_back(info.sweep.getValues(getMilestone(prefix, i)));
  for (int64_t copy = 0; copy < info.job.copies; ++copy)
    for (const std::vector<double> &column : columns)
      schedule.milestones.push_back(column[copy]);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Checks that there is a milestone for each schedule of a sequence but the
/// first one.
void JobAnalyzer::checkSequence(const ast::Expression &parts,
                                const ast::Expression &milestones) {
  size_t wanted = getElements(parts).size() - 1;
  for (const ast::Expression *row : getRows(milestones))
    if (size_t count = getElements(*row).size(); count > 0 && count != wanted)
      return diagnostics.error(
          row->getRange(),
          "a sequence of " + llvm::Twine(wanted + 1) + " schedules needs " +
              llvm::Twine(wanted) + " milestones, got " + llvm::Twine(count),
          "each schedule but the first one begins at a milestone");
}

static bool isPlateau(const Schedule &schedule) {
  return schedule.kind == "plateau";
}

/// Reads the schedules of a sequence or product.
void JobAnalyzer::readParts(const ast::Expression &value,
                            llvm::StringRef prefix, Schedule &schedule) {
  auto *list = llvm::dyn_cast<ast::ListExpression>(&value);
  if (!list || list->elements.size() < 2)
    return diagnostics.error(
        value.getRange(),
        "a " + schedule.kind + " is a list of two or more schedules",
        "for example sequence([linear(0, 1), cosine], milestones = [1000]) or "
        "product([constant(warmup = 100), exponential(0.99)])");
  schedule.parts.resize(list->elements.size());
  for (auto [index, part] : llvm::enumerate(list->elements)) {
    readSchedule(*part, getPartPrefix(prefix, index), schedule.parts[index]);
    if (isPlateau(schedule.parts[index]))
      diagnostics.error(part->getRange(),
                        "'plateau' can't be a part of a " + schedule.kind,
                        "it has a warm-up of its own: plateau(warmup = 100)");
  }
}

/// Reads a schedule. The names of its numbers in the sweep begin with `prefix`;
/// they are stored later, once the values of all copies are known.
void JobAnalyzer::readSchedule(const ast::Expression &value,
                               llvm::StringRef prefix, Schedule &schedule) {
  std::optional<CallView> call =
      getCall(value, "a schedule such as cosine(warmup = 100)", diagnostics);
  if (!call)
    return;
  const ScheduleInfo *kind =
      findKind(getSchedules(), *call, "schedule", diagnostics);
  if (!kind)
    return;
  std::optional<BoundArguments> arguments =
      readParameters(*call, kind->parameters, schedule.options, prefix);
  if (!arguments)
    return;
  schedule.kind = kind->name.str();
  if (const ast::Expression *parts = arguments->get(kSchedules)) {
    readParts(*parts, prefix, schedule);
    const ast::Expression *milestones = arguments->get(kMilestones);
    if (!schedule.parts.empty() && milestones)
      checkSequence(*parts, *milestones);
  }
}

/// Stores the numbers of a schedule. Those that a job doesn't give have their
/// initial values.
void JobAnalyzer::fillSchedule(Schedule &schedule, llvm::StringRef prefix) {
  for (const ParameterInfo &parameter :
       findSchedule(schedule.kind)->parameters) {
    std::string key = (prefix + parameter.name).str();
    if (parameter.kind == ParameterInfo::Kind::milestones)
      fillMilestones(schedule, prefix);
    if (!info.sweep.contains(key) && parameter.initial)
      info.sweep.addValue(key, Number::of(*parameter.initial));
    if (info.sweep.contains(key) &&
        parameter.kind != ParameterInfo::Kind::milestones)
      getScheduleParameter(schedule, parameter.name) =
          info.sweep.getValues(key);
  }
  for (auto [index, part] : llvm::enumerate(schedule.parts))
    fillSchedule(part, getPartPrefix(prefix, index));
}

//===----------------------------------------------------------------------===//
// Schedules of other numbers than the learning rate
//===----------------------------------------------------------------------===//

/// Reads `schedule_of NAME = kind(...), ...`. Which numbers there are is
/// checked once all clauses have been read.
void JobAnalyzer::analyzeScheduleOf(const Clause &clause) {
  for (const ast::Argument &argument : clause.arguments) {
    if (!argument.name) {
      diagnostics.error(argument.getRange(),
                        "'schedule_of' takes 'number = schedule'",
                        "for example: schedule_of weight_decay = cosine");
      continue;
    }
    const std::string &name = argument.name.name;
    if (llvm::is_contained(
            llvm::map_range(info.job.numberSchedules,
                            [](const NamedSchedule &one) { return one.name; }),
            name)) {
      diagnostics.error(argument.name.range, "'" + name + "' has two schedules",
                        "leave one out");
      continue;
    }
    NamedSchedule &schedule = info.job.numberSchedules.emplace_back();
    schedule.name = name;
    info.scheduledRanges.push_back(argument.name.range);
    readSchedule(*argument.value, name + "_", schedule.schedule);
  }
}

/// Returns the range of the number of this name if it can have a schedule.
std::optional<NumberRange>
JobAnalyzer::findScheduled(llvm::StringRef name) const {
  std::optional<NumberRange> found;
  auto find = [&](const auto &parameters) {
    const auto *parameter = findByName(parameters, name);
    if (parameter && !parameter->range.isWhole)
      found = parameter->range;
  };
  if (std::optional<NumberRange> range = findOptimizerNumber(name);
      range && !range->isWhole)
    found = range;
  if (!info.job.preconditioner.empty())
    find(getKfacParameters());
  for (const LossTermInfo &term : info.terms) {
    for (const ObjectiveInfo::OfCopies &number : term.loss.numbers)
      if (number.hyperParameter == name)
        found =
            findByName(findLoss(term.loss.name)->parameters, number.argument)
                ->range;
    if (term.weight == name)
      found = kTermWeightRange;
  }
  auto range = info.modelNumbers.find(name);
  if (range != info.modelNumbers.end())
    found = range->second;
  return info.sweep.contains(name) ? found : std::nullopt;
}

/// Checks that the numbers of the clauses `schedule_of` can have schedules.
void JobAnalyzer::checkScheduledNames() {
  auto isDamping = [&](llvm::StringRef name) {
    return name == "damping" && !info.job.preconditioner.empty();
  };
  std::vector<llvm::StringRef> known;
  for (const Sweep::Setting &setting : info.sweep.getSettings())
    if (setting.name != "lr" && !isDamping(setting.name) &&
        findScheduled(setting.name))
      known.push_back(setting.name);
  for (auto [schedule, range] :
       llvm::zip_equal(info.job.numberSchedules, info.scheduledRanges)) {
    llvm::StringRef name = schedule.name;
    if (name == "lr")
      diagnostics.error(range, "the schedule of 'lr' is the clause 'schedule'",
                        "for example: schedule cosine");
    else if (isDamping(name))
      diagnostics.error(
          range, "the schedule of 'damping' is an argument of 'kfac'",
          "for example: precondition kfac(damping_schedule = cosine)");
    else if (!llvm::is_contained(known, name))
      diagnostics.error(
          range, "no number called '" + name + "' can have a schedule",
          known.empty() ? "the job has none beside 'lr'"
                        : suggest(name, known, "those that can are"));
  }
}

/// Returns the least and the largest number that a search draws.
static std::vector<double> getBounds(const SearchSetting &setting) {
  return setting.choices.empty()
             ? std::vector<double>{setting.low, setting.high}
             : setting.choices;
}

/// The least and the largest factor that a schedule takes in some step.
static std::pair<double, double> getFactors(const Schedule &schedule,
                                            int64_t copy) {
  double least = 1, most = 1;
  auto add = [&](llvm::ArrayRef<double> values) {
    if (values.empty())
      return;
    least = std::min(least, values[copy]);
    most = std::max(most, values[copy]);
  };
  add(schedule.start);
  add(schedule.end);
  if (schedule.kind != "cosine_restarts")
    add(schedule.minimum);
  if (!schedule.gamma.empty() && schedule.gamma[copy] > 1)
    most = NumberRange::kInfinity;
  if (!schedule.gamma.empty() && schedule.gamma[copy] == 0)
    least = 0;
  for (const Schedule &part : schedule.parts) {
    auto [low, high] = getFactors(part, copy);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  return {least, most};
}

/// Checks that numbers stay in their ranges whatever their schedules do, and
/// whatever a search draws.
void JobAnalyzer::checkScheduledValues() {
  const Job &job = info.job;
  auto check = [&](const NamedSchedule &schedule, llvm::SMRange place,
                   double value, int64_t copy) {
    NumberRange range = *findScheduled(schedule.name);
    auto [least, most] = getFactors(schedule.schedule, copy);
    for (double factor : {least, most}) {
      double reached = value == 0 ? 0 : value * factor;
      if (range.contains(reached, /*whole=*/false))
        continue;
      diagnostics.error(place,
                        "'" + schedule.name + "' becomes " +
                            printNumber(reached) + " in copy " +
                            llvm::Twine(copy) + ", by its schedule",
                        "it is " + range.describe());
      return false;
    }
    return true;
  };
  for (auto [schedule, place] :
       llvm::zip_equal(job.numberSchedules, info.scheduledRanges)) {
    bool ok = true;
    for (auto [copy, value] :
         llvm::enumerate(info.sweep.getValues(schedule.name)))
      ok = ok && (std::isnan(value) ||
                  check(schedule, place, value, static_cast<int64_t>(copy)));
    for (const SearchSetting &setting : job.search.settings)
      if (setting.name == schedule.name)
        for (double value : getBounds(setting))
          ok = ok && check(schedule, place, value, 0);
  }
}

/// Checks what the schedule `plateau` needs.
void JobAnalyzer::checkPlateaus() {
  const Job &job = info.job;
  llvm::SMRange place;
  for (const SettingInfo *setting : getSettings())
    if (setting->type == SettingType::Schedule &&
        isPlateau(*std::get<Schedule *>(setting->get(info.job))))
      place = info.train->find(setting->clause)->range;
  for (auto [schedule, range] :
       llvm::zip_equal(job.numberSchedules, info.scheduledRanges))
    if (isPlateau(schedule.schedule))
      place = range;
  if (!place.isValid())
    return;
  if (searches())
    return diagnostics.error(place, "'plateau' and 'search' exclude each other",
                             "a rule of the search ends trials that don't "
                             "improve");
  if (!info.train->find("validation") && !info.validationRange.isValid())
    diagnostics.error(place,
                      "'plateau' needs validation data, which the job doesn't "
                      "have",
                      "add 'validation 0.1', or a part 'validation' to the "
                      "data block");
}
