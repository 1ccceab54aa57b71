//===- device_kinds.c - The table of devices ------------------------------===//
//
// Alone in its file: a program that brings a table of its own is linked with
// that one instead.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stddef.h>

const hfta_device_functions *const hfta_device_kinds[] = {
    &hfta_device_cpu, &hfta_device_cuda, &hfta_device_paced, NULL};
