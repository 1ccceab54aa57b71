//===- device_kinds.c - The table of devices ------------------------------===//
//
// The table has a file of its own, so that a program that brings its own table
// is linked with that one instead.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stddef.h>

const hfta_device_functions *const hfta_device_kinds[] = {
    &hfta_device_cpu, &hfta_device_cuda, &hfta_device_paced, NULL};
