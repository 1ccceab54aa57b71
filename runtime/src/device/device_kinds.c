//===- device_kinds.c - The table of further devices ----------------------===//
//
// The table is in a file of its own, so that a program can be linked with a
// table of its own instead.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stddef.h>

const hfta_device_functions *const hfta_device_kinds[] = {&hfta_device_paced,
                                                          NULL};
