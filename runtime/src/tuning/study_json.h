//===- study_json.h - A study's trials as JSON ------------------*- C -*-===//

#ifndef HFTA_SRC_TUNING_STUDY_JSON_H
#define HFTA_SRC_TUNING_STUDY_JSON_H

#include "hfta/json.h"
#include "tuning/study.h"

/// Returns the last decision about a trial; NULL if there is none.
const hfta_decision *hfta_study_last_decision(const hfta_study *study,
                                              int64_t trial);

/// Returns a word for a trial's state, which is static.
const char *hfta_study_state_word(const hfta_study *study, int64_t trial);

/// Returns the epochs that a trial's score is of: the fewest of its folds'.
int64_t hfta_study_scored_epochs(const hfta_study *study, int64_t trial);

/// Writes a trial as an object: its state, score, lineage and evaluations.
void hfta_study_put_trial(const hfta_study *study, int64_t trial,
                          hfta_json_writer *writer);

#endif // HFTA_SRC_TUNING_STUDY_JSON_H
