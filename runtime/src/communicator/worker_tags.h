//===- worker_tags.h - Tags that tell pairs of workers apart ----*- C -*-===//
//
// If ranks have several workers each, two ranks exchange the messages of every
// pair of their workers. The tag of such a message encodes the pair of workers,
// whether the message belongs to the communicator of all workers or to that of
// a stage, and the tag that it was posted with. The direction isn't encoded,
// since MPI matches messages by sender as well.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
#define HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H

#include "communicator/tags.h"

typedef struct hfta_worker_tags {
  int schedules; ///< schedules use the tags 0 to schedules - 1
  int most;      ///< the largest number of workers on one rank
} hfta_worker_tags;

/// Sets up the tags for ranks with at most `most` workers each. Fails with
/// HFTA_UNSUPPORTED if there are too few tags to tell that many workers apart.
hfta_status hfta_worker_tags_create(int schedules, int most,
                                    hfta_worker_tags *out, hfta_error *error);

/// Returns whether a worker's post may have this tag: one of a schedule, or one
/// of the runtime's own.
bool hfta_worker_tags_have(const hfta_worker_tags *tags, int tag);

/// Returns the tag that a message between two workers has in the ranks'
/// communicator: less than HFTA_TAG_FIRST_OWN, and different for different
/// arguments. `lower` is the place, among its rank's workers, of the worker on
/// the rank with the lower number; `higher` is that of the other worker. `tag`
/// is the tag of the worker's post.
int hfta_worker_tag(const hfta_worker_tags *tags, bool is_stage, int lower,
                    int higher, int tag);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_TAGS_H
