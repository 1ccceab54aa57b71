//===- crew.h - A thread a worker -------------------------------*- C -*-===//
//
// Threads that last as long as an instance: what is to be done for several
// workers is done for all of them at once, for the first one by the caller.
//
// Threads: one caller at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_CREW_H
#define HFTA_SRC_SCHEDULE_CREW_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_crew hfta_crew;

/// For so many members, one of which is the caller. No threads are
/// HFTA_UNSUPPORTED.
hfta_status hfta_crew_create(uint32_t members, hfta_crew **out,
                             hfta_error *error);

/// Joins the threads. NULL is allowed.
void hfta_crew_destroy(hfta_crew *self);

/// Calls `work` once for each member, and returns when all have returned. NULL:
/// for member 0 alone.
void hfta_crew_do(hfta_crew *self,
                  void (*work)(void *argument, uint32_t member),
                  void *argument);

#endif // HFTA_SRC_SCHEDULE_CREW_H
