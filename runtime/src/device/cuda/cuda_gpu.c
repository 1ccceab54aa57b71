//===- cuda_gpu.c - One of a machine's GPUs -------------------------------===//

#include "device/cuda/cuda_gpu.h"

hfta_gpu_result hfta_cuda_result(const char *call, hfta_cu_result code) {
  return (hfta_gpu_result){code, code == HFTA_CU_OUT_OF_MEMORY, call};
}

/// Makes the driver calls that open a GPU, until one fails. `*count` becomes
/// the number of GPUs. If `index` isn't below that number, returns a success
/// without opening a GPU.
static hfta_gpu_result take(const hfta_cuda *cuda, int index,
                            hfta_cuda_gpu *self, int *count) {
  hfta_cuda_chip *chip = &self->chip;
  hfta_gpu_result result = hfta_gpu_success;
#define HFTA_CU_TRY(name, value)                                               \
  if (result.code == 0)                                                        \
    result = hfta_cuda_result(name, value);
  HFTA_CU_TRY("cuInit", cuda->init(0))
  HFTA_CU_TRY("cuDeviceGetCount", cuda->device_count(count))
  if (result.code == 0 && index >= *count)
    return result;
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

hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda,
                               const hfta_gpu_driver *functions, int index,
                               hfta_cuda_gpu *out, hfta_error *error) {
  int count = 0;
  *out = (hfta_cuda_gpu){.base = {functions, out->chip.name}, .cuda = cuda};
  hfta_gpu_result result = take(cuda, index, out, &count);
  if (result.code == HFTA_CU_NO_DEVICE || (result.code == 0 && count == 0))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "device 'cuda:%d': this machine has a driver, but no "
                     "NVIDIA GPU that may be used",
                     index);
  if (result.code == 0 && index >= count)
    return hfta_fail(error, HFTA_USAGE,
                     "device 'cuda:%d': expected a number below %d, which are "
                     "the GPUs of this machine",
                     index, count);
  if (result.code == 0)
    return HFTA_OK;
  hfta_error reason;
  hfta_status status = hfta_gpu_fail(&out->base, result, NULL, &reason);
  return hfta_fail(error, status, "device 'cuda:%d': %s", index,
                   reason.message);
}
