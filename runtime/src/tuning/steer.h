//===- steer.h - Follows the requests of users ------------------*- C -*-===//

#ifndef HFTA_SRC_TUNING_STEER_H
#define HFTA_SRC_TUNING_STEER_H

#include "tuning/study_requests.h"
#include "tuning/tuner_impl.h"

/// Follows all requests that clients have sent, and answers them; waits up to
/// `milliseconds` for the first one. Called between two epochs, when all runs
/// are where they have been evaluated. All ranks make the call.
hfta_status hfta_tuner_steer(hfta_tuner *self, int milliseconds);

/// Checks and follows a request. If it can't be followed, `reason` says why,
/// and nothing is changed; else its code is HFTA_OK. `*added` is as for
/// hfta_study_follow.
hfta_status hfta_tuner_ask(hfta_tuner *self, const hfta_request *request,
                           hfta_added *added, hfta_error *reason);

/// Sends what the journal says since the last call to all clients, and writes
/// it to the log.
hfta_status hfta_tuner_publish(hfta_tuner *self);

#endif // HFTA_SRC_TUNING_STEER_H
