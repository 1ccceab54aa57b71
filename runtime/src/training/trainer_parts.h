//===- trainer_parts.h - Instances that train together ----------*- C -*-===//
//
// The parts of a training are instances that each have some of the copies, with
// a thread and a seat of their own. They run the steps of a window
// independently and wait for each other at its end, so that everything that is
// written covers all parts at the same step.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TRAINER_PARTS_H
#define HFTA_SRC_TRAINING_TRAINER_PARTS_H

#include "training/trainer_impl.h"

/// Creates the parts that the options list. If the options list none, this and
/// the next two functions do nothing.
hfta_status hfta_trainer_open_parts(hfta_trainer *self);
/// Stops the parts' threads and frees the parts.
void hfta_trainer_close_parts(hfta_trainer *self);

/// Tells the fleet how many steps each part has to do.
void hfta_trainer_expect_parts(hfta_trainer *self);

/// Runs a window with all parts, as hfta_trainer_run_window does. If the
/// training is to stop, the window ends after the last step that any part has
/// begun.
hfta_status hfta_trainer_run_parts(hfta_trainer *self, int64_t *steps);

/// Evaluates all parts' copies on a data set, into arrays with one value per
/// copy; `metrics` may be NULL. `*stopped` becomes true if the training is to
/// stop; the results are then incomplete.
hfta_status hfta_trainer_evaluate_parts(hfta_trainer *self,
                                        const hfta_dataset *dataset,
                                        double *losses, double *metrics,
                                        bool *stopped);

#endif // HFTA_SRC_TRAINING_TRAINER_PARTS_H
