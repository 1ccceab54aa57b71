//===- checkpoint_load.c - Reading a checkpoint ---------------------------===//

#include "checkpoint/averages.h"
#include "checkpoint/checkpoint_impl.h"
#include "checkpoint/checkpoint_parts.h"
#include "hfta/safetensors.h"
#include "instance/parts.h"
#include "instance/share_state.h"
#include "schedule/step.h"
#include "system/file.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/// The state of loading a checkpoint.
typedef struct load {
  hfta_instance *instance;
  hfta_path folder;
  const char *single; ///< the only file that is loaded; NULL: those of `folder`
  int64_t steps;      ///< the checkpoint's step
  hfta_epoch_losses *epoch_losses; ///< one per copy, or NULL
  /// One per copy, or NULL if best weights aren't loaded: their step; 0: the
  /// checkpoint has none.
  int64_t *best_steps;
  hfta_best_weights *best; ///< receives best weights; NULL: the instance does
  /// Two per copy, the second for its best weights: the state of the file when
  /// it was checked. Closed between the two times that the file is open.
  hfta_watch *watches;
  hfta_checkpoint_parts parts;
  hfta_chunk next; ///< the first chunk of the current copy's file that hasn't
                   ///< been sent
} load;

/// One copy's file, or that of its best weights, while it is open. Only one
/// file is open at a time, so that address space and descriptors don't grow
/// with the number of copies.
typedef struct copy_file {
  load *load;
  int64_t copy;
  bool is_best;
  hfta_path path;
  hfta_safetensors *file;
} copy_file;

/// Parses a decimal number. Returns false if the text is anything else.
static bool parse_steps(const char *text, int64_t *out) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0';
}

static hfta_status check_epoch_losses(const load *self,
                                      const hfta_safetensors *file,
                                      const char *path) {
  hfta_error *error = &self->instance->error;
  const char *loss = hfta_safetensors_metadata(file, "epoch_loss");
  const char *text = hfta_safetensors_metadata(file, "epoch_steps");
  int64_t steps;
  if (loss && (strlen(loss) != 16 || strspn(loss, "0123456789abcdef") != 16))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has epoch_loss '%.32s', expected 16 digits of base "
                     "16",
                     path, loss);
  if (text && (!parse_steps(text, &steps) || steps < 0 || steps > self->steps))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has epoch_steps '%.32s', expected a number up to "
                     "its step",
                     path, text);
  return HFTA_OK;
}

/// Checks that a file is of this model and optimizer.
static hfta_status check_identity(const copy_file *self) {
  const hfta_instance *instance = self->load->instance;
  const hfta_model *model = hfta_program_model(instance->program, self->copy);
  const char *identity = hfta_safetensors_metadata(self->file, "identity");
  if (strcmp(identity, model->identity) == 0 ||
      strcmp(identity, model->identity_of_batch) == 0)
    return HFTA_OK;
  return hfta_fail(&self->load->instance->error, HFTA_INVALID_INPUT,
                   "'%s' belongs to another model or optimizer (identity "
                   "%.64s, expected %s)",
                   self->path.text, identity, model->identity);
}

/// Checks that a file is of step `expected`, that of `whose`.
static hfta_status check_step(const copy_file *self, int64_t expected,
                              const char *whose) {
  const char *step = hfta_safetensors_metadata(self->file, "step");
  int64_t steps;
  if (parse_steps(step, &steps) && steps == expected)
    return HFTA_OK;
  return hfta_fail(&self->load->instance->error, HFTA_INVALID_INPUT,
                   "'%s' belongs to step '%.32s', not to the step of %s",
                   self->path.text, step, whose);
}

/// Notes the step of a copy's best weights, which its own file has.
static hfta_status note_best_step(const copy_file *self) {
  load *load = self->load;
  const char *text = hfta_safetensors_metadata(self->file, "best_step");
  int64_t step = 0;
  if (text && (!parse_steps(text, &step) || step < 0 || step > load->steps))
    return hfta_fail(&load->instance->error, HFTA_INVALID_INPUT,
                     "'%s' has best_step '%.32s', expected a number up to its "
                     "step",
                     self->path.text, text);
  if (load->best_steps)
    load->best_steps[self->copy] = step;
  return HFTA_OK;
}

static hfta_status check_metadata(const copy_file *self) {
  const load *load = self->load;
  const hfta_safetensors *file = self->file;
  hfta_error *error = &load->instance->error;
  const char *path = self->path.text;
  const char *format = hfta_safetensors_metadata(file, "format");
  const char *version = hfta_safetensors_metadata(file, "version");
  if (!format || strcmp(format, HFTA_CHECKPOINT_FORMAT) != 0 || !version ||
      !hfta_safetensors_metadata(file, "identity") ||
      !hfta_safetensors_metadata(file, "step"))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is not a checkpoint of a training binary", path);
  bool checked = strcmp(version, HFTA_CHECKPOINT_VERSION) == 0;
  if (!checked && strcmp(version, HFTA_CHECKPOINT_VERSION_UNCHECKED) != 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has format version %s, this program "
                     "reads " HFTA_CHECKPOINT_VERSION_UNCHECKED
                     " and " HFTA_CHECKPOINT_VERSION,
                     path, version);
  if (checked && !hfta_safetensors_metadata(file, HFTA_SAFETENSORS_CHECKSUM))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is damaged: it lacks its checksum", path);
  hfta_status status = check_identity(self);
  if (status == HFTA_OK)
    status = check_step(self, load->steps, "this checkpoint");
  if (status == HFTA_OK)
    status = check_epoch_losses(load, file, path);
  return status == HFTA_OK ? note_best_step(self) : status;
}

static hfta_status check_best_metadata(const copy_file *self) {
  const hfta_safetensors *file = self->file;
  const char *format = hfta_safetensors_metadata(file, "format");
  const char *version = hfta_safetensors_metadata(file, "version");
  if (!format || strcmp(format, HFTA_BEST_FORMAT) != 0 || !version ||
      strcmp(version, HFTA_BEST_VERSION) != 0 ||
      !hfta_safetensors_metadata(file, HFTA_SAFETENSORS_CHECKSUM) ||
      !hfta_safetensors_metadata(file, "identity") ||
      !hfta_safetensors_metadata(file, "step"))
    return hfta_fail(&self->load->instance->error, HFTA_INVALID_INPUT,
                     "'%s' doesn't hold best weights that this program reads",
                     self->path.text);
  hfta_status status = check_identity(self);
  return status == HFTA_OK
             ? check_step(self, self->load->best_steps[self->copy],
                          "the copy's best weights")
             : status;
}

/// Returns whether a copy's file has a tensor.
static bool has_tensor(const copy_file *self, const hfta_tensor *tensor) {
  return self->is_best ? hfta_best_weights_have(tensor, self->copy)
                       : (tensor->flags & HFTA_TENSOR_CHECKPOINT) &&
                             hfta_tensor_is_of(tensor, self->copy);
}

static hfta_status check_tensor(const load *self, const hfta_safetensors *file,
                                const char *path, const hfta_tensor *tensor) {
  hfta_error *error = &self->instance->error;
  const hfta_tensor_view *view = hfta_safetensors_find(file, tensor->name);
  if (!view)
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' lacks tensor '%s'", path,
                     tensor->name);
  bool same = view->type == (hfta_element_type)tensor->type &&
              view->rank == tensor->rank && view->bytes == tensor->bytes;
  for (uint32_t i = 0; same && i < tensor->rank; ++i)
    same = view->shape[i] == tensor->shape[i];
  if (same)
    return HFTA_OK;
  char expected[HFTA_SHAPE_TEXT_BYTES], got[HFTA_SHAPE_TEXT_BYTES];
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s': tensor '%s' is %s %s, expected %s %s", path,
                   tensor->name, hfta_element_name(view->type),
                   hfta_shape_text(view->shape, view->rank, got),
                   hfta_element_name(tensor->type),
                   hfta_shape_text(tensor->shape, tensor->rank, expected));
}

/// Opens a copy's file and checks everything in it, including its checksum. An
/// argument of read_copy.
static hfta_status check_copy(void *argument) {
  copy_file *self = argument;
  const load *load = self->load;
  const hfta_program *program = load->instance->program;
  hfta_error *error = &load->instance->error;
  const char *path = self->path.text;
  hfta_status status = hfta_safetensors_open(path, &self->file, error);
  if (status == HFTA_OK)
    status = hfta_safetensors_verify(self->file, path, error);
  if (status == HFTA_OK)
    status = self->is_best ? check_best_metadata(self) : check_metadata(self);
  size_t count = 0;
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!has_tensor(self, tensor))
      continue;
    status = check_tensor(load, self->file, path, tensor);
    ++count;
  }
  if (status == HFTA_OK && hfta_safetensors_count(self->file) != count)
    status = hfta_fail(error, HFTA_INVALID_INPUT,
                       "'%s' holds %zu tensors, expected %zu", path,
                       hfta_safetensors_count(self->file), count);
  return status;
}

static hfta_epoch_losses get_epoch_losses(const hfta_safetensors *file) {
  const char *loss = hfta_safetensors_metadata(file, "epoch_loss");
  const char *steps = hfta_safetensors_metadata(file, "epoch_steps");
  uint64_t bits = loss ? strtoull(loss, NULL, 16) : 0;
  hfta_epoch_losses losses = {0.0, steps ? strtoll(steps, NULL, 10) : -1};
  memcpy(&losses.sum, &bits, sizeof(losses.sum));
  return losses;
}

/// Begins a copy, or its best weights, on every rank: lists the tensors that
/// are loaded from the file, and finds the first chunk.
static void begin_copy(load *self, int64_t copy, bool is_best) {
  const hfta_chunk none = {0, 0, 0};
  hfta_checkpoint_parts_list_needed(&self->parts, copy);
  if (is_best)
    hfta_checkpoint_parts_narrow(&self->parts, copy);
  self->next = hfta_checkpoint_parts_next(&self->parts, &none);
}

/// Copies a tensor's part of a chunk from the file into the buffer.
static hfta_status read_part(void *argument, uint32_t tensor, uint64_t offset,
                             char *bytes, uint64_t count) {
  const copy_file *self = argument;
  const hfta_program *program = self->load->instance->program;
  const hfta_tensor *loaded = &program->tensors[tensor];
  const hfta_tensor *average =
      self->is_best
          ? NULL
          : hfta_find_loaded_average(self->load->instance, loaded, self->copy);
  const void *own = hfta_safetensors_find(self->file, loaded->name)->data;
  if (average)
    hfta_convert_average(loaded, average, own,
                         hfta_safetensors_find(self->file, average->name)->data,
                         offset, bytes, count);
  else
    memcpy(bytes, (const char *)own + offset, count);
  return HFTA_OK;
}

/// Copies a tensor's part of a chunk from the buffer to where it is loaded.
static hfta_status write_part(void *argument, uint32_t tensor, uint64_t offset,
                              char *bytes, uint64_t count) {
  const copy_file *self = argument;
  if (self->is_best && self->load->best) {
    char *to = hfta_best_weights_find(self->load->best, tensor, self->copy);
    memcpy(to + offset, bytes, (size_t)count);
    return HFTA_OK;
  }
  return hfta_instance_write(self->load->instance, tensor, self->copy, offset,
                             bytes, count);
}

/// Sends the next chunk, which is in the buffer, to all other ranks that hold
/// it, and writes it into the instance if this rank (0) holds it.
static hfta_status give_next(copy_file *self) {
  load *load = self->load;
  hfta_chunk chunk = load->next;
  hfta_status status =
      hfta_checkpoint_parts_give(&load->parts, &chunk, &load->instance->error);
  load->next = hfta_checkpoint_parts_next(&load->parts, &chunk);
  if (status != HFTA_OK || !hfta_checkpoint_parts_hold(&load->parts, &chunk, 0))
    return status;
  return hfta_checkpoint_parts_visit(&load->parts, &chunk, write_part, self);
}

/// Loads the tensors of a file that was checked, and sends them to the ranks
/// that hold them. An argument of read_copy.
static hfta_status give_tensors(void *argument) {
  copy_file *self = argument;
  load *load = self->load;
  hfta_status status = hfta_safetensors_open(self->path.text, &self->file,
                                             &load->instance->error);
  while (load->next.bytes != 0 && status == HFTA_OK) {
    status =
        hfta_checkpoint_parts_visit(&load->parts, &load->next, read_part, self);
    if (status == HFTA_OK)
      status = give_next(self);
  }
  if (status == HFTA_OK && load->epoch_losses && !self->is_best)
    load->epoch_losses[self->copy] = get_epoch_losses(self->file);
  return status;
}

/// Sends zeros in place of the chunks that weren't sent because of a failure,
/// since the other ranks wait for them.
static void give_rest(load *self) {
  memset(self->parts.chunk, 0, HFTA_CHUNK_BYTES);
  while (self->next.bytes != 0 &&
         hfta_checkpoint_parts_give(&self->parts, &self->next, NULL) == HFTA_OK)
    self->next = hfta_checkpoint_parts_next(&self->parts, &self->next);
}

/// Receives the tensors of a copy, or of its best weights, on a rank other than
/// 0.
static hfta_status take_tensors(load *self, int64_t copy, bool is_best) {
  copy_file file = {.load = self, .copy = copy, .is_best = is_best};
  hfta_checkpoint_parts *parts = &self->parts;
  hfta_status status = HFTA_OK;
  for (; self->next.bytes != 0;
       self->next = hfta_checkpoint_parts_next(parts, &self->next)) {
    if (!hfta_checkpoint_parts_hold(parts, &self->next, parts->ranks->rank))
      continue;
    hfta_status received = hfta_checkpoint_parts_receive(
        parts, &self->next, 0, &self->instance->error);
    if (received != HFTA_OK)
      return received;
    if (status == HFTA_OK)
      status =
          hfta_checkpoint_parts_visit(parts, &self->next, write_part, &file);
  }
  return status;
}

/// Finds the path of the file, and checks that it exists.
static hfta_status find_file(const load *self, copy_file *out) {
  hfta_error *error = &self->instance->error;
  hfta_status status =
      self->single ? hfta_path_format(&out->path, error, "%s", self->single)
                   : hfta_checkpoint_file(&out->path, self->folder.text,
                                          out->copy, out->is_best, error);
  if (status != HFTA_OK || hfta_path_exists(out->path.text))
    return status;
  if (self->single)
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' is missing",
                     out->path.text);
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "checkpoint '%s' is incomplete: %s is missing",
                   self->folder.text, hfta_path_name(out->path.text));
}

/// Calls `read` with one copy's file, or that of its best weights. Fails if
/// others change the file meanwhile, or, where `again` is set, have changed it
/// since it was read first.
static hfta_status read_copy(load *self, int64_t copy, bool is_best, bool again,
                             hfta_status (*read)(void *argument)) {
  hfta_error *error = &self->instance->error;
  hfta_watch *watch = &self->watches[2 * copy + is_best];
  copy_file file = {.load = self, .copy = copy, .is_best = is_best};
  hfta_status status = find_file(self, &file);
  if (status != HFTA_OK)
    return status;
  if (again)
    hfta_watch_reopen(watch, file.path.text);
  else
    hfta_watch_open(file.path.text, watch);
  status = hfta_watch_read(watch, file.path.text, read, &file, error);
  hfta_safetensors_close(file.file);
  hfta_watch_close(watch);
  hfta_communicator_progress(self->instance->communicator);
  return status;
}

static hfta_status find_folder(load *self, const char *folder) {
  hfta_error *error = &self->instance->error;
  if (hfta_checkpoint_step_of(folder) >= 0 && hfta_path_is_folder(folder))
    return hfta_path_format(&self->folder, error, "%s", folder);
  if (!hfta_path_is_folder(folder))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "checkpoint folder '%s' doesn't exist", folder);
  int64_t step = hfta_checkpoint_newest(folder);
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  if (step < 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "folder '%s' holds no checkpoint", folder);
  return hfta_path_format(&self->folder, error, "%s/%s", folder,
                          hfta_checkpoint_name(step, name));
}

/// Returns whether this instance, or one of its parts, has the copy.
static bool is_kept(const load *self, int64_t copy) {
  return hfta_instance_has_copy(self->instance, copy);
}

/// Returns whether best weights of a copy are loaded.
static bool has_best(const load *self, int64_t copy) {
  return self->best_steps && self->best_steps[copy] > 0;
}

/// Checks all files before anything is loaded, so that a fault in any of them
/// leaves the instance unchanged.
static hfta_status check_all(load *self, const char *folder) {
  hfta_status status = find_folder(self, folder);
  if (status == HFTA_OK)
    self->steps = hfta_checkpoint_step_of(self->folder.text);
  for (int64_t copy = 0;
       copy < self->instance->program->copies && status == HFTA_OK; ++copy) {
    status = read_copy(self, copy, false, false, check_copy);
    if (status == HFTA_OK && has_best(self, copy))
      status = read_copy(self, copy, true, false, check_copy);
  }
  return status;
}

/// Loads a copy's file, or its best weights, on all ranks. `status` is this
/// rank's result so far; after a failure the rank only takes part in the
/// exchange. Returns the result that all ranks agree on.
static hfta_status load_copy(load *self, int64_t copy, bool is_best,
                             hfta_status status) {
  hfta_status own = HFTA_OK;
  begin_copy(self, copy, is_best);
  if (self->parts.ranks->rank != 0)
    own = take_tensors(self, copy, is_best);
  else if (status == HFTA_OK)
    own = read_copy(self, copy, is_best, true, give_tensors);
  if (self->parts.ranks->rank == 0)
    give_rest(self);
  return hfta_checkpoint_parts_agree(
      &self->parts, status == HFTA_OK ? own : status, &self->instance->error);
}

/// Sends rank 0's step and epoch losses to all ranks.
static hfta_status share_numbers(load *self) {
  hfta_instance *instance = self->instance;
  hfta_status status =
      hfta_share_bytes(self->parts.ranks, "the steps done", &self->steps,
                       sizeof(self->steps), &instance->error);
  if (status == HFTA_OK && self->epoch_losses)
    status = hfta_share_bytes(
        self->parts.ranks, "losses of the epoch", self->epoch_losses,
        sizeof(*self->epoch_losses) * (uint64_t)instance->program->copies,
        &instance->error);
  return status;
}

static hfta_status load_all(load *self, const char *folder) {
  hfta_instance *instance = self->instance;
  hfta_status status = HFTA_OK;
  if (self->parts.ranks->rank == 0)
    status = check_all(self, folder);
  status = hfta_share_outcome(instance, status);
  if (status != HFTA_OK)
    return status;
  if (self->best_steps)
    status = hfta_share_bytes(
        self->parts.ranks, "the steps of best weights", self->best_steps,
        sizeof(*self->best_steps) * (uint64_t)instance->program->copies,
        &instance->error);
  if (status == HFTA_OK)
    status = hfta_instance_clear_gradients(instance);
  bool goes_on = true;
  for (int64_t copy = 0; copy < instance->program->copies && goes_on; ++copy) {
    if (!is_kept(self, copy))
      continue;
    status = load_copy(self, copy, false, status);
    if (status == HFTA_OK && has_best(self, copy))
      status = load_copy(self, copy, true, status);
    goes_on = status == HFTA_OK;
  }
  status = hfta_share_outcome(instance, status);
  if (status == HFTA_OK)
    status = share_numbers(self);
  if (status == HFTA_OK)
    status = hfta_instance_set_steps(instance, self->steps);
  return status;
}

static hfta_status begin(load *self) {
  hfta_instance *instance = self->instance;
  hfta_status status =
      hfta_checkpoint_parts_create(&self->parts, instance, &instance->error);
  self->watches =
      calloc(2 * (size_t)instance->program->copies, sizeof(*self->watches));
  if (status == HFTA_OK && !self->watches)
    status = hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                       "not enough memory to load a checkpoint");
  return status;
}

static void end(load *self) {
  hfta_checkpoint_parts_destroy(&self->parts);
  free(self->watches);
}

static hfta_status load_folder(load *self, const char *folder) {
  hfta_status status = begin(self);
  if (status == HFTA_OK)
    status = load_all(self, folder);
  end(self);
  return status;
}

hfta_status hfta_checkpoint_load(hfta_instance *instance, const char *folder,
                                 hfta_epoch_losses *epoch_losses) {
  load self = {.instance = instance, .epoch_losses = epoch_losses};
  return load_folder(&self, folder);
}

hfta_status hfta_checkpoint_load_both(hfta_instance *instance,
                                      const char *folder,
                                      hfta_epoch_losses *epoch_losses,
                                      hfta_best_weights *best) {
  load self = {.instance = instance,
               .epoch_losses = epoch_losses,
               .best_steps = best->steps,
               .best = best};
  return load_folder(&self, folder);
}

hfta_status hfta_checkpoint_load_best(hfta_instance *instance,
                                      const char *folder, int64_t *steps) {
  load self = {.instance = instance, .best_steps = steps};
  return load_folder(&self, folder);
}

hfta_status hfta_checkpoint_read_copy(hfta_instance *instance, int64_t copy,
                                      const char *path, int64_t steps,
                                      hfta_epoch_losses *epoch_losses) {
  load self = {.instance = instance,
               .single = path,
               .steps = steps,
               .epoch_losses = epoch_losses};
  hfta_status status = begin(&self);
  if (status == HFTA_OK && self.parts.ranks->rank == 0)
    status = read_copy(&self, copy, false, false, check_copy);
  status = hfta_share_outcome(instance, status);
  if (status == HFTA_OK)
    status = load_copy(&self, copy, false, status);
  if (status == HFTA_OK)
    status = hfta_share_bytes(self.parts.ranks, "losses of the epoch",
                              &epoch_losses[copy], sizeof(*epoch_losses),
                              &instance->error);
  end(&self);
  return status;
}

hfta_status hfta_instance_load(hfta_instance *instance, const char *folder) {
  return hfta_checkpoint_load(instance, folder, NULL);
}
