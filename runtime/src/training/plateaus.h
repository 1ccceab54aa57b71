//===- plateaus.h - Schedules that follow validation scores ------*- C -*-===//
//
// A schedule `plateau` reduces a copy's number when its validation scores don't
// improve any more. What it has seen so far is state of the training, which
// checkpoints hold in a file beside those of the copies,
// "plateaus.safetensors":
//
//   __metadata__    format "hfta-plateaus", version "1", checksum
//   plateaus        f64 [numbers, copies, 4]: the members of hfta_plateau. The
//                   numbers are the learning rate, then those of
//                   hfta_program.scheduled_numbers
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PLATEAUS_H
#define HFTA_SRC_TRAINING_PLATEAUS_H

#include "hfta/communicator.h"
#include "hfta/instance.h"

/// The state of one copy's number.
typedef struct hfta_plateau {
  double factor;   ///< by which the number is multiplied
  double best;     ///< the best score so far
  double bad;      ///< evaluations since then that count
  double cooldown; ///< evaluations to come that don't count
} hfta_plateau;

/// The states of a program's numbers.
typedef struct hfta_plateaus {
  const hfta_program *program;
  uint64_t count; ///< number of states; 0: the program has no such schedule
  hfta_plateau *states; ///< for each number, one per copy
} hfta_plateaus;

/// Returns the state before the first evaluation, if scores are better in this
/// hfta_direction.
hfta_plateau hfta_plateau_begin(uint32_t direction);

/// Notes an evaluation's score, by the rules of PyTorch's ReduceLROnPlateau.
/// `number` is the copy's number before it is multiplied. NaN is no better than
/// any score.
void hfta_plateau_note(hfta_plateau *self, const hfta_number_schedule *schedule,
                       int64_t copy, uint32_t direction, double number,
                       double score);

/// Allocates the states, if the program has such a schedule. HFTA_UNSUPPORTED
/// if there isn't enough memory. Must be released by hfta_plateaus_close, also
/// after a failure.
hfta_status hfta_plateaus_open(hfta_plateaus *self, const hfta_program *program,
                               hfta_error *error);
void hfta_plateaus_close(hfta_plateaus *self);

/// Notes an evaluation of the copies for which `runs` is true; `metrics` may be
/// NULL if scores are losses.
void hfta_plateaus_note(hfta_plateaus *self, const hfta_instance *instance,
                        const bool *runs, const double *losses,
                        const double *metrics);

/// Makes the instance's next steps use the factors.
void hfta_plateaus_apply(const hfta_plateaus *self, hfta_instance *instance);

/// Sends the first rank's states to all ranks. All ranks must call it.
hfta_status hfta_plateaus_share(hfta_plateaus *self,
                                hfta_communicator *communicator,
                                hfta_error *error);

/// Writes the file into `folder`, if the program has such a schedule.
hfta_status hfta_plateaus_save(const hfta_plateaus *self, const char *folder,
                               hfta_error *error);

/// Reads the file of the checkpoint `folder`. If there is none, since the
/// checkpoint was saved by a training without such a schedule, nothing changes.
/// HFTA_INVALID_INPUT if the file is damaged.
hfta_status hfta_plateaus_load(hfta_plateaus *self, const char *folder,
                               hfta_error *error);

#endif // HFTA_SRC_TRAINING_PLATEAUS_H
