//===- TestTargets.c - A table of targets with one more -------------------===//
//
// A table of targets for the tests, which replaces the runtime's. Its third
// target, `scratch`, runs the code of the CPU, but says otherwise what it can.
//===----------------------------------------------------------------------===//

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"

static const hfta_target scratch = {
    .name = "scratch",
    .device = &hfta_device_cpu,
    .default_device = "cpu:0",
    .device_help = "device: cpu:0 (default)",
    .measuring_device_help = "device: cpu:0 (default), or\n" HFTA_PACED_HELP,
    .noun = "a scratch device",
    .is_host = true,
    .all_at_once = true,
    .steps_ahead = 1,
};

const hfta_target *const hfta_targets[] = {&hfta_target_cpu, &hfta_target_cuda,
                                           &scratch, NULL};
