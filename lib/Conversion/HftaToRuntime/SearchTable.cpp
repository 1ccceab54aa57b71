//===- SearchTable.cpp - Validation and search of a program ---------------===//
//
// Fills the structs of runtime/include/hfta/search.h, member by member.
//===----------------------------------------------------------------------===//

#include "SearchTable.h"

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Dialect/Hfta/Job/JobSearch.h"

using namespace mlir;
using namespace mlir::hfta;

StructRecord<hfta_validation> hfta::makeValidationRecord(const Job &job) {
  hfta_validation validation = getValidation(job);
  return StructRecord<hfta_validation>()
      .set(&hfta_validation::share, validation.share)
      .set(&hfta_validation::folds, validation.folds)
      .set(&hfta_validation::seed, validation.seed)
      .set(&hfta_validation::every, validation.every)
      .set(&hfta_validation::by_metric, validation.by_metric)
      .set(&hfta_validation::direction, validation.direction)
      .set(&hfta_validation::keeps_best, validation.keeps_best)
      .set(&hfta_validation::is_external, validation.is_external)
      .set(&hfta_validation::patience, validation.patience)
      .set(&hfta_validation::least, validation.least)
      .set(&hfta_validation::minutes, validation.minutes);
}

/// Returns the table of the texts of a setting's choices; null if these are
/// numbers.
static FlatSymbolRefAttr buildLabels(const SearchSetting &setting,
                                     ConstantTables &tables) {
  std::vector<Record> labels;
  for (const std::string &label : setting.labels)
    labels.push_back({Field::pointer(tables.string(label))});
  return tables.table("choice_labels", labels);
}

static FlatSymbolRefAttr buildSettings(const Job &job, ConstantTables &tables) {
  std::vector<Record> rows;
  for (auto [own, setting] :
       llvm::zip_equal(job.search.settings, getSearchSettings(job)))
    rows.push_back(
        StructRecord<hfta_search_setting>()
            .set(&hfta_search_setting::name, tables.string(setting.name))
            .set(&hfta_search_setting::distribution, setting.distribution)
            .set(&hfta_search_setting::is_packed, setting.is_packed)
            .set(&hfta_search_setting::low, setting.low)
            .set(&hfta_search_setting::high, setting.high)
            .set(&hfta_search_setting::step, setting.step)
            .set(&hfta_search_setting::choices,
                 tables.doubles("choices", ArrayRef(setting.choices,
                                                    static_cast<size_t>(
                                                        setting.choice_count))))
            .set(&hfta_search_setting::choice_count, setting.choice_count)
            .set(&hfta_search_setting::labels, buildLabels(own, tables))
            .set(&hfta_search_setting::zip, setting.zip)
            .set(&hfta_search_setting::own, setting.own));
  return tables.table("search_settings", rows);
}

static StructRecord<hfta_sampler> makeSampler(const hfta_sampler &sampler) {
  return StructRecord<hfta_sampler>()
      .set(&hfta_sampler::kind, sampler.kind)
      .set(&hfta_sampler::direction, sampler.direction)
      .set(&hfta_sampler::seed, sampler.seed)
      .set(&hfta_sampler::startup, sampler.startup)
      .set(&hfta_sampler::batch, sampler.batch);
}

/// Makes a rule whose units are the number of epochs that the program gets when
/// it runs.
static StructRecord<hfta_rule> makeRule(const hfta_rule &rule) {
  return StructRecord<hfta_rule>()
      .set(&hfta_rule::kind, rule.kind)
      .set(&hfta_rule::direction, rule.direction)
      .set(&hfta_rule::units, 0)
      .set(&hfta_rule::grace, rule.grace)
      .set(&hfta_rule::eta, rule.eta)
      .set(&hfta_rule::workers, rule.workers)
      .set(&hfta_rule::every, rule.every)
      .set(&hfta_rule::percentile, rule.percentile)
      .set(&hfta_rule::quantile, rule.quantile)
      .set(&hfta_rule::resample, rule.resample)
      .set(&hfta_rule::factors, rule.factors)
      .set(&hfta_rule::seed, rule.seed);
}

FlatSymbolRefAttr hfta::buildSearch(const Job &job, ConstantTables &tables) {
  if (!job.hasSearch())
    return {};
  Record row =
      StructRecord<hfta_search>()
          .set(&hfta_search::settings, buildSettings(job, tables))
          .set(&hfta_search::setting_count,
               static_cast<int64_t>(job.search.settings.size()))
          .set(&hfta_search::trials, job.search.sampler.trials)
          .set(&hfta_search::sampler, makeSampler(getSampler(job)))
          .set(&hfta_search::rule, makeRule(getRule(job)))
          .set(&hfta_search::array_count, job.search.arrays)
          .set(&hfta_search::array, job.search.array)
          .set(&hfta_search::commands, tables.external(kSearchCommandsSymbol));
  return tables.table("search", row);
}
