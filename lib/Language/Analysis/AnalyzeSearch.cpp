//===- AnalyzeSearch.cpp - The trials of a search -------------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/JobSearch.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "hfta/search_outline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kTrials = "trials", kGrid = "grid",
                                     kHyperband = "hyperband", kTpe = "tpe",
                                     kExternal = "external";

/// The most values of a choice, all of which are compared with each other.
static constexpr size_t kMostChoices = 4096;

/// So many trials are looked at to find some that an array trains.
static constexpr int64_t kMostExamples = 65536;

//===----------------------------------------------------------------------===//
// Sampler and rule
//===----------------------------------------------------------------------===//

/// Reads the two factors of a population.
void JobAnalyzer::readFactors(const ast::Expression &value,
                              const SearchParameterInfo &parameter,
                              std::vector<double> &factors) {
  std::optional<std::vector<Number>> numbers =
      constants.readNumbers(value, parameter.name);
  if (!numbers)
    return;
  if (numbers->size() != factors.size())
    return diagnostics.error(value.getRange(),
                             "'" + parameter.name +
                                 "' is a list of two "
                                 "numbers",
                             ("by default " + parameter.byDefault).str());
  for (auto [element, number, factor] :
       llvm::zip_equal(getElements(value), *numbers, factors))
    if (checkNumber(parameter.name, *element, number, parameter.range))
      factor = number.value;
}

/// Reads the parameters of a sampler or rule. `find` returns where one is
/// stored. `areRequired`: those without a default must be given.
void JobAnalyzer::readSearchParameters(
    const CallView &call, const SearchKindInfo &kind,
    llvm::function_ref<SearchRef(llvm::StringRef)> find, bool areRequired) {
  llvm::SmallVector<ParameterSpec> signature;
  for (const SearchParameterInfo &parameter : kind.parameters)
    signature.push_back(
        {parameter.name, areRequired && parameter.byDefault.empty()});
  std::optional<BoundArguments> arguments = bindArguments(
      {kind.name, signature}, call.arguments, call.range, diagnostics);
  if (!arguments)
    return;
  for (const SearchParameterInfo &parameter : kind.parameters) {
    const ast::Expression *value = arguments->get(parameter.name);
    if (!value)
      continue;
    if (parameter.name == kTrials)
      info.trialsRange = value->getRange();
    SearchRef place = find(parameter.name);
    if (auto *factors = std::get_if<std::vector<double> *>(&place)) {
      readFactors(*value, parameter, **factors);
    } else if (auto *integer = std::get_if<int64_t *>(&place)) {
      std::optional<int64_t> number =
          constants.readInteger(*value, parameter.name, INT64_MIN, INT64_MAX);
      if (number && checkNumber(parameter.name, *value, Number::of(*number),
                                parameter.range))
        **integer = *number;
    } else {
      std::optional<Number> number =
          constants.readNumber(*value, parameter.name);
      if (number &&
          checkNumber(parameter.name, *value, *number, parameter.range))
        *std::get<double *>(place) = number->value;
    }
  }
}

void JobAnalyzer::analyzeSearch(const Clause &clause) {
  static constexpr ParameterSpec kParts[] = {{"sampler", true}, {"rule"}};
  std::optional<BoundArguments> arguments = readSettings(clause, kParts);
  if (!arguments)
    return;
  Search &search = info.job.search;
  std::optional<CallView> call =
      getCall(*arguments->get("sampler"),
              "a sampler such as random(trials = 32)", diagnostics);
  if (!call)
    return;
  if (const SearchKindInfo *sampler =
          findKind(getSamplers(), *call, "sampler", diagnostics)) {
    search.sampler.kind = sampler->name.str();
    readSearchParameters(
        *call, *sampler,
        [&](llvm::StringRef name) {
          return getParameter(search.sampler, name);
        },
        /*areRequired=*/false);
  }
  const ast::Expression *value = arguments->get("rule");
  if (!value ||
      !(call = getCall(*value, "a rule such as halving(eta = 3)", diagnostics)))
    return;
  info.ruleRange = call->range;
  const SearchKindInfo *rule = findKind(getRules(), *call, "rule", diagnostics);
  if (!rule)
    return;
  search.rule.kind = rule->name.str();
  readSearchParameters(
      *call, *rule,
      [&](llvm::StringRef name) { return getParameter(search.rule, name); },
      /*areRequired=*/true);
}

//===----------------------------------------------------------------------===//
// What is varied
//===----------------------------------------------------------------------===//

/// Checks clauses that don't go with a search, or are missing.
void JobAnalyzer::checkSearchClauses() {
  const ast::TrainDeclaration &train = *info.train;
  if (const Clause *copies = train.find("copies"))
    diagnostics.error(copies->range, "'copies' and 'search' exclude each other",
                      "the search says how many copies there are: search ..., "
                      "slots = " +
                          llvm::Twine(info.job.copies));
  const Clause *search = train.find("search");
  if (const Clause *steps = train.find("steps"))
    diagnostics.error(steps->range,
                      "a search needs 'epochs', since rules count epochs, not "
                      "'steps'",
                      "for example: epochs 9");
  else if (!train.find("epochs"))
    diagnostics.error(search->keyword.range,
                      "'search' needs 'epochs', the length of a trial that "
                      "goes all the way",
                      "for example: epochs 9");
  if (info.files.size() > 1)
    diagnostics.error(info.model->onnx->getRange(),
                      "a search takes no list of files",
                      "write onnx(choice(\"a.onnx\", \"b.onnx\"))");
}

/// Lists the numbers that vary, in the order of the job.
void JobAnalyzer::collectSearched() {
  std::vector<SearchedRange> found = info.searchedRanges;
  llvm::DenseMap<const void *, int64_t> groups;
  for (const Sweep::Setting *list : info.sweep.getLists()) {
    SearchSetting setting;
    setting.name = list->name;
    setting.distribution = HFTA_CHOICE;
    for (const Number &number : list->values)
      setting.choices.push_back(number.value);
    if (list->group)
      setting.zip =
          groups.try_emplace(list->group, groups.size()).first->second;
    found.push_back({std::move(setting), list->range, list->position});
  }
  llvm::stable_sort(found, [](const SearchedRange &a, const SearchedRange &b) {
    return a.position < b.position;
  });
  for (SearchedRange &one : found) {
    info.job.search.settings.push_back(std::move(one.setting));
    info.searchedTexts.push_back(one.range);
  }
}

/// Returns whether a program can change a number of this name when it runs.
bool JobAnalyzer::isChangedAtRunTime(llvm::StringRef name) const {
  return name == "seed" || findOptimizerNumber(name) ||
         (!info.job.preconditioner.empty() &&
          findByName(getKfacParameters(), name)) ||
         llvm::is_contained(info.modelHyperParameters, name) ||
         llvm::any_of(info.terms, [&](const LossTermInfo &term) {
           return name == term.weight ||
                  llvm::any_of(term.loss.numbers, [&](const auto &number) {
                    return name == number.hyperParameter;
                  });
         });
}

/// Checks that the numbers that vary can do so, and that the sampler can choose
/// them.
void JobAnalyzer::checkSearched() {
  const Search &search = info.job.search;
  if (search.settings.empty())
    diagnostics.error(info.train->find("search")->keyword.range,
                      "the search varies nothing",
                      "for example: optimizer adam(lr = log_uniform(1e-4, "
                      "1e-1))");
  bool isGrid = search.sampler.kind == kGrid;
  for (auto [setting, range] :
       llvm::zip_equal(search.settings, info.searchedTexts)) {
    bool isList = setting.distribution == HFTA_CHOICE && !setting.isPacked &&
                  !info.choices.contains(setting.name);
    if (setting.choices.size() > kMostChoices)
      diagnostics.error(range,
                        "'" + setting.name + "' has " +
                            llvm::Twine(setting.choices.size()) +
                            " choices, more than " + llvm::Twine(kMostChoices),
                        "ranges, such as integers(1, 1000000), have no limit");
    else if (!setting.isPacked && !isChangedAtRunTime(setting.name))
      diagnostics.error(range,
                        "'" + setting.name + "' " +
                            (isList ? "takes no list in a search"
                                    : "can't be drawn from a range"),
                        "write choice(...): programs hold it as a constant, so "
                        "that each value gets an array of its own");
    else if (isGrid && setting.distribution != HFTA_CHOICE)
      diagnostics.error(
          range, "'grid' can't choose '" + setting.name + "' from a range",
          "write a list, such as [1e-3, 1e-2]");
    else if (!isGrid && isList)
      diagnostics.error(range,
                        "'" + search.sampler.kind + "' takes no list for '" +
                            setting.name + "'",
                        "write choice(...); 'grid' takes lists");
  }
}

/// Returns the least and the greatest number that a setting may have.
static std::pair<double, double> getBounds(const SearchSetting &setting) {
  if (setting.distribution != HFTA_CHOICE)
    return {setting.low, setting.high};
  auto [least, most] =
      std::minmax_element(setting.choices.begin(), setting.choices.end());
  return {*least, *most};
}

/// Checks the numbers of a preconditioner that depend on each other, whatever
/// their values in a trial are.
void JobAnalyzer::checkSearchedPreconditioner() {
  const Job &job = info.job;
  if (job.preconditioner.empty())
    return;
  const SearchSetting *factors = nullptr, *inverses = nullptr;
  for (auto [setting, range] :
       llvm::zip_equal(job.search.settings, info.searchedTexts)) {
    if (setting.name == "factor_every")
      factors = &setting;
    if (setting.name == "inverse_every")
      inverses = &setting;
    if (setting.name == "momentum" && job.hasOptimizer("sgd") &&
        !info.sweep.contains("kl_clip"))
      diagnostics.error(range,
                        "'momentum' varies, from which the default of "
                        "'kl_clip' follows when the job is compiled",
                        "give kfac a kl_clip of its own, for example 1e-2");
  }
  if (!factors && !inverses)
    return;
  auto getValue = [&](llvm::StringRef name) {
    return info.sweep.getValues(name).front();
  };
  double most = factors ? getBounds(*factors).second : getValue("factor_every");
  double least =
      inverses ? getBounds(*inverses).first : getValue("inverse_every");
  bool areZipped =
      factors && inverses && factors->zip >= 0 && factors->zip == inverses->zip;
  bool isWrong =
      areZipped
          ? !llvm::all_of(llvm::zip_equal(factors->choices, inverses->choices),
                          [](const auto &pair) {
                            return std::get<0>(pair) <= std::get<1>(pair);
                          })
          : most > least;
  if (isWrong)
    diagnostics.error(info.periodRange,
                      "in some trials factors would be inverted more often "
                      "than measured",
                      "'inverse_every' is at least 'factor_every'");
}

//===----------------------------------------------------------------------===//
// Trials and slots
//===----------------------------------------------------------------------===//

/// Reports an error of the runtime's checks, "name: text", at the text of the
/// setting that is meant.
void JobAnalyzer::reportSearch(const hfta_error &error) {
  auto [name, text] = llvm::StringRef(error.message).split(": ");
  llvm::SMRange place = info.ruleRange.isValid()
                            ? info.ruleRange
                            : info.train->find("search")->range;
  if (name == kTrials && info.trialsRange.isValid())
    place = info.trialsRange;
  if (name == "units") {
    name = "epochs";
    place = info.train->find(name)->range;
  }
  for (auto [setting, range] :
       llvm::zip_equal(info.job.search.settings, info.searchedTexts))
    if (setting.name == name)
      place = range;
  if (text.empty())
    diagnostics.error(place, name);
  else
    diagnostics.error(place, "'" + name + "': " + text);
}

/// Determines the number of trials.
void JobAnalyzer::countTrials() {
  SearchSampler &sampler = info.job.search.sampler;
  bool isGiven = info.trialsRange.isValid();
  bool isGrid = sampler.kind == kGrid;
  bool isHyperband = info.job.search.rule.kind == kHyperband;
  if (isGrid && isHyperband)
    return diagnostics.error(info.ruleRange,
                             "'grid' and 'hyperband' exclude each other",
                             "each says itself how many trials there are");
  int64_t own = hfta_search_own_trials(SearchTable(info.job));
  if (own < 0)
    return diagnostics.error(info.train->find("search")->range,
                             "the lists have more than 2^31 combinations",
                             "lists are crossed; zip(...) pairs them instead");
  if (isHyperband && isGiven)
    return diagnostics.error(
        info.trialsRange,
        "'hyperband' says itself how many trials there are" +
            (own > 0 ? ", here " + std::to_string(own) : std::string()),
        "leave 'trials' out");
  if (isGrid || isHyperband)
    sampler.trials = std::max<int64_t>(own, 1);
  else if (!isGiven)
    diagnostics.error(info.train->find("search")->range,
                      "'" + sampler.kind + "' needs 'trials'",
                      "for example " + sampler.kind + "(trials = 32)");
}

/// Returns whether a trial with these settings is trained in the job's array.
static bool isOfArray(const Search &search, llvm::ArrayRef<double> values) {
  return llvm::all_of(llvm::zip_equal(search.settings, values),
                      [](const auto &pair) {
                        const auto &[setting, value] = pair;
                        return !setting.isPacked || setting.own == value;
                      });
}

/// Draws settings of the first trials, as many as there are slots, that are
/// trained in the job's array. Where settings depend on scores, they are an
/// example. Returns false after an error.
bool JobAnalyzer::drawSlots(int64_t slots,
                            std::vector<std::vector<double>> &drawn) {
  const Search &search = info.job.search;
  SearchTable table(info.job);
  std::vector<double> values(search.settings.size());
  int64_t most = std::min(search.sampler.trials, kMostExamples);
  for (int64_t trial = 0;
       trial < most && static_cast<int64_t>(drawn.size()) < slots; ++trial) {
    hfta_error error;
    if (hfta_search_example(table, trial, values.data(), &error) != HFTA_OK) {
      reportSearch(error);
      return false;
    }
    if (isOfArray(search, values))
      drawn.push_back(values);
  }
  // Trials that are added while the search runs may need the array.
  if (drawn.empty())
    drawn.push_back(values);
  // Which array trials need isn't known where scores, or users, decide.
  bool isKnown =
      search.sampler.kind != kTpe && search.sampler.kind != kExternal;
  int64_t wanted = std::min(slots, search.sampler.trials);
  for (size_t i = 0; !isKnown && static_cast<int64_t>(drawn.size()) < wanted;
       ++i)
    drawn.push_back(drawn[i]);
  return true;
}

/// Makes as many copies as there are slots.
void JobAnalyzer::makeSlots() {
  Job &job = info.job;
  int64_t slots =
      job.searchSlots == Job::kAuto ? options.automaticSlots : job.searchSlots;
  std::vector<std::vector<double>> drawn;
  if (!drawSlots(slots, drawn))
    return;
  job.copies = static_cast<int64_t>(drawn.size());
  info.sweep.repeat(job.copies);
  for (auto [index, setting] : llvm::enumerate(job.search.settings)) {
    if (setting.isPacked)
      continue;
    std::vector<Number> numbers;
    for (const std::vector<double> &values : drawn) {
      double value = values[index];
      numbers.push_back(Number::of(value));
      if (value == std::trunc(value) && std::abs(value) < 0x1p53)
        numbers.back().integer = static_cast<int64_t>(value);
    }
    info.sweep.assign(setting.name, std::move(numbers));
  }
}

/// Notes what may not be meant so.
void JobAnalyzer::noteSearch() {
  const Search &search = info.job.search;
  SearchTable table(info.job);
  hfta_search_size size;
  hfta_search_measure(table, &size);
  if (size.is_uneven)
    info.notes.push_back(
        {"the last level, " + std::to_string(info.job.epochs) +
             " epochs, is less than eta times the one before, " +
             std::to_string(hfta_search_level(table, size.rungs - 2)) +
             "; grace * eta^k would be even",
         info.ruleRange});
  int64_t trials = search.sampler.trials;
  if (search.sampler.kind == "sobol" && !llvm::isPowerOf2_64(trials))
    info.notes.push_back(
        {"points of 'sobol' are most even if their number is a power of two, "
         "got " +
             std::to_string(trials),
         info.trialsRange.isValid() ? info.trialsRange : info.ruleRange});
}

/// Makes the copies of a job with a search.
void JobAnalyzer::makeTrials() {
  checkSearchClauses();
  if (diagnostics.hasErrors() || !info.sweep.checkPairs(diagnostics))
    return;
  collectSearched();
  checkSearched();
  checkSearchedPreconditioner();
  if (diagnostics.hasErrors())
    return;
  hfta_error error;
  if (hfta_search_check_settings(SearchTable(info.job), &error) != HFTA_OK)
    return reportSearch(error);
  countTrials();
  if (diagnostics.hasErrors())
    return;
  if (hfta_search_check(SearchTable(info.job), &error) != HFTA_OK)
    return reportSearch(error);
  makeSlots();
  assignFiles();
  noteSearch();
}
