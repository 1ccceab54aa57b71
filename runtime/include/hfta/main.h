//===- main.h - The command line of a compiled program ----------*- C -*-===//

#ifndef HFTA_MAIN_H
#define HFTA_MAIN_H

#include "hfta/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs the command line of a generated binary, with the commands train, eval,
/// export, run, info, trials and bench, and returns its exit code. There is at
/// least one program; each is a job and has a name of its own. Exit codes are
/// those of status.h, or 128 + the signal's number (130 for Ctrl-C) if a signal
/// stopped a training. The order of `argv` may change.
int hfta_main(const hfta_program *const *programs, int64_t count, int argc,
              char **argv);

#ifdef __cplusplus
}
#endif

#endif // HFTA_MAIN_H
