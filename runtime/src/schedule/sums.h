//===- sums.h - Adding up what the groups have summed -----------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_SUMS_H
#define HFTA_SRC_SCHEDULE_SUMS_H

#include "schedule/instance_impl.h"

/// Gives the device the work of an HFTA_COMMAND_ALL_REDUCE. Nothing if the
/// instance has no memory for the sums.
void hfta_sums_add_up(hfta_instance *instance, const hfta_command *command);

#endif // HFTA_SRC_SCHEDULE_SUMS_H
