//===- screen.h - Progress of several trainings at once ---------*- C -*-===//
//
// Shows the progress of jobs that train at the same time: on a terminal as one
// table with a block per job, elsewhere as lines that begin with the job's
// name. Everything is written to standard error.
//
//   a  ####------  6 %  step 12/200  epoch 1  31.0 steps/s  0:06 left  41 MiB
//     copy  loss        test loss   accuracy
//     0     0.95185     0.77361     81.25 %
//   b  done
//   c  waiting
//
// The table isn't longer than the terminal: jobs that train share the lines,
// and the numbers of jobs and copies that aren't shown are given.
//
// Threads: all functions except open and close may be called by several
// threads. If there isn't enough memory for a line or a drawing, it is left
// out.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRESS_SCREEN_H
#define HFTA_SRC_PROGRESS_SCREEN_H

#include "hfta/status.h"
#include "progress/progress_table.h"

typedef struct hfta_screen hfta_screen;

typedef enum hfta_screen_outcome {
  HFTA_SCREEN_DONE,
  HFTA_SCREEN_FAILED,
  HFTA_SCREEN_STOPPED, ///< stopped before its end, by a signal
} hfta_screen_outcome;

/// Opens a screen for `count` jobs, whose blocks are in the order of `names`.
/// Each name is borrowed until the screen is closed; the array isn't. Nothing
/// is drawn yet, and nothing at all if `shows` is false. Fails with
/// HFTA_UNSUPPORTED if there isn't enough memory.
hfta_status hfta_screen_open(const char *const *names, int64_t count,
                             bool shows, hfta_screen **out, hfta_error *error);

/// Closes the screen and leaves the table on the terminal. NULL is allowed.
void hfta_screen_close(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For the command that runs the jobs
//===----------------------------------------------------------------------===//

/// Reports a job's outcome. Called once per job: after its training has
/// returned, or instead if it couldn't begin. `step` is the last step of a job
/// that was stopped. Must not be called between begin_output and end_output.
/// NULL is allowed.
void hfta_screen_finish(hfta_screen *screen, int64_t block,
                        hfta_screen_outcome outcome, int64_t step);

/// Surround other output to standard output or standard error. In between, the
/// table is hidden, and other threads that call functions of the screen wait.
/// The calling thread must not call these functions, nor those of an
/// hfta_progress on this screen. end_output flushes standard output. NULL is
/// allowed.
void hfta_screen_begin_output(hfta_screen *screen);
void hfta_screen_end_output(hfta_screen *screen);

//===----------------------------------------------------------------------===//
// For a job's progress
//===----------------------------------------------------------------------===//

/// Records that a job has begun, so that its block no longer says "waiting".
void hfta_screen_begin(hfta_screen *screen, int64_t block);

/// Copies a job's numbers. Redraws the table if enough time has passed since
/// the last drawing, or after the job's last step. The state's program is
/// borrowed until the job is finished.
void hfta_screen_update(hfta_screen *screen, int64_t block,
                        const hfta_progress_state *state);

/// Writes the job's name and a line, which must end with a line break, above
/// the table.
void hfta_screen_line(hfta_screen *screen, int64_t block, const char *line);

#endif // HFTA_SRC_PROGRESS_SCREEN_H
