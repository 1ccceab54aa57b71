//===- study_requests.h - Requests that change a study ----------*- C -*-===//

#ifndef HFTA_SRC_TUNING_STUDY_REQUESTS_H
#define HFTA_SRC_TUNING_STUDY_REQUESTS_H

#include "tuning/request.h"
#include "tuning/study.h"

/// Returns whether a kind of request changes the study, so that it has to be in
/// the journal.
bool hfta_study_is_changed_by(hfta_request_kind kind);

/// Checks whether a request can be followed now. Fails with HFTA_INVALID_INPUT
/// or HFTA_UNSUPPORTED, and a message for the user.
hfta_status hfta_study_check(const hfta_study *self,
                             const hfta_request *request, hfta_error *error);

/// Follows a request that has been checked. `*added` becomes the number of the
/// first trial that it adds, HFTA_NO_TRIAL if it adds none. Afterwards
/// hfta_study_advance has to be called.
hfta_status hfta_study_follow(hfta_study *self, const hfta_request *request,
                              int64_t *added, hfta_error *error);

/// Follows the command of line `number` of the journal, whose object has the
/// text `members` after its event.
hfta_status hfta_study_repeat(hfta_study *self, const char *members,
                              int64_t number, hfta_error *error);

#endif // HFTA_SRC_TUNING_STUDY_REQUESTS_H
