//===- join.h - An instance as one of several ranks -------------*- C -*-===//

#ifndef HFTA_SRC_INSTANCE_JOIN_H
#define HFTA_SRC_INSTANCE_JOIN_H

#include "instance/instance_impl.h"

/// Checks that a program can run on `ranks` ranks: HFTA_USAGE if it has fewer
/// workers.
hfta_status hfta_check_ranks(const hfta_program *program, int ranks,
                             hfta_error *error);

/// Makes the instance one of several ranks. It gets a communicator, which is
/// the workload's or else opened here; the workload gets its rank and the
/// number of ranks; the workers of several stages get their group. If ranks run
/// different programs, all of them fail with HFTA_USAGE.
hfta_status hfta_instance_join(hfta_instance *instance,
                               const hfta_options *options);

/// Frees the group of workers, and closes the communicator unless it is the
/// workload's.
void hfta_instance_leave(hfta_instance *instance);

#endif // HFTA_SRC_INSTANCE_JOIN_H
