//===- study_lines.h - What a study says to its journal ---------*- C -*-===//

#ifndef HFTA_SRC_TUNING_STUDY_LINES_H
#define HFTA_SRC_TUNING_STUDY_LINES_H

#include "hfta/json.h"
#include "tuning/study.h"

/// Says that a trial begins with its settings.
hfta_status hfta_study_say_trial(hfta_study *self, int64_t trial,
                                 hfta_error *error);

/// Says that a trial goes on with another one's state.
hfta_status hfta_study_say_clone(hfta_study *self, int64_t trial,
                                 hfta_error *error);

/// Says what has been decided about a trial.
hfta_status hfta_study_say_decision(hfta_study *self,
                                    const hfta_decision *decision,
                                    hfta_error *error);

/// Writes an object with a value for each setting.
void hfta_study_put_settings(const hfta_study *self, const double *values,
                             hfta_json_writer *writer);

#endif // HFTA_SRC_TUNING_STUDY_LINES_H
