//===- ahead_areas.h - The host's memory of posted steps ----------*- C -*-===//
//
// Steps that are posted to a device while it still runs the one before
// (schedule/ahead.h) use the host's images of segments in turn: there are as
// many areas as such steps, and each has an image of every segment that has
// one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_AHEAD_AREAS_H
#define HFTA_SRC_INSTANCE_AHEAD_AREAS_H

#include "workload/memory_plan.h"

struct hfta_worker;

/// The state of posted steps. The n-th posted step, from 0, uses area and mark
/// number n % HFTA_MOST_POSTED_STEPS.
typedef struct hfta_ahead {
  char *memory; ///< the memory of all areas, in pages of its own
  uint64_t bytes;
  bool is_locked;
  char **images[HFTA_MOST_POSTED_STEPS]; ///< for each area and segment, the
                                         ///< image's address; NULL: the segment
                                         ///< has no image
  int64_t posted, settled; ///< how many steps were posted, and how many settled
} hfta_ahead;

/// Allocates the areas of a worker, unless it has them already.
/// HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_ahead_open(struct hfta_worker *worker);

/// Frees a worker's areas, if it has any. No step may be in flight.
void hfta_ahead_close(struct hfta_worker *worker);

/// With `to_device`, copies the images from which the schedule transfers bytes
/// to the device into an area (`images`); otherwise copies the images that it
/// has written out of the area.
void hfta_ahead_move_images(const struct hfta_worker *worker,
                            const hfta_schedule *schedule, char *const *images,
                            bool to_device);

#endif // HFTA_SRC_INSTANCE_AHEAD_AREAS_H
