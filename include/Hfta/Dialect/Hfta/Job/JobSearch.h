//===- JobSearch.h - A job's validation and search --------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBSEARCH_H
#define HFTA_DIALECT_HFTA_JOB_JOBSEARCH_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "hfta/search.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Checks the settings of validation. Returns an error message, or an empty
/// string.
std::string checkValidation(const Job &job);
/// Checks those properties of a job's search, if it has one, that the functions
/// below and the runtime's tables rely on. The numbers of its sampler and rule
/// and its distributions are left to the functions of the runtime. Returns an
/// error message, or an empty string.
std::string checkSearch(const Job &job);

// The structs of hfta/search.h for a job. All but getValidation need a job that
// has a search; texts and lists belong to the job. `labels` aren't filled.
hfta_validation getValidation(const Job &job);
hfta_sampler getSampler(const Job &job);
/// Returns the rule, with the number of epochs as its units.
hfta_rule getRule(const Job &job);
std::vector<hfta_search_setting> getSearchSettings(const Job &job);

/// The search of a job as the runtime's functions take it. The job must outlive
/// it.
class SearchTable {
public:
  explicit SearchTable(const Job &job)
      : settings(getSearchSettings(job)),
        search{settings.data(),
               static_cast<int64_t>(settings.size()),
               job.search.sampler.trials,
               getSampler(job),
               getRule(job),
               job.search.arrays,
               job.search.array,
               nullptr} {}
  SearchTable(const SearchTable &) = delete;
  SearchTable &operator=(const SearchTable &) = delete;

  operator const hfta_search *() const { return &search; }
  const hfta_search *operator->() const { return &search; }

private:
  std::vector<hfta_search_setting> settings;
  hfta_search search;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBSEARCH_H
