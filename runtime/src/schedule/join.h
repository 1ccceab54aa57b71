//===- join.h - An instance as one of several ranks -------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_JOIN_H
#define HFTA_SRC_SCHEDULE_JOIN_H

#include "schedule/instance_impl.h"

/// Whether a program may run on so many ranks: HFTA_USAGE if it has fewer
/// workers.
hfta_status hfta_check_ranks(const hfta_program *program, int ranks,
                             hfta_error *error);

/// Gives the instance its communicator, the workload's own or one that it
/// opens, the workload its rank, and several stages' workers their group. Ranks
/// of different programs are HFTA_USAGE, on all of them.
hfta_status hfta_instance_join(hfta_instance *instance,
                               const hfta_options *options);

/// Frees the group; closes the communicator unless it is the workload's.
void hfta_instance_leave(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_JOIN_H
