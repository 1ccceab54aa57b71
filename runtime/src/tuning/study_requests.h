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

/// The trials that a request has added, or given settings.
typedef struct hfta_added {
  int64_t *trials; ///< their numbers
  int64_t count;
} hfta_added;
void hfta_added_free(hfta_added *self);

/// Follows a request that has been checked. `*added` must be released by
/// hfta_added_free, also after a failure. Afterwards hfta_study_advance has to
/// be called.
hfta_status hfta_study_follow(hfta_study *self, const hfta_request *request,
                              hfta_added *added, hfta_error *error);

/// Follows the command of line `number` of the journal, whose object has the
/// text `members` after its event.
hfta_status hfta_study_repeat(hfta_study *self, const char *members,
                              int64_t number, hfta_error *error);

#endif // HFTA_SRC_TUNING_STUDY_REQUESTS_H
