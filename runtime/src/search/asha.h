//===- asha.h - Asynchronous successive halving in virtual time -*- C -*-===//
//
// Algorithm 2 of "A system for massively parallel hyperparameter tuning" (Li et
// al., 2018), with virtual workers. A worker needs one tick of virtual time for
// each unit. At a tick, first all results that end there are recorded. Then
// each free worker, in the order of numbers, takes a leg: from the highest rung
// down, the best trial that hasn't been promoted among the top floor(n / eta)
// of the n that have a score at the rung; if there is none, a new trial.
//
// Decisions depend on virtual time alone, so that real legs may be trained in
// any order and any number at a time: virtual time waits for the scores that it
// needs. Unlike in the paper, the number of trials is given, which has two
// consequences:
// - a trial that can't get among the top any more, however the rest turn out,
//   is dropped;
// - when no worker has anything to do, a rung with fewer than eta scores
//   promotes its best trial, as max(1, floor(n / eta)) does in waves. Else a
//   search with few trials would end without a complete one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_ASHA_H
#define HFTA_SRC_SEARCH_ASHA_H

#include "search/trial_table.h"

/// Lets the virtual workers take legs, and continues virtual time as far as the
/// scores that are known allow. Called at the beginning, and whenever a trial
/// has got a score or has been withdrawn.
void hfta_asha_advance(hfta_trials *self);

#endif // HFTA_SRC_SEARCH_ASHA_H
