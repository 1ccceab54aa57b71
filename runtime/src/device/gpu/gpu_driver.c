//===- gpu_driver.c - Messages of a GPU's driver --------------------------===//

#include "device/gpu/gpu_driver.h"

hfta_status hfta_gpu_fail(hfta_gpu *gpu, hfta_gpu_result result, const char *of,
                          hfta_error *error) {
  if (!result.call)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  const char *name = NULL, *text = NULL;
  gpu->driver->describe(gpu, result.code, &name, &text);
  return hfta_fail(error, HFTA_INTERNAL, "%s failed%s%s: %s (%s)", result.call,
                   of ? " for " : "", of ? of : "", name ? name : "error",
                   text ? text : "unknown");
}
