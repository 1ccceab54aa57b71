//===- crew.h - One thread per worker -----------------------------*- C -*-===//
//
// A crew calls a function for all workers of an instance at once: on the
// caller's thread for the first worker, and on one thread for each other
// worker. The threads live as long as the instance.
//
// Threads: one caller at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_CREW_H
#define HFTA_SRC_INSTANCE_CREW_H

#include "hfta/status.h"

#include <stdint.h>

/// The threads of an instance's workers.
typedef struct hfta_crew hfta_crew;

/// Creates a crew with `members` members, one of which is the caller.
/// HFTA_UNSUPPORTED without memory or threads.
hfta_status hfta_crew_create(uint32_t members, hfta_crew **out,
                             hfta_error *error);

/// Joins the threads and frees the crew. NULL is allowed.
void hfta_crew_destroy(hfta_crew *self);

/// Calls `work` once for each member, numbered from 0, each on a thread of its
/// own, and returns when all calls have returned. A crew of NULL has only
/// member 0.
void hfta_crew_do(hfta_crew *self,
                  void (*work)(void *argument, uint32_t member),
                  void *argument);

#endif // HFTA_SRC_INSTANCE_CREW_H
