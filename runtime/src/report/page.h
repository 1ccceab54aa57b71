//===- page.h - A page about trainings ----------------------------*- C -*-===//
//
// Writes one HTML file that shows the runs of logs. It needs no server and no
// network. Its parts are the files of runtime/report; the runs' numbers follow
// as JSON, in which a series is the base64 of its f32 values, little-endian,
// run after run. A table of all runs is there without scripts, too.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_REPORT_PAGE_H
#define HFTA_SRC_REPORT_PAGE_H

#include "history/objective.h"

#include <stdio.h>

typedef struct hfta_page {
  const char *title;
  const hfta_history *histories;
  const hfta_objective *objectives; ///< one per history
  int64_t count;
  const char *info;  ///< the output of `info --json`; NULL: none
  const char *trace; ///< a trace; NULL: none
} hfta_page;

/// A series of more numbers than this keeps the least and the greatest of each
/// run in equal intervals of steps.
enum { HFTA_PAGE_NUMBERS = 100000 };

/// Writes the page. Errors of writing are left in `file`.
void hfta_write_page(FILE *file, const hfta_page *page);

#endif // HFTA_SRC_REPORT_PAGE_H
