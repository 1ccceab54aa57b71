//===- facts.h - What identifies a search -----------------------*- C -*-===//

#ifndef HFTA_SRC_TUNING_FACTS_H
#define HFTA_SRC_TUNING_FACTS_H

#include "tuning/journal.h"

#include "hfta/program.h"

/// The facts that all runs of a search have in common. They begin its journal,
/// so that a folder isn't used for another search by mistake.
typedef struct hfta_facts {
  hfta_journal_fact *list;
  int64_t count;
  char **owned; ///< texts of the list that were allocated for it
  int64_t owned_count;
} hfta_facts;

/// The facts that aren't in the program.
typedef struct hfta_facts_of_run {
  int64_t trials, epochs;
  int64_t
      samples; ///< number of training samples, those for validation included
  int64_t steps_per_epoch[HFTA_MOST_ARRAYS]; ///< each array's
} hfta_facts_of_run;

/// Finds the facts of a search whose arrays have these programs, as many as the
/// first one says. `out` must be released by hfta_facts_free, also after a
/// failure.
hfta_status hfta_facts_find(const hfta_program *const *arrays,
                            const hfta_facts_of_run *run, hfta_facts *out,
                            hfta_error *error);

/// Returns the number of trials with which a journal's search began; 0 if it
/// doesn't say so.
int64_t hfta_facts_trials(const hfta_journal *journal);

/// Reads the facts of a run from a journal, and compares all with it. Fails
/// with HFTA_INVALID_INPUT if the journal isn't of the programs' search.
hfta_status hfta_facts_read(const hfta_program *const *arrays,
                            const hfta_journal *journal, const char *path,
                            hfta_facts_of_run *out, hfta_error *error);
void hfta_facts_free(hfta_facts *self);

/// Returns a setting's distribution as the job writes it, such as
/// "log_uniform(0.0001, 0.1)"; the caller frees it. NULL if there isn't enough
/// memory.
char *hfta_setting_text(const hfta_search_setting *setting);

/// Returns the choice of a packed setting that its program's array has; as
/// above.
char *hfta_own_text(const hfta_search_setting *setting);

/// Return a sampler, without the number of trials, and a rule as the job writes
/// them; as above.
char *hfta_sampler_text(const hfta_sampler *sampler);
char *hfta_rule_text(const hfta_rule *rule);

#endif // HFTA_SRC_TUNING_FACTS_H
