//===- window.h - Several steps, turn by turn -------------------*- C -*-===//
//
// A program whose copies take turns within a budget of memory may have
// schedules for turns of several steps: one fetches the state of a turn's
// copies from the store, one is a step of these copies, and one writes the
// state back. Where a GPU has no room for all copies, a turn is several steps
// of some copies, which the worker's calls copy to the GPU and back. A window
// is a number of steps that all copies run in this way; between windows all
// copies are at the same step.
//
// Threads: one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_WINDOW_H
#define HFTA_SRC_SCHEDULE_WINDOW_H

#include "hfta/instance.h"

/// The most steps of a window.
enum { HFTA_MOST_WINDOW_STEPS = 64 };

typedef struct hfta_window {
  int64_t steps;
  /// Provides the batch of step `step` of the window, one pointer per data
  /// field, valid until the next call. Each turn calls it for all steps, in
  /// order.
  hfta_status (*take)(void *argument, int64_t step, const void *const **inputs);
  /// Whether the window is to end early. Called after each step of the first
  /// turn except the last one; the other turns then end after the same step.
  /// NULL: never.
  bool (*ends)(void *argument);
  void *argument;
  double *losses; ///< for each step one per copy, NaN for copies that don't
                  ///< run; NULL: not needed
} hfta_window;

/// Whether copies run in turns of several steps, on one rank.
bool hfta_instance_takes_windows(const hfta_instance *instance);

/// Returns the name of the schedule of a step in a window.
const char *hfta_instance_window_schedule(const hfta_instance *instance);

/// Runs the steps; `window->steps` becomes their number. After a failure copies
/// are at different steps.
hfta_status hfta_instance_run_window(hfta_instance *instance,
                                     hfta_window *window);

#endif // HFTA_SRC_SCHEDULE_WINDOW_H
