//===- worker_tags.h - Tags that tell pairs of workers apart ----*- C -*-===//
//
// Two ranks that have several workers each exchange the messages of every pair
// of them. A message's tag says which pair it belongs to, whether it belongs to
// the communicator of all workers or of a stage, and which tag it was posted
// with. The ranks say who sends, so that a pair has one number for both
// directions.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
#define HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H

#include "communicator/tags.h"

typedef struct hfta_worker_tags {
  int schedules; ///< schedules use the tags 0 .. schedules - 1
  int most;      ///< the largest number of workers on one rank
} hfta_worker_tags;

/// HFTA_UNSUPPORTED if there are too few tags to tell that many workers apart.
hfta_status hfta_worker_tags_create(int schedules, int most,
                                    hfta_worker_tags *out, hfta_error *error);

/// Whether a post may have this tag: a schedule's, or one of the runtime's own.
bool hfta_worker_tags_have(const hfta_worker_tags *tags, int tag);

/// Returns the tag in the ranks' communicator, less than HFTA_TAG_FIRST_OWN and
/// different for different arguments. `lower` is the place of the pair's worker
/// on the rank with the lower number, `higher` that of the other one.
int hfta_worker_tag(const hfta_worker_tags *tags, bool is_stage, int lower,
                    int higher, int tag);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
