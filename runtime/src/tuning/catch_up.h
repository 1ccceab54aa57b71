//===- catch_up.h - Brings a study to where its journal ends ----*- C -*-===//

#ifndef HFTA_SRC_TUNING_CATCH_UP_H
#define HFTA_SRC_TUNING_CATCH_UP_H

#include "tuning/study.h"

/// Brings the study to where its journal ends: adds evaluations and follows
/// commands, in the journal's order. Fails with HFTA_INVALID_INPUT if a line
/// can't be of this search.
hfta_status hfta_study_catch_up(hfta_study *self, hfta_error *error);

#endif // HFTA_SRC_TUNING_CATCH_UP_H
