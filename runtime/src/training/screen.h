//===- screen.h - Progress of several trainings at once ---------*- C -*-===//
//
// Where several jobs train at the same time, their progress is shown together:
// on a terminal as one table with one block per job, elsewhere as lines that
// begin with the job's name. Everything goes to standard error.
//
//   a  step 12/200  epoch 1  31.0 steps/s  0:06 left
//   copy  loss        test loss   accuracy
//   0     0.95185     0.77361     81.25 %
//   b  done
//   c  waiting
//
// The table has no more lines than the terminal: jobs that train share them,
// and jobs or copies without a line are counted.
//
// Threads: all functions except open and close may be called by several
// threads. If there is no memory for a line or a drawing, it is left out.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_SCREEN_H
#define HFTA_SRC_TRAINING_SCREEN_H

#include "hfta/status.h"
#include "training/progress_text.h"

typedef struct hfta_screen hfta_screen;

typedef enum hfta_screen_outcome {
  HFTA_SCREEN_DONE,
  HFTA_SCREEN_FAILED,
  HFTA_SCREEN_STOPPED, ///< before its end, by a signal
} hfta_screen_outcome;

/// Opens a screen for `count` jobs, whose blocks have the order of `names`.
/// Each name is borrowed until the screen is closed, but the array isn't.
/// Nothing is drawn yet, and nothing at all if the screen isn't to show
/// anything.
hfta_status hfta_screen_open(const char *const *names, int64_t count,
                             bool shows, hfta_screen **out, hfta_error *error);

/// Leaves the table as it stands and closes the screen, which may not be used
/// any more. NULL is allowed.
void hfta_screen_close(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For the command
//===----------------------------------------------------------------------===//

/// Reports a job's outcome; called once per job, after its training has
/// returned, or instead of it if it couldn't begin. `step` is the last one of a
/// job that was stopped. Must not be called between begin_output and
/// end_output. NULL is allowed.
void hfta_screen_finish(hfta_screen *screen, int64_t block,
                        hfta_screen_outcome outcome, int64_t step);

/// Call these before and after other output to standard output or error.
/// Between the two calls the table is hidden, and other threads that call
/// functions of the screen wait; this thread may not call them, nor those of a
/// progress that is shown on the screen. end_output flushes standard output.
/// NULL is allowed.
void hfta_screen_begin_output(hfta_screen *screen);
void hfta_screen_end_output(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For a job's progress
//===----------------------------------------------------------------------===//

/// Records that the job doesn't wait any more.
void hfta_screen_begin(hfta_screen *screen, int64_t block);

/// Copies the numbers, and draws the table if the last drawing is old enough.
/// The state's program is borrowed until the job is finished.
void hfta_screen_update(hfta_screen *screen, int64_t block,
                        const hfta_progress_state *state);

/// Writes a line, which includes its line break, after the job's name and above
/// the table.
void hfta_screen_line(hfta_screen *screen, int64_t block, const char *line);

#endif // HFTA_SRC_TRAINING_SCREEN_H
