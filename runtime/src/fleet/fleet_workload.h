//===- fleet_workload.h - Times of trainings, for simulations -----*- C -*-===//

#ifndef HFTA_SRC_FLEET_FLEET_WORKLOAD_H
#define HFTA_SRC_FLEET_FLEET_WORKLOAD_H

#include "fleet/fleet.h"

/// Writes the times of all models' steps, after the last model has quit, as a
/// file that `hftac --simulate` reads: a model that has done steps has
/// mini-batches of one unit, which is one step or, as at a seat, several short
/// ones. Reads and writes of the store are part of a step's time.
hfta_status hfta_fleet_write_workload(hfta_fleet *fleet, const char *path,
                                      hfta_error *error);

#endif // HFTA_SRC_FLEET_FLEET_WORKLOAD_H
