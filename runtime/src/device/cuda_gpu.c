//===- cuda_gpu.c - One of a machine's GPUs -------------------------------===//

#include "device/cuda_gpu.h"

/// Makes the driver calls that open a GPU, until one fails. `*call` becomes the
/// name of the last call, `*count` the number of GPUs. If `index` isn't below
/// that number, returns 0 without opening a GPU.
static hfta_cu_result take(const hfta_cuda *cuda, int index,
                           hfta_cuda_gpu *self, int *count, const char **call) {
  hfta_cuda_chip *chip = &self->chip;
  hfta_cu_result result = 0;
#define HFTA_CU_TRY(name, value)                                               \
  if (result == 0) {                                                           \
    *call = name;                                                              \
    result = (value);                                                          \
  }
  HFTA_CU_TRY("cuInit", cuda->init(0))
  HFTA_CU_TRY("cuDeviceGetCount", cuda->device_count(count))
  if (result == 0 && index >= *count)
    return 0;
  HFTA_CU_TRY("cuDeviceGet", cuda->device_get(&self->device, index))
  HFTA_CU_TRY("cuDeviceGetName",
              cuda->device_name(chip->name, sizeof(chip->name), self->device))
  HFTA_CU_TRY("cuDeviceGetAttribute",
              cuda->device_attribute(
                  &chip->major, HFTA_CU_COMPUTE_CAPABILITY_MAJOR, self->device))
  HFTA_CU_TRY("cuDeviceGetAttribute",
              cuda->device_attribute(
                  &chip->minor, HFTA_CU_COMPUTE_CAPABILITY_MINOR, self->device))
  HFTA_CU_TRY("cuDevicePrimaryCtxRetain",
              cuda->context_retain(&self->context, self->device))
#undef HFTA_CU_TRY
  return result;
}

hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda, int index,
                               hfta_cuda_gpu *out, hfta_error *error) {
  int count = 0;
  const char *call = NULL;
  hfta_cu_result result = take(cuda, index, out, &count, &call);
  if (result == HFTA_CU_NO_DEVICE || (result == 0 && count == 0))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "device 'cuda:%d': this machine has a driver, but no "
                     "NVIDIA GPU that may be used",
                     index);
  if (result == 0 && index >= count)
    return hfta_fail(error, HFTA_USAGE,
                     "device 'cuda:%d': expected a number below %d, which are "
                     "the GPUs of this machine",
                     index, count);
  if (result == 0)
    return HFTA_OK;
  hfta_error reason;
  hfta_status status = hfta_cuda_fail(cuda, result, call, NULL, &reason);
  return hfta_fail(error, status, "device 'cuda:%d': %s", index,
                   reason.message);
}
