//===- cpu_device.h - What devices on the CPU share -------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CPU_DEVICE_H
#define HFTA_SRC_DEVICE_CPU_DEVICE_H

#include "device/queue.h"

/// The head of such a device; the functions of hfta_device_cpu are for any.
typedef struct hfta_cpu_device {
  hfta_device base;
  hfta_shared_pool *pool;
  hfta_queues *queues;
} hfta_cpu_device;

/// Starts the threads. After a failure too, `hfta_cpu_device_end` ends those
/// that were started.
hfta_status hfta_cpu_device_begin(hfta_cpu_device *self,
                                  const hfta_device_options *options,
                                  hfta_error *error);
void hfta_cpu_device_end(hfta_cpu_device *self);

#endif // HFTA_SRC_DEVICE_CPU_DEVICE_H
