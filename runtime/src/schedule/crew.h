//===- crew.h - One thread per worker -----------------------------*- C -*-===//
//
// Threads that live as long as an instance: a function is called for all
// workers at once, on the caller's thread for the first one.
//
// Threads: one caller at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_CREW_H
#define HFTA_SRC_SCHEDULE_CREW_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_crew hfta_crew;

/// Makes a crew of `members`, one of which is the caller. HFTA_UNSUPPORTED if
/// threads can't be started.
hfta_status hfta_crew_create(uint32_t members, hfta_crew **out,
                             hfta_error *error);

/// Joins the threads. NULL is allowed.
void hfta_crew_destroy(hfta_crew *self);

/// Calls `work` once for each member, and returns when all have returned. A
/// NULL crew has only member 0.
void hfta_crew_do(hfta_crew *self,
                  void (*work)(void *argument, uint32_t member),
                  void *argument);

#endif // HFTA_SRC_SCHEDULE_CREW_H
