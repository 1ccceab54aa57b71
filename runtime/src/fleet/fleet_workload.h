//===- fleet_workload.h - Trainings' times, for simulations -------*- C -*-===//

#ifndef HFTA_SRC_FLEET_FLEET_WORKLOAD_H
#define HFTA_SRC_FLEET_FLEET_WORKLOAD_H

#include "fleet/fleet.h"

/// Writes a file for `hftac --simulate` with the times of all models' steps.
/// Called after all models have quit. Each model that has done steps becomes a
/// sequence of mini-batches of one unit, which is one step or, as at a seat,
/// several short steps. A unit's time includes reads and writes of the store.
hfta_status hfta_fleet_write_workload(hfta_fleet *fleet, const char *path,
                                      hfta_error *error);

#endif // HFTA_SRC_FLEET_FLEET_WORKLOAD_H
