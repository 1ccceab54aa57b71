//===- main.h - The command line of a compiled program ----------*- C -*-===//

#ifndef HFTA_MAIN_H
#define HFTA_MAIN_H

#include "hfta/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs the command line of a generated binary and returns its exit code: the
/// commands train, eval, export, run, info and bench, for at least one program.
/// Each of several programs is a job, known by its name; the names are
/// distinct. Exit codes are those of status.h, and 128 + the signal's number
/// (130 for Ctrl-C) if a signal stopped a training. The arguments may be
/// reordered.
int hfta_main(const hfta_program *const *programs, int64_t count, int argc,
              char **argv);

#ifdef __cplusplus
}
#endif

#endif // HFTA_MAIN_H
