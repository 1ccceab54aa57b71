//===- worker_tags.h - Tags that tell pairs of workers apart ----*- C -*-===//
//
// Two ranks that have several workers each exchange the messages of every pair
// of them: a message's tag says which pair it is of, whether it is of all
// workers' communicator or of a stage's, and what tag it was posted with. Who
// sends follows from the ranks, so that a pair has one number for both ways.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
#define HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H

#include "communicator/tags.h"

typedef struct hfta_worker_tags {
  int schedules; ///< tags of schedules are 0 .. schedules - 1
  int most;      ///< workers that a rank has
} hfta_worker_tags;

/// HFTA_UNSUPPORTED if a communicator's tags aren't enough to tell so many
/// apart.
hfta_status hfta_worker_tags_create(int schedules, int most,
                                    hfta_worker_tags *out, hfta_error *error);

/// Whether a post may have this tag: a schedule's, or one of the runtime's own.
bool hfta_worker_tags_have(const hfta_worker_tags *tags, int tag);

/// The base's tag, less than HFTA_TAG_FIRST_OWN: no two arguments have the
/// same. `lower` and `higher` are the workers' places among those of their
/// ranks, of the rank with the lower number and of the other one.
int hfta_worker_tag(const hfta_worker_tags *tags, bool is_stage, int lower,
                    int higher, int tag);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
