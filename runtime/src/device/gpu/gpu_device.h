//===- gpu_device.h - A GPU as a device ---------------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_DEVICE_H
#define HFTA_SRC_DEVICE_GPU_GPU_DEVICE_H

#include "device/gpu/gpu_driver.h"
#include "device/gpu/gpu_launch.h"
#include "hfta/device.h"

/// Opens a GPU as a device, for the function `open` of a kind of device whose
/// GPUs a driver runs. `kind` is that kind, of which it takes the name and
/// `open`; all other functions are those of GPUs.
hfta_status hfta_gpu_device_open(const hfta_device_functions *kind,
                                 const hfta_gpu_driver *driver,
                                 const hfta_device_options *options,
                                 hfta_device **out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_GPU_GPU_DEVICE_H
