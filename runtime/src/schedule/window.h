//===- window.h - Several steps, turn by turn -------------------*- C -*-===//
//
// If copies take turns, each turn runs several steps before the next one, so
// that its state is moved less often. Within a memory budget, a program may
// have schedules for this: one fetches the state of a turn's copies from the
// store (`begin_turn`), one is a step of these copies (`turn_step`), and one
// writes the state back (`end_turn`). If a GPU has no room for all copies, a
// turn runs several calls of `step`, before which the worker copies the turn's
// copies to the GPU (host_copies.h). A window is a number of steps that all
// copies run in this way. Between windows all copies are at the same step.
//
// Threads: used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_WINDOW_H
#define HFTA_SRC_SCHEDULE_WINDOW_H

#include "hfta/instance.h"

/// The largest number of steps in a window.
enum { HFTA_MOST_WINDOW_STEPS = 64 };

/// A window: several steps, run turn by turn.
typedef struct hfta_window {
  int64_t steps; ///< number of steps
  /// Provides the batch of step number `step` of the window, from 0: one
  /// pointer per data field, valid until the next call. Each turn calls it for
  /// all steps, in order.
  hfta_status (*take)(void *argument, int64_t step, const void *const **inputs);
  /// Returns whether the window is to end early. Called after each step of the
  /// first turn, except the last one; if it returns true, all turns end after
  /// this step. NULL: the window never ends early.
  bool (*ends)(void *argument);
  void *argument;
  double *losses; ///< losses, one per copy for each step, NaN for copies that
                  ///< don't run; NULL: not needed
} hfta_window;

/// Returns whether copies run in turns of several steps: on one rank without
/// stages, if the program has schedules for this, or a GPU has no room for all
/// copies.
bool hfta_instance_takes_windows(const hfta_instance *instance);

/// Returns the name of the schedule that is a step of a window: "turn_step", or
/// "step" without such a schedule.
const char *hfta_instance_window_schedule(const hfta_instance *instance);

/// Runs the window's steps for all live copies; `window->steps` becomes the
/// number of steps done. After a failure, copies may be at different steps.
hfta_status hfta_instance_run_window(hfta_instance *instance,
                                     hfta_window *window);

#endif // HFTA_SRC_SCHEDULE_WINDOW_H
