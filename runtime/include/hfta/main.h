//===- main.h - The command line of a compiled program ----------*- C -*-===//

#ifndef HFTA_MAIN_H
#define HFTA_MAIN_H

#include "hfta/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a generated binary's `main` returns: the commands train, eval, export,
/// run, info and bench, for at least one program. Of several each is a job,
/// known by its name; these are distinct. Exit codes are those of status.h, and
/// 128 + the signal's number (130 for Ctrl-C) if a training was stopped by one.
/// Arguments may come to stand in another order.
int hfta_main(const hfta_program *const *programs, int64_t count, int argc,
              char **argv);

#ifdef __cplusplus
}
#endif

#endif // HFTA_MAIN_H
