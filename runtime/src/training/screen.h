//===- screen.h - Progress of several trainings at once ---------*- C -*-===//
//
// Where several jobs train at the same time, their progress is shown together:
// on a terminal as one table with a block a job, elsewhere as lines that begin
// with the job's name. Everything goes to standard error.
//
//   a  step 12/200  epoch 1  31.0 steps/s  0:06 left
//   copy  loss        test loss   accuracy
//   0     0.95185     0.77361     81.25 %
//   b  done
//   c  waiting
//
// The table has no more lines than the terminal: jobs that train share them,
// and what has none is counted.
//
// Threads: all functions but open and close may be called by several. Without
// memory for a line or a drawing, that one is left out.
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

/// For `count` jobs, whose blocks have the order of `names`; each name is
/// borrowed until the screen is closed, their array isn't. Nothing is drawn
/// yet, and nothing ever if it isn't to show anything.
hfta_status hfta_screen_open(const char *const *names, int64_t count,
                             bool shows, hfta_screen **out, hfta_error *error);

/// Leaves the table as it stands. NULL is allowed. Nobody may use the screen
/// any more.
void hfta_screen_close(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For the command
//===----------------------------------------------------------------------===//

/// Once a job, after its training has returned, or instead of it where it
/// couldn't begin. `step` is the last one of a job that was stopped. Not
/// between begin_output and end_output. NULL is allowed.
void hfta_screen_finish(hfta_screen *screen, int64_t block,
                        hfta_screen_outcome outcome, int64_t step);

/// Around anything else that is printed, to standard output or error: there is
/// no table meanwhile, and all who would show something wait. In between the
/// same thread calls no other function of the screen or of a progress on it;
/// end_output flushes standard output. NULL is allowed.
void hfta_screen_begin_output(hfta_screen *screen);
void hfta_screen_end_output(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For a job's progress
//===----------------------------------------------------------------------===//

/// The job doesn't wait any more.
void hfta_screen_begin(hfta_screen *screen, int64_t block);

/// Keeps the numbers, and draws the table if it is time to. The state's program
/// is borrowed until the job is finished.
void hfta_screen_update(hfta_screen *screen, int64_t block,
                        const hfta_progress_state *state);

/// Writes a line, which has its end, behind the job's name and above the table.
void hfta_screen_line(hfta_screen *screen, int64_t block, const char *line);

#endif // HFTA_SRC_TRAINING_SCREEN_H
