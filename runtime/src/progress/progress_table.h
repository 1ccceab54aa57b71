//===- progress_table.h - A training's numbers on a terminal ----*- C -*-===//
//
// The lines are the same for a training that uses the terminal alone and for
// several that share it:
//
//   ████████░░░░  31 %  step 62/200  epoch 1  31.0 steps/s  0:06 left  41 MiB
//     copy  lr     loss        test loss   accuracy
//   ★ 1     0.01   0.95185     0.77361     81.25 %
//   ✕ 0     10     nan         nan         10.00 %
//
// Copies are in the order of ranking.h. The best one is marked once copies have
// scores, and those are marked whose loss isn't finite. Without UTF-8 the marks
// are '*' and 'x', and the bar consists of '#' and '-'.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRESS_PROGRESS_TABLE_H
#define HFTA_SRC_PROGRESS_PROGRESS_TABLE_H

#include "progress/progress_text.h"
#include "progress/ranking.h"
#include "progress/terminal.h"

/// The characters of a mark and of the space behind it.
enum { HFTA_MARK_WIDTH = 2 };

/// Appends the mark of a copy, and a space: of the best one if `is_best`, of
/// one that has diverged, of one that doesn't run, or spaces. Returns the style
/// for the rest of the line.
hfta_style hfta_line_mark(hfta_line *line, const hfta_ranking *ranking,
                          int64_t copy, bool is_best);

/// Returns whether copies differ in a hyper-parameter.
bool hfta_hyper_parameter_differs(const hfta_program *program, uint32_t index);

/// Writes a line about the training's progress. It begins with the job's name
/// unless that is NULL. What doesn't fit is left out, the bar first.
void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state);

/// Writes a heading and, below it, at most max(`room`, 2) lines for the copies.
/// If they aren't enough, the last one tells how many copies aren't shown.
/// Hyper-parameters in which copies differ have columns where these fit.
void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room);

#endif // HFTA_SRC_PROGRESS_PROGRESS_TABLE_H
