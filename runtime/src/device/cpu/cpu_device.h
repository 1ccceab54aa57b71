//===- cpu_device.h - The common part of devices on the CPU -------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CPU_CPU_DEVICE_H
#define HFTA_SRC_DEVICE_CPU_CPU_DEVICE_H

#include "device/cpu/queue.h"
#include "device/target.h"

/// The base of all devices that run on the CPU. The functions of
/// hfta_device_cpu work on any device whose struct begins with this one.
typedef struct hfta_cpu_device {
  hfta_device base;
  hfta_shared_pool *pool;
  hfta_queues *queues;
} hfta_cpu_device;

/// Starts the threads of the pool and of the queues. Even after a failure,
/// hfta_cpu_device_end must be called, to end the threads that were started.
hfta_status hfta_cpu_device_begin(hfta_cpu_device *self,
                                  const hfta_device_options *options,
                                  hfta_error *error);
void hfta_cpu_device_end(hfta_cpu_device *self);

extern const hfta_target hfta_target_cpu;

#endif // HFTA_SRC_DEVICE_CPU_CPU_DEVICE_H
