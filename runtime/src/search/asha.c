//===- asha.c - Asynchronous successive halving in virtual time -----------===//

#include "search/asha.h"

#include <math.h>

static hfta_score *scores_of_rung(hfta_trials *self, int64_t rung) {
  return self->recorded + rung * self->count;
}

/// Writes a decision about the trial of a rank at a rung. The first `kept` of
/// the rung's trials are those that may go on.
static const hfta_decision *note(hfta_trials *self, int64_t rung, int64_t rank,
                                 int64_t kept, hfta_verdict verdict) {
  const hfta_score *scores = scores_of_rung(self, rung);
  int64_t count = self->recorded_counts[rung];
  hfta_decision *decision = &self->decisions[self->decision_count++];
  *decision = (hfta_decision){.trial = scores[rank].trial,
                              .level = self->levels[rung],
                              .verdict = verdict,
                              .score = scores[rank].value,
                              .rank = rank,
                              .compared = count,
                              .kept = kept,
                              .rival = HFTA_NO_TRIAL,
                              .bound = NAN};
  int64_t rival = rank == kept - 1 ? kept : kept - 1;
  bool is_compared =
      verdict == HFTA_VERDICT_GOES_ON || verdict == HFTA_VERDICT_DROPPED;
  if (is_compared && rival >= 0 && rival < count) {
    decision->rival = scores[rival].trial;
    decision->bound = scores[rival].value;
  }
  return decision;
}

//===----------------------------------------------------------------------===//
// Legs
//===----------------------------------------------------------------------===//

static void start(hfta_trials *self, hfta_virtual_worker *worker,
                  int64_t number, int64_t rung) {
  hfta_trial *trial = &self->trials[number];
  trial->state = HFTA_TRIAL_WAITS;
  trial->rung = rung;
  trial->has_score = false;
  trial->order = self->issued++;
  trial->tick = self->tick;
  if (rung == 0)
    trial->begin = self->tick;
  worker->trial = number;
  worker->end =
      self->tick + self->levels[rung] - (rung > 0 ? self->levels[rung - 1] : 0);
}

/// Returns the rank of the best trial at a rung that can be promoted, among the
/// first `kept`; -1 if there is none.
static int64_t find_promotable(hfta_trials *self, int64_t rung, int64_t kept) {
  const hfta_score *scores = scores_of_rung(self, rung);
  for (int64_t i = 0; i < kept && i < self->recorded_counts[rung]; ++i) {
    const hfta_trial *trial = &self->trials[scores[i].trial];
    if (trial->rung == rung && trial->state == HFTA_TRIAL_HELD &&
        isfinite(scores[i].value))
      return i;
  }
  return -1;
}

static void promote(hfta_trials *self, hfta_virtual_worker *worker,
                    int64_t rung, int64_t rank, int64_t kept) {
  note(self, rung, rank, kept, HFTA_VERDICT_GOES_ON);
  start(self, worker, scores_of_rung(self, rung)[rank].trial, rung + 1);
}

/// Gives a free worker a leg. Returns whether there was one.
static bool assign(hfta_trials *self, hfta_virtual_worker *worker) {
  for (int64_t rung = self->rungs - 2; rung >= 0; --rung) {
    int64_t kept = self->recorded_counts[rung] / self->rule.eta;
    int64_t rank = find_promotable(self, rung, kept);
    if (rank < 0)
      continue;
    promote(self, worker, rung, rank, kept);
    return true;
  }
  while (self->next_trial < self->count) {
    int64_t number = self->next_trial++;
    if (self->trials[number].state != HFTA_TRIAL_AHEAD)
      continue;
    start(self, worker, number, 0);
    return true;
  }
  return false;
}

/// Promotes the best trial of the highest rung that has one left, when no
/// worker has anything to do. Then all trials that come here have their scores,
/// and of those only the first max(1, floor(n / eta)) haven't been dropped. So
/// it is the first one of a rung with fewer than `eta` scores. Returns whether
/// there was one.
static bool promote_last(hfta_trials *self) {
  for (int64_t rung = self->rungs - 2; rung >= 0; --rung) {
    int64_t rank = find_promotable(self, rung, self->recorded_counts[rung]);
    if (rank < 0)
      continue;
    promote(self, &self->workers[0], rung, rank, rank + 1);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Records the score of a trial at its rung.
static void record(hfta_trials *self, int64_t number) {
  hfta_trial *trial = &self->trials[number];
  int64_t rung = trial->rung, rank = self->recorded_counts[rung]++;
  hfta_score *scores = scores_of_rung(self, rung);
  hfta_score score = {number, trial->score};
  self->recorded_ticks[number * self->rungs + rung] = self->tick;
  for (; rank > 0 &&
         hfta_score_precedes(self->rule.direction, score, scores[rank - 1]);
       --rank)
    scores[rank] = scores[rank - 1];
  scores[rank] = score;
}

/// Writes the decision about a trial that has ended by its score at a tick at
/// which all scores have been recorded.
static void note_end(hfta_trials *self, int64_t number) {
  hfta_trial *trial = &self->trials[number];
  bool is_finite = isfinite(trial->score);
  if (hfta_trial_has_ended(trial) ||
      (is_finite && trial->rung < self->rungs - 1))
    return;
  int64_t rank = 0, kept = self->recorded_counts[trial->rung];
  while (scores_of_rung(self, trial->rung)[rank].trial != number)
    ++rank;
  if (trial->rung < self->rungs - 1)
    kept /= self->rule.eta;
  hfta_trial_apply(
      trial, note(self, trial->rung, rank, kept,
                  is_finite ? HFTA_VERDICT_COMPLETE : HFTA_VERDICT_FAILED));
}

/// Returns how many trials may have a score at a rung in the end: those that
/// have one, and all at it or below it that haven't ended. Whether the score of
/// a leg that ends later in virtual time is known already must not matter.
static int64_t most_compared(hfta_trials *self, int64_t rung) {
  int64_t most = self->recorded_counts[rung];
  for (int64_t i = 0; i < self->count; ++i)
    most +=
        self->trials[i].rung <= rung && !hfta_trial_has_ended(&self->trials[i]);
  for (int64_t i = 0; i < self->recorded_counts[rung]; ++i) {
    const hfta_trial *trial =
        &self->trials[scores_of_rung(self, rung)[i].trial];
    most -= trial->rung <= rung && !hfta_trial_has_ended(trial);
  }
  return most;
}

/// Drops trials that can't get among the top of their rungs any more, or, at
/// the end of the search, all that are left.
static void drop(hfta_trials *self, bool is_end) {
  for (int64_t rung = 0; rung < self->rungs - 1; ++rung) {
    int64_t count = self->recorded_counts[rung];
    int64_t kept =
        hfta_rule_kept(&self->rule, is_end ? count : most_compared(self, rung));
    for (int64_t i = is_end ? 0 : kept; i < count; ++i) {
      hfta_trial *trial = &self->trials[scores_of_rung(self, rung)[i].trial];
      if (trial->rung == rung && trial->state == HFTA_TRIAL_HELD)
        hfta_trial_apply(trial,
                         note(self, rung, i, kept, HFTA_VERDICT_DROPPED));
    }
  }
}

/// Returns the next time when a worker is done, or -1 if all are free.
static int64_t find_end(const hfta_trials *self) {
  int64_t end = -1;
  for (int64_t i = 0; i < self->rule.workers; ++i) {
    const hfta_virtual_worker *worker = &self->workers[i];
    if (worker->trial != HFTA_NO_TRIAL && (end < 0 || worker->end < end))
      end = worker->end;
  }
  return end;
}

/// Returns whether a worker is done at a time.
static bool is_done(const hfta_virtual_worker *worker, int64_t end) {
  return worker->trial != HFTA_NO_TRIAL && worker->end == end;
}

/// Records all results that end at a time, and frees their workers. Returns
/// false, and changes nothing, if one of them isn't known yet.
static bool record_all(hfta_trials *self, int64_t end) {
  for (int64_t i = 0; i < self->rule.workers; ++i) {
    if (!is_done(&self->workers[i], end))
      continue;
    const hfta_trial *trial = &self->trials[self->workers[i].trial];
    if (!trial->has_score && trial->state != HFTA_TRIAL_WITHDRAWN)
      return false;
  }
  self->tick = end;
  for (int64_t i = 0; i < self->rule.workers; ++i)
    if (is_done(&self->workers[i], end) &&
        self->trials[self->workers[i].trial].has_score)
      record(self, self->workers[i].trial);
  for (int64_t i = 0; i < self->rule.workers; ++i) {
    hfta_virtual_worker *worker = &self->workers[i];
    if (!is_done(worker, end))
      continue;
    if (self->trials[worker->trial].has_score)
      note_end(self, worker->trial);
    worker->trial = HFTA_NO_TRIAL;
  }
  return true;
}

void hfta_asha_advance(hfta_trials *self) {
  for (;;) {
    for (int64_t i = 0; i < self->rule.workers; ++i)
      if (self->workers[i].trial == HFTA_NO_TRIAL &&
          !assign(self, &self->workers[i]))
        break;
    int64_t end = find_end(self);
    if (end < 0 && promote_last(self))
      continue;
    if (end < 0 || !record_all(self, end))
      break;
    drop(self, false);
  }
  if (find_end(self) < 0)
    drop(self, true);
}
