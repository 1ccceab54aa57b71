//===- worker_group.h - Workers that share processes ------------*- C -*-===//
//
// Workers run the replicas of a program's stages. They exchange messages as
// ranks do, but one process may have several workers, each with threads of its
// own. A group gives each worker two communicators of the kind `workers`: one
// of all workers and one of the workers of its stage. Messages between workers
// of one process are copied directly; all others go through the ranks'
// communicator, with tags that tell pairs of workers apart.
//
// When a worker fails, the waits of all workers of its process fail too. A
// worker fails if one of its messages fails, or by calling
// hfta_communicator_give_up on one of its communicators. This also gives up the
// ranks' communicator, in which other threads may be waiting.
//
// A wait for a worker of the same process doesn't count as a wait for another
// rank, and its end doesn't count as progress of the rank. It fails with
// HFTA_LOST when, for the whole timeout, no worker of the process has made
// progress and none waits for another rank. Time in which the process was
// stopped doesn't count.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
#define HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H

#include "hfta/communicator.h"

/// The assignment of workers to ranks; equal on all ranks.
typedef struct hfta_worker_map {
  int workers;         ///< the number of workers of all stages
  const int *ranks;    ///< for each worker, its rank in the ranks' communicator
  int stages;          ///< the number of stages
  const int *replicas; ///< for each stage, the number of its replicas; workers
                       ///< are numbered stage by stage
  int schedule_tags;   ///< a bound of the tags that schedules use: 0 to
                       ///< schedule_tags - 1
  double timeout;      ///< seconds; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_worker_map;

typedef struct hfta_worker_group hfta_worker_group;

/// Creates a group. `ranks` is borrowed; while the group exists, all its tags
/// below HFTA_TAG_FIRST_OWN belong to the group. Fails with HFTA_UNSUPPORTED if
/// there are more than HFTA_MAX_RANKS workers, more workers on one of several
/// ranks than tags can tell apart, or not enough memory.
hfta_status hfta_worker_group_create(hfta_communicator *ranks,
                                     const hfta_worker_map *map,
                                     hfta_worker_group **out,
                                     hfta_error *error);

/// Frees a group. All its posts must have been waited for. NULL is allowed.
void hfta_worker_group_free(hfta_worker_group *group);

/// Returns the communicator of all workers, for a worker of this process. A
/// rank in it is a worker's number. The group owns the communicator: closing it
/// has no effect, and splitting it fails with HFTA_UNSUPPORTED.
hfta_communicator *hfta_worker_group_all(hfta_worker_group *group, int worker);
/// Returns the communicator of the workers of a worker's stage, as
/// hfta_worker_group_all does. A rank in it is the number of a replica, from 0.
hfta_communicator *hfta_worker_group_stage(hfta_worker_group *group,
                                           int worker);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
