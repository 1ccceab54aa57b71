//===- step.h - Steps of copies that run together -----------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_STEP_H
#define HFTA_SRC_SCHEDULE_STEP_H

#include "schedule/run.h"

/// Runs a step for the call's copies. `losses` (or NULL) has one loss per copy;
/// those of other copies aren't changed.
hfta_status hfta_instance_run_step(hfta_instance *instance,
                                   const hfta_schedule_call *call,
                                   double *losses);

/// Prepares a call of a training: clears gradients that a failed call has left,
/// and writes scalars to the host's images. These are the number of steps and
/// of the accumulations whose gradients are used (1 if none wait, since a step
/// makes one), and the numbers that follow schedules; learning rates only with
/// `updates`.
/// HFTA_USAGE if a schedule ends with the training, whose number of steps is
/// unknown.
hfta_status hfta_instance_set_scalars(hfta_instance *instance, bool updates);

/// Reads the results of a step of all live copies from the host's images: the
/// reports, and the losses (one per copy, NaN for copies that don't run; NULL:
/// not needed).
hfta_status hfta_instance_get_step(hfta_instance *instance, double *losses);

/// Sets all losses to NaN, which remains for copies that don't run. `losses`
/// may be NULL.
void hfta_instance_clear_losses(const hfta_instance *instance, double *losses);

/// Discards the gradients accumulated since the last update, because they
/// belong to a state that is being replaced. If that fails, the next call
/// clears them.
hfta_status hfta_instance_clear_gradients(hfta_instance *instance);

/// Records that gradients hold partial sums, or values that no update will use,
/// because a call has failed: the next call clears them first. Returns
/// `status`.
hfta_status hfta_instance_spoil_gradients(hfta_instance *instance,
                                          hfta_status status);

#endif // HFTA_SRC_SCHEDULE_STEP_H
