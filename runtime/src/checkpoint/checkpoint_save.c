//===- checkpoint_save.c - Writing a checkpoint ---------------------------===//

#include "checkpoint/checkpoint_impl.h"
#include "hfta/safetensors.h"
#include "schedule/share_state.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20 };

/// What the files of one checkpoint have in common.
typedef struct save {
  hfta_instance *instance;
  hfta_tensor_view *views;
  uint32_t *tensors; ///< table indices, as many as views
  size_t count;
  char *chunk;
  const double *epoch_losses;
  hfta_error *error;
} save;

static hfta_status allocate(save *self) {
  const hfta_program *program = self->instance->program;
  self->views = calloc((size_t)program->tensor_count + 1, sizeof(*self->views));
  self->tensors =
      calloc((size_t)program->tensor_count + 1, sizeof(*self->tensors));
  self->chunk = malloc(CHUNK_BYTES);
  if (!self->views || !self->tensors || !self->chunk)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory to save a checkpoint");
  return HFTA_OK;
}

static void collect_tensors(save *self, int64_t copy) {
  const hfta_program *program = self->instance->program;
  self->count = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!(tensor->flags & HFTA_TENSOR_CHECKPOINT) ||
        !hfta_tensor_is_of(tensor, copy))
      continue;
    self->tensors[self->count] = i;
    self->views[self->count++] =
        (hfta_tensor_view){.name = tensor->name,
                           .type = (hfta_element_type)tensor->type,
                           .rank = tensor->rank,
                           .shape = tensor->shape,
                           .bytes = tensor->bytes};
  }
}

/// Appends a copy's tensor piece by piece: it may lie on another device.
static hfta_status append_tensor(save *self, hfta_safetensors_writer *writer,
                                 size_t index, int64_t copy) {
  hfta_status status = HFTA_OK;
  uint64_t bytes = self->views[index].bytes;
  for (uint64_t offset = 0; offset < bytes && status == HFTA_OK;
       offset += CHUNK_BYTES) {
    uint64_t size = bytes - offset < CHUNK_BYTES ? bytes - offset : CHUNK_BYTES;
    status = hfta_instance_read(self->instance, self->tensors[index], copy,
                                offset, self->chunk, size);
    if (status == HFTA_OK)
      status = hfta_safetensors_append(writer, self->chunk, size, self->error);
    hfta_communicator_progress(self->instance->communicator);
  }
  return status;
}

/// One NaN stands for all.
static uint64_t real_bits(double value) {
  uint64_t bits = 0;
  if (isnan(value))
    value = NAN;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static hfta_status save_copy(save *self, const char *folder, int64_t copy) {
  char step[32], loss[32];
  snprintf(step, sizeof(step), "%" PRId64, self->instance->steps);
  snprintf(loss, sizeof(loss), "%016" PRIx64,
           real_bits(self->epoch_losses ? self->epoch_losses[copy] : 0.0));
  const hfta_metadata metadata[] = {
      {"format", HFTA_CHECKPOINT_FORMAT},
      {"version", HFTA_CHECKPOINT_VERSION},
      {HFTA_SAFETENSORS_CHECKSUM, NULL},
      {"identity", hfta_program_model(self->instance->program, copy)->identity},
      {"step", step},
      {"epoch_loss", loss}};
  collect_tensors(self, copy);
  hfta_path path;
  hfta_safetensors_writer *writer = NULL;
  hfta_status status = hfta_path_format(
      &path, self->error, "%s/copy-%04" PRId64 ".safetensors", folder, copy);
  if (status == HFTA_OK)
    status = hfta_safetensors_begin(
        path.text, self->views, self->count, metadata,
        sizeof(metadata) / sizeof(*metadata), &writer, self->error);
  for (size_t i = 0; i < self->count && status == HFTA_OK; ++i)
    status = append_tensor(self, writer, i, copy);
  if (status == HFTA_OK)
    return hfta_safetensors_finish(writer, self->error);
  hfta_safetensors_abandon(writer);
  return status;
}

/// Where the file system can't exchange two folders, the old one steps aside.
/// Until the new one has its name, the old one comes back: at once after a
/// failure, at the next training's start after a crash.
static hfta_status step_aside(const char *from, const char *to,
                              const char *folder, hfta_error *error) {
  hfta_path old;
  hfta_status status =
      hfta_path_format(&old, error, "%s" HFTA_CHECKPOINT_REPLACED, from);
  if (status != HFTA_OK)
    return status;
  if (rename(to, old.text) == 0) {
    if (rename(from, to) == 0) {
      status = hfta_folder_sync(folder, error);
      // What resists is only a leftover.
      hfta_checkpoint_discard(folder, old.text, NULL);
      return status;
    }
    int code = errno;
    rename(old.text, to);
    errno = code;
  }
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot replace '%s': %s", to,
                   strerror(errno));
}

/// Moves a complete folder durably to its final name, in place of an older one.
static hfta_status move_into_place(const char *from, const char *to,
                                   const char *folder, hfta_error *error) {
  if (rename(from, to) == 0)
    return hfta_folder_sync(folder, error);
  if (errno != ENOTEMPTY && errno != EEXIST)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot rename '%s': %s", from,
                     strerror(errno));
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) != 0)
    return step_aside(from, to, folder, error);
  hfta_status status = hfta_folder_sync(folder, error);
  hfta_folder_remove(from, NULL);
  return status;
}

static hfta_status write_folder(save *self, const char *temporary,
                                const char *final, const char *folder) {
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0;
       copy < self->instance->program->copies && status == HFTA_OK; ++copy)
    status = save_copy(self, temporary, copy);
  if (status == HFTA_OK)
    status = hfta_folder_sync(temporary, self->error);
  if (status == HFTA_OK)
    status = move_into_place(temporary, final, folder, self->error);
  if (status != HFTA_OK)
    hfta_folder_remove(temporary, NULL);
  return status;
}

static hfta_status save_all(save *self, const char *folder) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path prefix, temporary, final;
  hfta_checkpoint_name(self->instance->steps, name);
  hfta_status status =
      hfta_path_format(&final, self->error, "%s/%s", folder, name);
  if (status == HFTA_OK)
    status = hfta_path_format(&prefix, self->error,
                              "%s/" HFTA_CHECKPOINT_HIDDEN "%s-", folder, name);
  if (status == HFTA_OK)
    status = allocate(self);
  if (status == HFTA_OK)
    status = hfta_folder_make_unique(&temporary, prefix.text, self->error);
  if (status == HFTA_OK)
    status = write_folder(self, temporary.text, final.text, folder);
  return status;
}

static hfta_status cannot_save(hfta_instance *instance, const char *folder,
                               hfta_status status, const hfta_error *reason) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  return hfta_fail(
      &instance->error, status, "cannot save checkpoint '%s/%s': %s", folder,
      hfta_checkpoint_name(instance->steps, name), reason->message);
}

hfta_status hfta_checkpoint_write(hfta_instance *instance, const char *folder,
                                  const double *epoch_losses) {
  hfta_error reason;
  save self = {
      .instance = instance, .epoch_losses = epoch_losses, .error = &reason};
  hfta_status status = save_all(&self, folder);
  free(self.views);
  free(self.tensors);
  free(self.chunk);
  return status == HFTA_OK ? status
                           : cannot_save(instance, folder, status, &reason);
}

hfta_status hfta_checkpoint_save(hfta_instance *instance, const char *folder,
                                 const double *epoch_losses) {
  hfta_error reason;
  hfta_folder_lock lock = {.descriptor = -1};
  hfta_status status = hfta_folder_make(folder, &reason);
  if (status == HFTA_OK)
    status = hfta_folder_lock_take(&lock, folder, true, &reason);
  if (status != HFTA_OK)
    return cannot_save(instance, folder, status, &reason);
  status = hfta_checkpoint_write(instance, folder, epoch_losses);
  hfta_folder_unlock(&lock);
  return status;
}

hfta_status hfta_instance_save(hfta_instance *instance, const char *folder) {
  hfta_status status = HFTA_OK;
  if (instance->communicator->rank == 0)
    status = hfta_checkpoint_save(instance, folder, NULL);
  return hfta_share_outcome(instance, status);
}
