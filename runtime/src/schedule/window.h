//===- window.h - Several steps, turn by turn -------------------*- C -*-===//
//
// A program whose copies take turns within a budget of memory may have
// schedules for turns of several steps: one brings what a turn's copies have in
// the store, one is a step of these copies, and one takes it back. Where a GPU
// has no room for all copies, a turn is steps of some, which a worker's call
// brings and takes back by itself. A window is a number of steps that all
// copies go through so; between windows all are at the same step.
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
  /// Gives a batch, a pointer a data field, valid until it is called again:
  /// that of step `step` of the window. Each turn asks for all of them, in
  /// order.
  hfta_status (*take)(void *argument, int64_t step, const void *const **inputs);
  /// Whether the window is to end. Asked after each step of the first turn but
  /// the last one: the others go as far then. NULL: never.
  bool (*ends)(void *argument);
  void *argument;
  double *losses; ///< of each step one a copy, NaN for those that don't run;
                  ///< NULL: nobody asks
} hfta_window;

/// Whether copies go in turns of several steps, on one rank.
bool hfta_instance_takes_windows(const hfta_instance *instance);

/// The schedule of a step of its windows.
const char *hfta_instance_window_schedule(const hfta_instance *instance);

/// Runs the steps; `window->steps` are as many as there were. After a failure
/// copies are at different steps.
hfta_status hfta_instance_run_window(hfta_instance *instance,
                                     hfta_window *window);

#endif // HFTA_SRC_SCHEDULE_WINDOW_H
