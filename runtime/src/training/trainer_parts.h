//===- trainer_parts.h - Instances that train together ----------*- C -*-===//
//
// The parts of a training are instances of some copies each, with a thread and
// a seat of their own. They run the steps of a window independently and meet
// after it: everything that is written covers all parts at the same step.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TRAINER_PARTS_H
#define HFTA_SRC_TRAINING_TRAINER_PARTS_H

#include "training/trainer_impl.h"

/// Opens the parts that the options list. Without parts all of these functions
/// do nothing.
hfta_status hfta_trainer_open_parts(hfta_trainer *self);
void hfta_trainer_close_parts(hfta_trainer *self);

/// Informs the fleet of the number of steps.
void hfta_trainer_expect_parts(hfta_trainer *self);

/// Runs a window as hfta_trainer_run_window does, with parts. If the training
/// is to stop, the window ends after the last step that any part has begun.
hfta_status hfta_trainer_run_parts(hfta_trainer *self, int64_t *steps);

/// Evaluates all copies on the test data, into the training's result.
hfta_status hfta_trainer_evaluate_parts(hfta_trainer *self, bool *stopped);

#endif // HFTA_SRC_TRAINING_TRAINER_PARTS_H
