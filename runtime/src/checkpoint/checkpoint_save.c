//===- checkpoint_save.c - Writing a checkpoint ---------------------------===//

#include "checkpoint/checkpoint_impl.h"
#include "checkpoint/checkpoint_parts.h"
#include "hfta/safetensors.h"
#include "instance/share_state.h"
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

/// The state of saving a checkpoint. Ranks other than 0 write no files, but
/// send rank 0 the tensors that they own.
typedef struct save {
  hfta_instance *instance;
  hfta_checkpoint_parts parts;
  hfta_tensor_view *views; ///< on rank 0: descriptions of a file's tensors
  const hfta_epoch_losses *epoch_losses;
  hfta_best_weights *best;                  ///< NULL: none are kept
  const hfta_checkpoint_addition *addition; ///< NULL: none
  hfta_error *error;
} save;

/// Returns whether this rank writes the files.
static bool writes(const save *self) { return self->parts.ranks->rank == 0; }

static hfta_status allocate(save *self) {
  const hfta_program *program = self->instance->program;
  self->views = calloc((size_t)program->tensor_count + 1, sizeof(*self->views));
  return self->views ? HFTA_OK
                     : hfta_fail(self->error, HFTA_UNSUPPORTED,
                                 "not enough memory to save a checkpoint");
}

static void describe_tensors(save *self) {
  const hfta_program *program = self->instance->program;
  for (uint32_t i = 0; i < self->parts.count; ++i) {
    const hfta_tensor *tensor = &program->tensors[self->parts.tensors[i]];
    self->views[i] = (hfta_tensor_view){.name = tensor->name,
                                        .type = (hfta_element_type)tensor->type,
                                        .rank = tensor->rank,
                                        .shape = tensor->shape,
                                        .bytes = tensor->bytes};
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The copy whose tensors are being saved.
typedef struct copy_source {
  save *save;
  int64_t copy;
  bool is_best; ///< whether its best weights are saved, not its state
} copy_source;

/// Copies a tensor's part of a chunk into the buffer, from the instance or from
/// the best weights.
static hfta_status read_part(void *argument, uint32_t tensor, uint64_t offset,
                             char *bytes, uint64_t count) {
  const copy_source *self = argument;
  if (self->is_best) {
    const char *from =
        hfta_best_weights_find(self->save->best, tensor, self->copy);
    memcpy(bytes, from + offset, (size_t)count);
    return HFTA_OK;
  }
  return hfta_instance_read(self->save->instance, tensor, self->copy, offset,
                            bytes, count);
}

/// Gets a chunk's bytes into rank 0's buffer: from the device if rank 0 owns
/// the chunk, else from its owner. Other ranks do nothing.
static hfta_status take_chunk(copy_source *self, const hfta_chunk *chunk) {
  save *save = self->save;
  const hfta_checkpoint_parts *parts = &save->parts;
  int owner = hfta_checkpoint_parts_owner(parts, chunk);
  hfta_status status = HFTA_OK;
  if (owner == parts->ranks->rank)
    status = hfta_checkpoint_parts_visit(parts, chunk, read_part, self);
  if (status != HFTA_OK)
    *save->error = save->instance->error;
  // A chunk that couldn't be read is sent all the same, because rank 0 waits
  // for it.
  hfta_status moved = HFTA_OK;
  if (owner != 0 && writes(save))
    moved = hfta_checkpoint_parts_receive(parts, chunk, owner, save->error);
  else if (owner != 0 && owner == parts->ranks->rank)
    moved = hfta_checkpoint_parts_send(parts, chunk, 0, save->error);
  return status == HFTA_OK ? moved : status;
}

/// Appends all tensors of a copy to the file. `writer` is NULL on ranks other
/// than 0, and on rank 0 if it has failed with `status`. Even then a spread
/// checkpoint's chunks are all exchanged, since other ranks take part. Returns
/// this rank's first failure.
static hfta_status copy_tensors(copy_source *self,
                                hfta_safetensors_writer *writer,
                                hfta_status status) {
  save *save = self->save;
  hfta_chunk chunk = {0, 0, 0};
  for (;;) {
    chunk = hfta_checkpoint_parts_next(&save->parts, &chunk);
    if (chunk.bytes == 0 || (status != HFTA_OK && !save->parts.is_spread))
      return status;
    hfta_error first = *save->error;
    hfta_status taken = take_chunk(self, &chunk);
    if (taken == HFTA_LOST)
      return taken;
    if (status != HFTA_OK)
      *save->error = first;
    else if (taken != HFTA_OK)
      status = taken;
    else if (writer)
      status = hfta_safetensors_append(writer, save->parts.chunk,
                                       (size_t)chunk.bytes, save->error);
  }
}

/// Returns the bits of an f64. All NaNs have the same bits, so that equal
/// states give equal files.
static uint64_t real_bits(double value) {
  uint64_t bits = 0;
  if (isnan(value))
    value = NAN;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static hfta_status begin_file(save *self, const char *path,
                              const hfta_metadata *metadata, size_t count,
                              hfta_safetensors_writer **out) {
  describe_tensors(self);
  return hfta_safetensors_begin(path, self->views, self->parts.count, metadata,
                                count, out, self->error);
}

/// Begins the file of a copy's best weights.
static hfta_status begin_best(save *self, const char *path, int64_t copy,
                              hfta_safetensors_writer **out) {
  char step[32];
  snprintf(step, sizeof(step), "%" PRId64, self->best->steps[copy]);
  const hfta_metadata metadata[] = {
      {"format", HFTA_BEST_FORMAT},
      {"version", HFTA_BEST_VERSION},
      {HFTA_SAFETENSORS_CHECKSUM, NULL},
      {"identity", hfta_program_model(self->instance->program, copy)->identity},
      {"step", step}};
  return begin_file(self, path, metadata, sizeof(metadata) / sizeof(*metadata),
                    out);
}

/// Begins a copy's file with the checkpoint's metadata.
static hfta_status begin_copy(save *self, const char *path, int64_t copy,
                              hfta_safetensors_writer **out) {
  const hfta_epoch_losses none = {0.0, 0};
  const hfta_epoch_losses *losses =
      self->epoch_losses ? &self->epoch_losses[copy] : &none;
  char step[32], loss[32], loss_steps[32], best_step[32];
  snprintf(step, sizeof(step), "%" PRId64, self->instance->steps);
  snprintf(loss, sizeof(loss), "%016" PRIx64, real_bits(losses->sum));
  snprintf(loss_steps, sizeof(loss_steps), "%" PRId64, losses->steps);
  hfta_metadata metadata[8] = {
      {"format", HFTA_CHECKPOINT_FORMAT},
      {"version", HFTA_CHECKPOINT_VERSION},
      {HFTA_SAFETENSORS_CHECKSUM, NULL},
      {"identity", hfta_program_model(self->instance->program, copy)->identity},
      {"step", step},
      {"epoch_loss", loss}};
  size_t count = 6;
  if (losses->steps >= 0)
    metadata[count++] = (hfta_metadata){"epoch_steps", loss_steps};
  if (self->best) {
    snprintf(best_step, sizeof(best_step), "%" PRId64, self->best->steps[copy]);
    metadata[count++] = (hfta_metadata){"best_step", best_step};
  }
  return begin_file(self, path, metadata, count, out);
}

/// Returns the result that all ranks agree on, if they take part in the save;
/// else this rank's `status`.
static hfta_status agree(save *self, hfta_status status) {
  return !self->parts.is_spread
             ? status
             : hfta_checkpoint_parts_agree(&self->parts, status, self->error);
}

/// Saves a copy, or its best weights, to the file `path`, which only rank 0
/// uses. Returns whether to continue with the next file; all ranks return the
/// same. If rank 0 fails to finish the file of a spread checkpoint, the others
/// learn of it only with the next file: so it continues with `*status` set, and
/// the ranks agree on the failure then.
static bool save_copy(save *self, const char *path, int64_t copy, bool is_best,
                      hfta_status *status) {
  copy_source source = {self, copy, is_best};
  hfta_safetensors_writer *writer = NULL;
  hfta_checkpoint_parts_list(&self->parts, copy);
  if (is_best)
    hfta_checkpoint_parts_narrow(&self->parts, copy);
  if (writes(self) && *status == HFTA_OK)
    *status = (is_best ? begin_best : begin_copy)(self, path, copy, &writer);
  *status = agree(self, copy_tensors(&source, writer, *status));
  if (*status != HFTA_OK) {
    hfta_safetensors_abandon(writer);
    return false;
  }
  if (writer)
    *status = hfta_safetensors_finish(writer, self->error);
  return *status == HFTA_OK || self->parts.is_spread;
}

/// Replaces the folder `to` by `from` on a file system that can't exchange two
/// folders: renames the old one first, then the new one. If the second renaming
/// fails, the old one gets its name back at once. After a crash between the
/// two, the next training restores it (restore in checkpoint_folder.c).
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
      // If the old folder can't be removed, the next training removes it.
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

/// Renames a complete folder durably to its final name, where it replaces an
/// older checkpoint of the same step, if there is one.
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

/// Saves a copy, or its best weights, into `folder`, which is NULL on ranks
/// other than 0. Returns whether to continue, as save_copy does.
static bool save_into(save *self, const char *folder, int64_t copy,
                      bool is_best, hfta_status *status) {
  hfta_path path = {""};
  if (folder && *status == HFTA_OK)
    *status = hfta_checkpoint_file(&path, folder, copy, is_best, self->error);
  return save_copy(self, path.text, copy, is_best, status);
}

/// Saves all copies into `folder`, which is NULL on ranks other than 0.
static hfta_status save_copies(save *self, const char *folder) {
  hfta_status status = HFTA_OK;
  bool goes_on = true;
  for (int64_t copy = 0; copy < self->instance->program->copies && goes_on;
       ++copy) {
    goes_on = save_into(self, folder, copy, false, &status);
    if (goes_on && self->best && self->best->steps[copy] > 0)
      goes_on = save_into(self, folder, copy, true, &status);
  }
  return status;
}

/// Writes all files into a temporary folder and moves it into place. After a
/// failure nothing is left of it.
static hfta_status write_folder(save *self, const char *temporary,
                                const char *final, const char *folder) {
  hfta_status status = save_copies(self, temporary);
  if (status == HFTA_OK && self->addition)
    status =
        self->addition->write(self->addition->argument, temporary, self->error);
  if (status == HFTA_OK)
    status = hfta_folder_sync(temporary, self->error);
  if (status == HFTA_OK)
    status = move_into_place(temporary, final, folder, self->error);
  if (status != HFTA_OK)
    hfta_folder_remove(temporary, NULL);
  return status;
}

/// Makes the temporary folder, which is renamed to the checkpoint's final name
/// when it is complete.
static hfta_status begin(save *self, const char *folder, hfta_path *temporary,
                         hfta_path *final) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path prefix;
  hfta_checkpoint_name(self->instance->steps, name);
  hfta_status status =
      hfta_path_format(final, self->error, "%s/%s", folder, name);
  if (status == HFTA_OK)
    status = hfta_path_format(&prefix, self->error,
                              "%s/" HFTA_CHECKPOINT_HIDDEN "%s-", folder, name);
  if (status == HFTA_OK)
    status = allocate(self);
  if (status == HFTA_OK)
    status = hfta_folder_make_unique(temporary, prefix.text, self->error);
  return status;
}

/// Saves all copies. `status` is this rank's result so far; if it is a failure,
/// no rank saves.
static hfta_status save_all(save *self, const char *folder,
                            hfta_status status) {
  hfta_path temporary, final;
  bool has_folder = status == HFTA_OK && writes(self);
  if (has_folder)
    status = begin(self, folder, &temporary, &final);
  has_folder &= status == HFTA_OK;
  status = agree(self, status);
  if (status != HFTA_OK && has_folder)
    rmdir(temporary.text);
  if (status != HFTA_OK)
    return status;
  return writes(self) ? write_folder(self, temporary.text, final.text, folder)
                      : save_copies(self, NULL);
}

static hfta_status cannot_save(hfta_instance *instance, const char *folder,
                               hfta_status status, const hfta_error *reason) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  return hfta_fail(
      &instance->error, status, "cannot save checkpoint '%s/%s': %s", folder,
      hfta_checkpoint_name(instance->steps, name), reason->message);
}

/// Does as hfta_checkpoint_save, unless `status` is a failure already, whose
/// message is in `reason`. Leaves the message of any failure in the instance.
static hfta_status save_after(hfta_instance *instance, const char *folder,
                              const hfta_epoch_losses *epoch_losses,
                              hfta_best_weights *best,
                              const hfta_checkpoint_addition *addition,
                              hfta_status status, hfta_error *reason) {
  hfta_error own;
  save self = {.instance = instance,
               .epoch_losses = epoch_losses,
               .best = best,
               .addition = addition,
               .error = reason};
  hfta_status created =
      hfta_checkpoint_parts_create(&self.parts, instance, &own);
  bool is_spread = self.parts.is_spread;
  if (status == HFTA_OK && created != HFTA_OK) {
    status = created;
    *reason = own;
  }
  if (created == HFTA_OK && (writes(&self) || is_spread))
    status = save_all(&self, folder, status);
  free(self.views);
  hfta_checkpoint_parts_destroy(&self.parts);
  if (status != HFTA_OK)
    cannot_save(instance, folder, status, reason);
  return is_spread ? hfta_share_outcome(instance, status) : status;
}

hfta_status hfta_checkpoint_write_copy(hfta_instance *instance, int64_t copy,
                                       const char *path,
                                       const hfta_epoch_losses *epoch_losses) {
  hfta_error reason;
  save self = {
      .instance = instance, .epoch_losses = epoch_losses, .error = &reason};
  hfta_status status =
      hfta_checkpoint_parts_create(&self.parts, instance, &reason);
  bool is_spread = self.parts.is_spread;
  if (status == HFTA_OK && (writes(&self) || is_spread)) {
    status = agree(&self, allocate(&self));
    if (status == HFTA_OK)
      save_copy(&self, path, copy, false, &status);
  }
  free(self.views);
  hfta_checkpoint_parts_destroy(&self.parts);
  if (status != HFTA_OK)
    hfta_fail(&instance->error, status, "cannot save '%s': %s", path,
              reason.message);
  return hfta_share_outcome(instance, status);
}

hfta_status hfta_checkpoint_write(hfta_instance *instance, const char *folder,
                                  const hfta_epoch_losses *epoch_losses,
                                  hfta_best_weights *best,
                                  const hfta_checkpoint_addition *addition) {
  hfta_error reason;
  return save_after(instance, folder, epoch_losses, best, addition, HFTA_OK,
                    &reason);
}

hfta_status hfta_checkpoint_save(hfta_instance *instance, const char *folder,
                                 const hfta_epoch_losses *epoch_losses) {
  hfta_error reason;
  hfta_folder_lock lock = {.descriptor = -1};
  hfta_status status = HFTA_OK;
  if (instance->communicator->rank == 0)
    status = hfta_folder_make(folder, &reason);
  if (instance->communicator->rank == 0 && status == HFTA_OK)
    status = hfta_folder_lock_take(&lock, folder, true, &reason);
  status =
      save_after(instance, folder, epoch_losses, NULL, NULL, status, &reason);
  hfta_folder_unlock(&lock);
  return status;
}

hfta_status hfta_instance_save(hfta_instance *instance, const char *folder) {
  return hfta_share_outcome(instance,
                            hfta_checkpoint_save(instance, folder, NULL));
}
