//===- trainer_parts.h - Instances that train together ----------*- C -*-===//
//
// Parts of a training, each an instance of some copies with a thread and a seat
// of its own. They go through a window's steps each at its pace, and meet
// behind it: what is written is of all of them at the same step.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TRAINER_PARTS_H
#define HFTA_SRC_TRAINING_TRAINER_PARTS_H

#include "training/trainer_impl.h"

/// As the options say. Without parts all of this does nothing.
hfta_status hfta_trainer_open_parts(hfta_trainer *self);
void hfta_trainer_close_parts(hfta_trainer *self);

/// Tells the fleet how many steps there are.
void hfta_trainer_expect_parts(hfta_trainer *self);

/// hfta_trainer_run_window with parts. One that is to stop ends behind the last
/// step that any of them has begun.
hfta_status hfta_trainer_run_parts(hfta_trainer *self, int64_t *steps);

/// All copies' results of the test data, to the training's result.
hfta_status hfta_trainer_evaluate_parts(hfta_trainer *self, bool *stopped);

#endif // HFTA_SRC_TRAINING_TRAINER_PARTS_H
