//===- JobSearch.cpp - A job's validation and search ----------------------===//

#include "Hfta/Dialect/Hfta/Job/JobSearch.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"

#include "hfta/settings.h"

using namespace mlir;
using namespace mlir::hfta;

bool Job::hasValidation() const {
  return validationShare > 0 || validationFolds > 0 ||
         llvm::any_of(data, [](const DataField &field) {
           return !field.validation.format.empty();
         });
}

bool Job::isSearched(StringRef name) const {
  return hasSearch() &&
         llvm::any_of(search.settings, [&](const SearchSetting &setting) {
           return setting.name == name;
         });
}

std::string SearchSetting::getOwnText() const {
  return labels.empty() ? printNumber(own) : labels[static_cast<size_t>(own)];
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Checks that a setting that was given is in its range. Returns an error
/// message, or an empty string.
template <typename T>
static std::string checkInRange(StringRef name, T value, T initial) {
  const NumberRange &range = findSetting(name)->range;
  if (value == initial || range.contains(static_cast<double>(value), true))
    return "";
  return ("'" + name + "' must be " + range.describe()).str();
}

std::string hfta::checkValidation(const Job &job) {
  for (const std::string &error :
       {checkInRange("validation_share", job.validationShare, 0.0),
        checkInRange("validation_folds", job.validationFolds, int64_t(0)),
        checkInRange("objective_every", job.objectiveEvery, int64_t(1)),
        checkInRange("keep_patience", job.keepPatience, int64_t(0)),
        checkInRange("keep_least", job.keepLeast, 0.0),
        checkInRange("minutes", job.minutes, 0.0)})
    if (!error.empty())
      return error;
  bool hasFiles = false, lacksFiles = false;
  for (const DataField &field : job.data)
    if (field.kind == HFTA_DATA_FIELD_FILE)
      (field.validation.format.empty() ? lacksFiles : hasFiles) = true;
  if (hasFiles && lacksFiles)
    return "'data' must have validation files for all fields or for none";
  if ((job.validationShare > 0) + (job.validationFolds > 0) + hasFiles > 1)
    return "'validation_share', 'validation_folds' and files for validation "
           "exclude each other";
  if (job.validationFolds > 0 && !job.hasSearch())
    return "'validation_folds' needs a search";
  int64_t metrics = static_cast<int64_t>(job.metrics.size());
  if (job.scoresByMetric < 0 || job.scoresByMetric > metrics)
    return "'scores_by_metric' must be the number of one of 'metrics'";
  for (const JobMetric &metric : job.metrics)
    if (metric.classes < 1)
      return "'classes' of metric '" + metric.name + "' must be at least 1";
  if (job.scoresAreExternal &&
      (!job.hasSearch() || job.scoresByMetric || job.keep != "last" ||
       job.keepPatience > 0 || job.validationFolds > 0))
    return "'scores_are_external' needs a search without 'scores_by_metric', "
           "'keep', 'keep_patience' and 'validation_folds'";
  bool isUsed =
      job.scoresByMetric || job.keep != "last" || job.keepPatience > 0;
  if (isUsed && !job.hasValidation())
    return "'scores_by_metric', 'keep' and 'keep_patience' need validation "
           "data";
  return "";
}

/// Checks a number that a search varies. Returns an error message, or an empty
/// string.
static std::string checkSearched(const Job &job, const SearchSetting &setting) {
  bool isNumber =
      setting.name == "seed" || job.findHyperParameter(setting.name);
  if (!isNumber && !setting.isPacked)
    return "the search varies '" + setting.name +
           "', which is no hyper-parameter";
  if (setting.distribution == HFTA_CHOICE && setting.choices.empty())
    return "the search has no choices for '" + setting.name + "'";
  for (auto [index, choice] : llvm::enumerate(setting.choices))
    if (!setting.labels.empty() && choice != static_cast<double>(index))
      return "choices of '" + setting.name +
             "' that have labels must be their indices";
  if (!setting.labels.empty() &&
      (!setting.isPacked || setting.labels.size() != setting.choices.size()))
    return "'" + setting.name + "' must have a label for each choice";
  if (setting.isPacked && (setting.distribution != HFTA_CHOICE ||
                           !llvm::is_contained(setting.choices, setting.own)))
    return "'own' of '" + setting.name + "' must be one of its choices";
  return "";
}

std::string hfta::checkSearch(const Job &job) {
  if (!job.hasSearch())
    return "";
  const Search &search = job.search;
  if (!findByName(getSamplers(), search.sampler.kind))
    return "unknown sampler '" + search.sampler.kind + "'";
  if (!findByName(getRules(), search.rule.kind))
    return "unknown rule '" + search.rule.kind + "'";
  if (search.rule.factors.size() != 2)
    return "'factors' of the rule must be two numbers";
  if (!job.training || job.epochs < 1 || !job.hasValidation())
    return "a search needs a training with 'epochs' and validation data";
  if (search.settings.empty())
    return "the search varies nothing";
  if (search.arrays < 1 || search.array < 0 || search.array >= search.arrays)
    return "'array' of the search must be below 'arrays'";
  if (job.copies > search.sampler.trials)
    return "there must be at most as many copies as the search has trials";
  for (const SearchSetting &setting : search.settings)
    if (std::string error = checkSearched(job, setting); !error.empty())
      return error;
  return "";
}

//===----------------------------------------------------------------------===//
// The runtime's structs
//===----------------------------------------------------------------------===//

static hfta_direction getDirection(const Job &job) {
  bool isHigherBetter = job.scoresAreExternal ? job.externalIsHigherBetter
                        : job.scoresByMetric > 0
                            ? job.metrics[job.scoresByMetric - 1].isHigherBetter
                            : false;
  return isHigherBetter ? HFTA_MAXIMIZE : HFTA_MINIMIZE;
}

hfta_validation hfta::getValidation(const Job &job) {
  hfta_validation validation = {};
  validation.share = job.validationShare;
  validation.folds = job.validationFolds;
  validation.seed = job.validationSeed;
  validation.every = job.objectiveEvery;
  validation.by_metric = job.scoresByMetric;
  validation.is_external = job.scoresAreExternal;
  validation.direction = getDirection(job);
  validation.keeps_best = job.keep == "best";
  validation.patience = job.keepPatience;
  validation.least = job.keepLeast;
  validation.minutes = job.minutes;
  return validation;
}

hfta_sampler hfta::getSampler(const Job &job) {
  const SearchSampler &settings = job.search.sampler;
  hfta_sampler sampler = {};
  sampler.kind = findByName(getSamplers(), settings.kind)->code;
  sampler.direction = getDirection(job);
  sampler.seed = static_cast<uint64_t>(settings.seed);
  sampler.startup = settings.startup;
  sampler.batch = settings.batch;
  return sampler;
}

hfta_rule hfta::getRule(const Job &job) {
  const SearchRule &settings = job.search.rule;
  hfta_rule rule = {};
  rule.kind = findByName(getRules(), settings.kind)->code;
  rule.direction = getDirection(job);
  rule.units = job.epochs;
  rule.grace = settings.grace;
  rule.eta = settings.eta;
  rule.workers = settings.workers;
  rule.every = settings.every;
  rule.percentile = settings.percentile;
  rule.quantile = settings.quantile;
  rule.resample = settings.resample;
  rule.factors[0] = settings.factors[0];
  rule.factors[1] = settings.factors[1];
  rule.seed = static_cast<uint64_t>(settings.seed);
  return rule;
}

std::vector<hfta_search_setting> hfta::getSearchSettings(const Job &job) {
  std::vector<hfta_search_setting> settings;
  for (const SearchSetting &setting : job.search.settings) {
    hfta_search_setting row = {};
    row.name = setting.name.c_str();
    row.distribution = setting.distribution;
    row.low = setting.low;
    row.high = setting.high;
    row.step = setting.step;
    row.choices = setting.choices.data();
    row.choice_count = static_cast<int64_t>(setting.choices.size());
    row.zip = setting.zip;
    row.is_packed = setting.isPacked;
    row.own = setting.own;
    settings.push_back(row);
  }
  return settings;
}
