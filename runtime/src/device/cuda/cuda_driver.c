//===- cuda_driver.c - The functions of NVIDIA's driver -------------------===//

#include "device/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static const char library_name[] = "libcuda.so.1";

/// Looks up a symbol and copies its address to `*out`. The address is copied
/// bytewise, since ISO C has no cast from an object pointer to a function
/// pointer.
static bool find(void *library, const char *name, void *out) {
  void *symbol = dlsym(library, name);
  memcpy(out, &symbol, sizeof(symbol));
  return symbol != NULL;
}

static hfta_status load(void *library, hfta_cuda *cuda, hfta_error *error) {
  const char *missing = NULL;
#define HFTA_CU_FIND(member, name, arguments)                                  \
  if (!missing && !find(library, name, &cuda->member))                         \
    missing = name;
  HFTA_CU_FUNCTIONS(HFTA_CU_FIND)
#undef HFTA_CU_FIND
  cuda->is_emulated = dlsym(library, "hfta_emulated_driver") != NULL;
  if (missing)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the GPU's driver '%s' has no function '%s': install a "
                     "driver for CUDA 12 or later",
                     library_name, missing);
  return HFTA_OK;
}

static hfta_status open_library(hfta_cuda *cuda, hfta_error *error) {
  void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "this machine has no driver for NVIDIA GPUs: %s",
                     reason ? reason : library_name);
  }
  hfta_status status = load(library, cuda, error);
  if (status != HFTA_OK)
    dlclose(library);
  return status;
}

hfta_status hfta_cuda_load(const hfta_cuda **out, hfta_error *error) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static hfta_cuda cuda;
  static bool is_loaded;
  *out = &cuda;
  hfta_status status = HFTA_OK;
  pthread_mutex_lock(&mutex);
  if (!is_loaded)
    status = open_library(&cuda, error);
  is_loaded = status == HFTA_OK;
  pthread_mutex_unlock(&mutex);
  return status;
}
