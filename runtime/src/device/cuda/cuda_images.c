//===- cuda_images.c - Loading a program's kernels onto a GPU -------------===//

#include "device/cuda/cuda_images.h"

#include "device/cuda/cuda_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Choosing an image
//===----------------------------------------------------------------------===//

/// Returns the compute capability that a chip's name such as "sm_90a" contains,
/// as 10 · major + minor; 0 if the text isn't a chip's name. `*is_specific`
/// tells whether the name has a suffix, so that the image runs only on exactly
/// this chip.
static int version_of(const char *chip, bool *is_specific) {
  if (strncmp(chip, "sm_", 3) != 0)
    return 0;
  char *end;
  long version = strtol(chip + 3, &end, 10);
  *is_specific = *end != '\0';
  return (int)version;
}

/// Returns how well an image suits the chip: higher is better, 0 means that the
/// image can't run.
static int rate(const hfta_image *image, uint32_t kind,
                const hfta_cuda_chip *chip) {
  bool is_specific;
  int version = version_of(image->chip, &is_specific);
  int own = 10 * chip->major + chip->minor;
  if (image->kind != kind || version == 0 || version > own ||
      (is_specific && version != own))
    return 0;
  if (kind != HFTA_IMAGE_PTX && version / 10 != chip->major)
    return 0;
  return 2 * version + is_specific;
}

/// Returns the image of a kind that suits the chip best; NULL if none does. All
/// images of its chip and kind together contain the program's kernels.
static const hfta_image *choose(const hfta_image_table *table, uint32_t kind,
                                const hfta_cuda_chip *chip) {
  const hfta_image *best = NULL;
  int best_rate = 0;
  for (uint64_t i = 0; i < table->count; ++i) {
    int own = rate(&table->images[i], kind, chip);
    if (own > best_rate) {
      best_rate = own;
      best = &table->images[i];
    }
  }
  return best;
}

static hfta_status fail_without(const hfta_image_table *table, bool is_emulated,
                                const hfta_cuda_chip *chip, hfta_error *error) {
  if (table->count > 0 &&
      (table->images[0].kind == HFTA_IMAGE_EMULATED) != is_emulated)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the program has code for %s, but this driver is %s: "
                     "compile it %s hftac --gpu-code=emulated",
                     is_emulated ? "GPUs" : "the emulated driver only",
                     is_emulated ? "the emulated one" : "a GPU's",
                     is_emulated ? "with" : "without");
  char list[256] = "";
  const char *last = "";
  for (uint64_t i = 0; i < table->count; ++i) {
    const hfta_image *image = &table->images[i];
    if (strcmp(last, image->chip) == 0)
      continue;
    last = image->chip;
    size_t length = strlen(list);
    snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "",
             last);
  }
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "the program has no code for this GPU ('%s', sm_%d%d), only "
                   "for %s: compile it with hftac --chip=sm_%d%d",
                   chip->name, chip->major, chip->minor,
                   table->count ? list : "none", chip->major, chip->minor);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static void unload_modules(hfta_cuda_images *self) {
  for (uint32_t i = 0; i < self->count; ++i)
    self->gpu->cuda->module_unload(self->modules[i]);
  self->count = 0;
}

/// Loads all images of the chosen image's chip and kind. Returns the first
/// driver result that isn't 0; then no image is loaded.
static hfta_cu_result load_parts(hfta_cuda_images *self,
                                 const hfta_image_table *table,
                                 const hfta_image *chosen) {
  hfta_cu_result result = 0;
  for (uint64_t i = 0; i < table->count && result == 0; ++i) {
    const hfta_image *image = &table->images[i];
    if (image->kind != chosen->kind || strcmp(image->chip, chosen->chip) != 0)
      continue;
    result =
        self->gpu->cuda->module_load(&self->modules[self->count], image->data);
    self->count += result == 0;
  }
  if (result != 0)
    unload_modules(self);
  self->warp_groups = chosen->warp_groups;
  return result;
}

/// Fails with the meaning of a driver call's result. `of` names the object of
/// the call; NULL if there is none.
static hfta_status fail(const hfta_cuda_images *self, const char *call,
                        hfta_cu_result result, const char *of,
                        hfta_error *error) {
  return hfta_gpu_fail(&self->gpu->base, hfta_cuda_result(call, result), of,
                       error);
}

static bool is_refusal(hfta_cu_result result) {
  return result == HFTA_CU_INVALID_IMAGE ||
         result == HFTA_CU_NO_BINARY_FOR_GPU || result == HFTA_CU_INVALID_PTX ||
         result == HFTA_CU_JIT_COMPILER_NOT_FOUND ||
         result == HFTA_CU_UNSUPPORTED_PTX_VERSION;
}

static hfta_status load_modules(hfta_cuda_images *self,
                                const hfta_image_table *table,
                                hfta_error *error) {
  static const uint32_t real[] = {HFTA_IMAGE_CUBIN, HFTA_IMAGE_PTX},
                        emulated[] = {HFTA_IMAGE_EMULATED};
  const hfta_cuda_chip *chip = &self->gpu->chip;
  bool is_emulated = self->gpu->cuda->is_emulated;
  const uint32_t *kinds = is_emulated ? emulated : real;
  uint32_t kind_count = is_emulated ? 1 : 2;
  hfta_cu_result result = 0;
  for (uint32_t i = 0; i < kind_count; ++i) {
    const hfta_image *chosen = choose(table, kinds[i], chip);
    if (!chosen)
      continue;
    result = load_parts(self, table, chosen);
    if (result == 0)
      return HFTA_OK;
    if (!is_refusal(result))
      break;
  }
  if (result == 0)
    return fail_without(table, is_emulated, chip, error);
  hfta_status status = fail(self, "cuModuleLoadData", result, NULL, error);
  if (!is_refusal(result))
    return status;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "the GPU's driver can't load the program's code, install a "
                   "newer driver: %s",
                   error ? error->message : "");
}

/// Raises the kernel's limit of dynamic shared memory to the size that its
/// launches need, which may be more than the driver's default.
static hfta_status allow_shared_memory(const hfta_cuda_images *self,
                                       const hfta_task *task,
                                       const hfta_launch *launch,
                                       hfta_cu_function function,
                                       hfta_error *error) {
  hfta_cu_result result =
      self->gpu->cuda->function_set(function, HFTA_CU_MAX_DYNAMIC_SHARED_BYTES,
                                    (int)launch->warp_groups->shared_bytes);
  if (result == 0)
    return HFTA_OK;
  char of[512];
  snprintf(of, sizeof(of), "kernel '%s' of task '%s'", launch->name,
           task->name);
  return fail(self, "cuFuncSetAttribute", result, of, error);
}

/// Returns how to launch the warp-group version of a kernel; NULL if the loaded
/// images have no such version.
static const hfta_warp_group_launch *groups_of(const hfta_cuda_images *self,
                                               const hfta_launch *launch) {
  return self->warp_groups ? launch->warp_groups : NULL;
}

static hfta_status find_function(hfta_cuda_images *self, const hfta_task *task,
                                 const hfta_launch *launch,
                                 hfta_cu_function *out, hfta_error *error) {
  hfta_cu_result result = HFTA_CU_INVALID_IMAGE;
  for (uint32_t i = 0; i < self->count && result != 0; ++i)
    result =
        self->gpu->cuda->module_function(out, self->modules[i], launch->symbol);
  if (result != 0)
    return fail(self, "cuModuleGetFunction", result, launch->name, error);
  const hfta_warp_group_launch *groups = groups_of(self, launch);
  if (!groups || groups->shared_bytes == 0)
    return HFTA_OK;
  return allow_shared_memory(self, task, launch, *out, error);
}

static hfta_status find_functions(hfta_cuda_images *self,
                                  const hfta_program *program,
                                  hfta_error *error) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < program->task_count; ++i)
    count += program->tasks[i].launch_count;
  self->functions = calloc(count + 1, sizeof(*self->functions));
  self->first = calloc((size_t)program->task_count + 1, sizeof(*self->first));
  if (!self->functions || !self->first)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = HFTA_OK;
  uint64_t next = 0;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    self->first[i] = next;
    for (uint32_t j = 0; j < task->launch_count && status == HFTA_OK; ++j)
      status = find_function(self, task, &task->launches[j],
                             &self->functions[next++], error);
  }
  return status;
}

hfta_status hfta_cuda_images_load(hfta_cuda_gpu *gpu,
                                  const hfta_program *program,
                                  hfta_cuda_images *out, hfta_error *error) {
  *out = (hfta_cuda_images){.gpu = gpu};
  if (!program->images)
    return hfta_fail(error, HFTA_INTERNAL, "the program has no images");
  out->modules = calloc(program->images->count + 1, sizeof(*out->modules));
  uint64_t map_bytes = hfta_cuda_most_map_bytes(program);
  out->maps = aligned_alloc(HFTA_MAP_ALIGNMENT, map_bytes + HFTA_MAP_ALIGNMENT);
  if (!out->modules || !out->maps)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = load_modules(out, program->images, error);
  return status == HFTA_OK ? find_functions(out, program, error) : status;
}

void hfta_cuda_images_unload(hfta_cuda_images *images) {
  if (images->gpu)
    unload_modules(images);
  free(images->modules);
  free(images->functions);
  free(images->first);
  free(images->maps);
  *images = (hfta_cuda_images){0};
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

hfta_gpu_result hfta_cuda_images_prepare(hfta_cuda_images *images,
                                         hfta_gpu_kernel *kernel) {
  hfta_cu_function function =
      images->functions[images->first[kernel->task] + kernel->number];
  kernel->function = (hfta_gpu_function)function;
  const hfta_warp_group_launch *groups = groups_of(images, kernel->launch);
  if (!groups)
    return hfta_gpu_success;
  kernel->block_threads = groups->block_threads;
  kernel->shared_bytes = groups->shared_bytes;
  if (groups->map_count == 0)
    return hfta_gpu_success;
  kernel->places[kernel->place_count++] = images->maps;
  return hfta_cuda_result("cuTensorMapEncodeTiled",
                          hfta_cuda_make_maps(images->gpu->cuda, kernel->launch,
                                              kernel->parameters,
                                              kernel->copies, images->maps));
}
