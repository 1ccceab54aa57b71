//===- create.h - Instances for a part of a program ---------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_CREATE_H
#define HFTA_SRC_SCHEDULE_CREATE_H

#include "hfta/instance.h"
#include "workload/workload.h"

/// Creates an instance for a workload, as hfta_instance_create does. Calls that
/// need schedules or copies outside of the workload aren't allowed on the
/// instance.
hfta_status hfta_instance_create_for(const hfta_program *program,
                                     const hfta_workload *workload,
                                     const hfta_options *options,
                                     hfta_instance **out);

#endif // HFTA_SRC_SCHEDULE_CREATE_H
