//===- worker_group.h - Workers that share processes ------------*- C -*-===//
//
// Workers are parts of a program that exchange messages as ranks do, but one
// process may hold several of them, each with threads of its own. A group gives
// each worker two communicators of the kind `workers`: one of all workers and
// one of the workers of its stage. Messages between workers of one process are
// copies; all others go through the ranks' communicator, with tags that tell
// the pairs of workers apart.
//
// A worker that fails ends the waits of all workers of its process: either a
// message of its own fails, or it calls hfta_communicator_give_up on one of its
// communicators. This also gives up the ranks' communicator, in which other
// threads may sleep.
//
// A wait for a worker of the same process doesn't count as a wait for another
// rank, nor its end as progress. It is HFTA_LOST when, for the whole timeout,
// no worker of the process has made progress and none waits for another rank;
// time in which the process was stopped doesn't count.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
#define HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H

#include "hfta/communicator.h"

/// The ranks that the workers are on; it is equal on all ranks.
typedef struct hfta_worker_map {
  int workers;
  const int *ranks; ///< the rank of each worker, in the ranks' communicator
  int stages;
  const int *replicas; ///< the number of replicas of each stage; workers are
                       ///< numbered stage by stage
  int schedule_tags;   ///< posts of schedules have tags less than this
  double timeout;      ///< seconds; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_worker_map;

typedef struct hfta_worker_group hfta_worker_group;

/// Makes a group. `ranks` is borrowed; while the group exists, all tags less
/// than HFTA_TAG_FIRST_OWN belong to it. More than HFTA_MAX_RANKS workers, or
/// more workers on one of several ranks than tags can tell apart, are
/// HFTA_UNSUPPORTED.
hfta_status hfta_worker_group_create(hfta_communicator *ranks,
                                     const hfta_worker_map *map,
                                     hfta_worker_group **out,
                                     hfta_error *error);

/// Every post must have been waited for. NULL is allowed.
void hfta_worker_group_free(hfta_worker_group *group);

/// The two functions below return the communicators of a worker of this
/// process. The group owns them: to close them does nothing. Their `split` is
/// HFTA_UNSUPPORTED.
///
/// Returns the one of all workers: ranks are the workers' numbers.
hfta_communicator *hfta_worker_group_all(hfta_worker_group *group, int worker);
/// Returns the one of the worker's stage: ranks are its replicas' numbers, from
/// 0.
hfta_communicator *hfta_worker_group_stage(hfta_worker_group *group,
                                           int worker);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
