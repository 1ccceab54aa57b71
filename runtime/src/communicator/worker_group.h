//===- worker_group.h - Workers that share processes ------------*- C -*-===//
//
// Workers are parts of a program that exchange messages as ranks do, but of
// which a process may have several, each with threads of its own. A group gives
// each of them communicators of the kind `workers`: one of all workers, one of
// those of its stage. Messages between workers of a process are copies; others
// go through the ranks' communicator, by tags that tell the pairs apart.
//
// A worker that has failed ends the waits of all workers of its process: by the
// message that has failed, or by hfta_communicator_give_up on one of its
// communicators. That gives up the ranks' communicator too, in which others may
// sleep.
//
// A wait for a worker of the same process is no wait for another rank, and its
// end no progress. It is HFTA_LOST when no worker of the process has made
// progress for the timeout, nor waits for another rank; time in which the
// process was stopped doesn't count.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
#define HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H

#include "hfta/communicator.h"

/// The same on all ranks.
typedef struct hfta_worker_map {
  int workers;
  const int *ranks; ///< of each worker, in the ranks' communicator
  int stages;
  const int *replicas; ///< of each stage; workers are numbered stage by stage
  int schedule_tags;   ///< posts of schedules have tags less than this
  double timeout;      ///< seconds; 0: HFTA_DEFAULT_RANK_TIMEOUT
} hfta_worker_map;

typedef struct hfta_worker_group hfta_worker_group;

/// `ranks` is borrowed; while there is a group its tags less than
/// HFTA_TAG_FIRST_OWN are the group's. More than HFTA_MAX_RANKS workers, or
/// more on one of several ranks than tags can tell apart, are HFTA_UNSUPPORTED.
hfta_status hfta_worker_group_create(hfta_communicator *ranks,
                                     const hfta_worker_map *map,
                                     hfta_worker_group **out,
                                     hfta_error *error);

/// All that was posted must have been waited for. NULL is allowed.
void hfta_worker_group_free(hfta_worker_group *group);

/// The communicators of a worker of this process: the group's own, to close
/// them does nothing. Their `split` is HFTA_UNSUPPORTED.
///
/// Of all workers: ranks are the workers' numbers.
hfta_communicator *hfta_worker_group_all(hfta_worker_group *group, int worker);
/// Of the worker's stage: ranks are its replicas' numbers, from 0.
hfta_communicator *hfta_worker_group_stage(hfta_worker_group *group,
                                           int worker);

#endif // HFTA_SRC_COMMUNICATOR_WORKER_GROUP_H
