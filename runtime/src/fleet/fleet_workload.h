//===- fleet_workload.h - What trainings took, for simulations --*- C -*-===//

#ifndef HFTA_SRC_FLEET_FLEET_WORKLOAD_H
#define HFTA_SRC_FLEET_FLEET_WORKLOAD_H

#include "fleet/fleet.h"

/// Writes what the steps of all models have taken, after the last one has gone,
/// as a file that `hftac --simulate` reads: a model that has done steps has
/// mini-batches of one unit, which is a step or, as at a seat, several short
/// ones. What a step read and wrote is part of its time.
hfta_status hfta_fleet_write_workload(hfta_fleet *fleet, const char *path,
                                      hfta_error *error);

#endif // HFTA_SRC_FLEET_FLEET_WORKLOAD_H
