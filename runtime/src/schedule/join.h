//===- join.h - An instance as one of several ranks -------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_JOIN_H
#define HFTA_SRC_SCHEDULE_JOIN_H

#include "schedule/instance_impl.h"

/// Checks that a program can run on this number of ranks: HFTA_USAGE if it has
/// fewer workers.
hfta_status hfta_check_ranks(const hfta_program *program, int ranks,
                             hfta_error *error);

/// Gives the instance its communicator (the workload's own or one that it
/// opens), the workload its rank, and the workers of several stages their
/// group. Ranks with different programs all fail with HFTA_USAGE.
hfta_status hfta_instance_join(hfta_instance *instance,
                               const hfta_options *options);

/// Frees the group; closes the communicator unless it is the workload's.
void hfta_instance_leave(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_JOIN_H
