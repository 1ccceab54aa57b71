//===- hyper_parameters.h - The numbers of an instance's copies ---*- C -*-===//
//
// An instance's own hyper-parameters and horizons, which begin as the program's
// and which hfta_instance_set_hyper_parameter and hfta_instance_set_horizon
// change. Kernels read them as scalars, which each call of a schedule transfers
// to the device.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_HYPER_PARAMETERS_H
#define HFTA_SRC_INSTANCE_HYPER_PARAMETERS_H

#include "instance/instance_impl.h"

/// Allocates the instance's numbers, and sets them to the program's.
hfta_status hfta_instance_copy_hyper_parameters(hfta_instance *instance);

/// Returns the name of hyper-parameter `index`. After the program's, there is
/// the seed, unless it is one of them.
const char *hfta_hyper_name(const hfta_program *program, uint32_t index);

/// Returns how many hyper-parameters there are, with the seed.
uint32_t hfta_hyper_count(const hfta_program *program);

/// Returns the index of a hyper-parameter; UINT32_MAX if there is none.
uint32_t hfta_hyper_find(const hfta_program *program, const char *name);

/// Returns the values of the program's hyper-parameter `index`, one per copy.
/// They are the instance's.
const double *hfta_instance_hyper_values(const hfta_instance *instance,
                                         uint32_t index);

/// Writes the numbers of all copies to the host's images of scalars, after
/// these were reset.
void hfta_instance_write_hyper_parameters(hfta_instance *instance);

/// Returns the number of steps after which a copy's schedules end; 0 if it is
/// unknown.
int64_t hfta_instance_horizon(const hfta_instance *instance, int64_t copy);

/// Returns what hfta_instance_set_schedule_factor has set, else 1.
double hfta_instance_schedule_factor(const hfta_instance *instance,
                                     uint32_t number, int64_t copy);

#endif // HFTA_SRC_INSTANCE_HYPER_PARAMETERS_H
