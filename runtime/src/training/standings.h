//===- standings.h - How copies stand by their evaluations --------*- C -*-===//
//
// A training that goes by the scores of its evaluations must remember each
// copy's best score and how long it has waited for a better one, and one with a
// limit of minutes the time that was spent computing. Checkpoints hold this in
// a file beside those of the copies, "training.safetensors":
//
//   __metadata__    format "hfta-training", version "1", checksum,
//                   evaluated_step, and seconds (the bits of an f64 in
//                   hexadecimal)
//   best_score      f64, one per copy
//   best_step       i64, the step of that score; 0: none yet
//   waited          i64, evaluations since then
//   stopped_after   i64, the step after which patience has ended; 0: it hasn't
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_STANDINGS_H
#define HFTA_SRC_TRAINING_STANDINGS_H

#include "hfta/communicator.h"
#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

/// The state. Arrays have one element per copy.
typedef struct hfta_standings {
  int64_t copies;
  int64_t evaluated_step; ///< step of the last evaluation that counts; 0: none
  double seconds;         ///< time spent computing
  double *best_scores;
  int64_t *best_steps;
  int64_t *waited;
  int64_t *stopped_after;
} hfta_standings;

/// Allocates the arrays. HFTA_UNSUPPORTED if there isn't enough memory. Must be
/// released by hfta_standings_close, also after a failure.
hfta_status hfta_standings_open(hfta_standings *self, int64_t copies,
                                hfta_error *error);
void hfta_standings_close(hfta_standings *self);

/// Notes the results of an evaluation after step number `step` for the copies
/// for which `runs` is true; `metrics` may be NULL if scores are losses. A copy
/// whose patience ends gets `stopped_after` set to this step. With `keep best`,
/// a copy whose loss isn't finite has no finite score, whatever its metric is.
/// An evaluation of a step that was noted before, as after an interruption,
/// changes nothing.
void hfta_standings_note(hfta_standings *self, const hfta_validation *by,
                         int64_t step, const bool *runs, const double *losses,
                         const double *metrics);

/// Sends the first rank's state to all ranks. All ranks must call it.
hfta_status hfta_standings_share(hfta_standings *self,
                                 hfta_communicator *communicator,
                                 hfta_error *error);

/// Writes the file into `folder`.
hfta_status hfta_standings_save(const hfta_standings *self, const char *folder,
                                hfta_error *error);

/// Reads the file of the checkpoint `folder`. If there is none, since the
/// checkpoint was saved by a training without patience or a limit of time,
/// nothing changes. HFTA_INVALID_INPUT if the file is damaged.
hfta_status hfta_standings_load(hfta_standings *self, const char *folder,
                                hfta_error *error);

#endif // HFTA_SRC_TRAINING_STANDINGS_H
