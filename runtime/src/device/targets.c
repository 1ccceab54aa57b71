//===- targets.c - The table of targets -----------------------------------===//
//
// The table is in a file of its own, so that a program can be linked with a
// table of its own instead.
//===----------------------------------------------------------------------===//

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/target.h"

#include <stddef.h>

const hfta_target *const hfta_targets[] = {&hfta_target_cpu, &hfta_target_cuda,
                                           NULL};
