//===- command_run.c - The command run ------------------------------------===//
//
// Applies one copy to arrays. If all arrays have exactly the shapes of the
// model's inputs, the model is applied once, and outputs have exactly its
// shapes. Otherwise the arrays must have the same number of samples, which may
// be any number: the model is applied to one micro-batch after another, the
// last of which is padded, and outputs have that number of samples. A model
// that mixes samples can't be padded: the number of samples must then be a
// multiple of a micro-batch's.

#include "checkpoint/replaces.h"
#include "command_line/jobs.h"
#include "command_line/trials/search_commands.h"
#include "hfta/npy.h"
#include "system/file.h"
#include "workload/whole_batches.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/// The file for one input.
typedef struct array {
  hfta_npy npy;
  hfta_watch watch;
  const char *path; ///< NULL until the file is opened
  hfta_error *error;
} array;

/// The state of the command.
typedef struct runner {
  hfta_instance *instance;
  const hfta_program *program;
  hfta_error *error;
  int64_t copy;
  int64_t samples; ///< the number of samples; -1 if arrays have the model's own
                   ///< shapes
  const char *checkpoint;  ///< the folder of the loaded weights, or NULL
  array *arrays;           ///< one per input
  void **inputs;           ///< one per input: a tensor for one micro-batch
  const hfta_port **ports; ///< the outputs that the copy has
  uint32_t port_count;
  void **outputs; ///< one per output: all samples
} runner;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Returns the text after "NAME=", or NULL if the text doesn't begin so. The
/// name may contain '='.
static const char *after_name(const char *text, const char *name) {
  size_t length = strlen(name);
  bool same = strncmp(text, name, length) == 0 && text[length] == '=';
  return same ? text + length + 1 : NULL;
}

/// Returns the index of the input that the argument "NAME=FILE" names, and FILE
/// in `*out_path`; UINT32_MAX if there is none. An input has two names: that of
/// the model, which has precedence, and that of the data field from which the
/// job feeds it.
static uint32_t find_input(const hfta_program *program, const char *text,
                           const char **out_path) {
  for (uint32_t i = 0; i < program->input_count; ++i)
    if ((*out_path = after_name(text, program->inputs[i].model_name)))
      return i;
  for (uint32_t i = 0; i < program->input_count; ++i)
    if ((*out_path = after_name(text, program->inputs[i].name)))
      return i;
  return UINT32_MAX;
}

static hfta_status unknown_input(const runner *self, const char *text) {
  const hfta_program *program = self->program;
  char names[300] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < program->input_count && length < sizeof(names);
       ++i) {
    const hfta_port *port = &program->inputs[i];
    bool same = strcmp(port->model_name, port->name) == 0;
    int added =
        snprintf(names + length, sizeof(names) - length, "%s'%s'%s%s%s",
                 i > 0 ? ", " : "", port->model_name, same ? "" : " or '",
                 same ? "" : port->name, same ? "" : "'");
    length += added > 0 ? (size_t)added : 0;
  }
  return hfta_fail(self->error, HFTA_USAGE,
                   "'%.100s': the model has no input of this name; its inputs "
                   "are %s%s",
                   text, names, length >= sizeof(names) ? "..." : "");
}

static hfta_status read_header(void *argument) {
  array *self = argument;
  return hfta_npy_open(self->path, &self->npy, self->error);
}

/// Opens a file and watches it for changes by others.
static hfta_status open_array(array *self, const char *path,
                              hfta_error *error) {
  self->path = path;
  self->error = error;
  hfta_watch_open(path, &self->watch);
  return hfta_watch_read(&self->watch, path, read_header, self, error);
}

static void close_array(array *self) {
  if (!self->path)
    return;
  hfta_npy_close(&self->npy);
  hfta_watch_close(&self->watch);
}

/// Opens the files of the option --input, and checks that each input has one.
static hfta_status open_inputs(runner *self, const hfta_list *list) {
  const hfta_program *program = self->program;
  for (int i = 0; i < list->count; ++i) {
    const char *path = NULL;
    uint32_t index = find_input(program, list->values[i], &path);
    if (index == UINT32_MAX && !strchr(list->values[i], '='))
      return hfta_fail(self->error, HFTA_USAGE,
                       "option '--input': '%s' is not NAME=FILE.npy",
                       list->values[i]);
    if (index == UINT32_MAX)
      return unknown_input(self, list->values[i]);
    if (self->arrays[index].path)
      return hfta_fail(self->error, HFTA_USAGE, "input '%s' is given twice",
                       program->inputs[index].model_name);
    hfta_status status = open_array(&self->arrays[index], path, self->error);
    if (status != HFTA_OK)
      return status;
  }
  for (uint32_t i = 0; i < program->input_count; ++i)
    if (!self->arrays[i].path)
      return hfta_fail(self->error, HFTA_USAGE,
                       "input '%s' is not given: --input %s=FILE.npy",
                       program->inputs[i].model_name,
                       program->inputs[i].model_name);
  return HFTA_OK;
}

static const hfta_tensor *input_tensor(const runner *self, uint32_t index) {
  return &self->program->tensors[self->program->inputs[index].tensor];
}

static const hfta_tensor *output_tensor(const runner *self, uint32_t index) {
  return &self->program->tensors[self->ports[index]->tensor];
}

static bool same_shape(const int64_t *left, uint32_t left_rank,
                       const int64_t *right, uint32_t right_rank) {
  return left_rank == right_rank &&
         (left_rank == 0 ||
          memcmp(left, right, left_rank * sizeof(*left)) == 0);
}

/// Returns whether two shapes are equal, apart from axes of length 1.
static bool fits(const int64_t *left, uint32_t left_rank, const int64_t *right,
                 uint32_t right_rank) {
  uint32_t i = 0, j = 0;
  for (;;) {
    while (i < left_rank && left[i] == 1)
      ++i;
    while (j < right_rank && right[j] == 1)
      ++j;
    if (i == left_rank || j == right_rank)
      return i == left_rank && j == right_rank;
    if (left[i++] != right[j++])
      return false;
  }
}

/// Checks the element type of a file. f32 is accepted for an input of type f64.
static hfta_status check_type(const runner *self, uint32_t index) {
  const hfta_tensor *tensor = input_tensor(self, index);
  hfta_element_type type = self->arrays[index].npy.header.type;
  if (type == (hfta_element_type)tensor->type ||
      (type == HFTA_F32 && tensor->type == HFTA_F64))
    return HFTA_OK;
  return hfta_fail(self->error, HFTA_INVALID_INPUT,
                   "input '%s' is %s, but its file holds %s",
                   self->program->inputs[index].model_name,
                   hfta_element_name((hfta_element_type)tensor->type),
                   hfta_element_name(type));
}

/// Checks that a file has samples of the input's shape, as many as the first
/// file. Sets self->samples.
static hfta_status check_samples(runner *self, uint32_t index) {
  const hfta_tensor *tensor = input_tensor(self, index);
  const hfta_npy_header *header = &self->arrays[index].npy.header;
  bool sound = tensor->rank > 0 && header->rank > 0 &&
               tensor->shape[0] == hfta_program_micro_batch(self->program) &&
               fits(tensor->shape + 1, tensor->rank - 1, header->shape + 1,
                    header->rank - 1);
  if (!sound) {
    char expected[HFTA_SHAPE_TEXT_BYTES], got[HFTA_SHAPE_TEXT_BYTES];
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "input '%s' has shape %s, but its file holds %s",
                     self->program->inputs[index].model_name,
                     hfta_shape_text(tensor->shape, tensor->rank, expected),
                     hfta_shape_text(header->shape, header->rank, got));
  }
  if (index == 0)
    self->samples = header->shape[0];
  if (header->shape[0] == 0)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "input '%s' holds no samples",
                     self->program->inputs[index].model_name);
  if (header->shape[0] != self->samples)
    return hfta_fail(
        self->error, HFTA_INVALID_INPUT,
        "input '%s' holds %lld samples, but '%s' holds %lld",
        self->program->inputs[index].model_name, (long long)header->shape[0],
        self->program->inputs[0].model_name, (long long)self->samples);
  return HFTA_OK;
}

/// Checks types and shapes of all files, and sets self->samples.
static hfta_status check_shapes(runner *self) {
  const hfta_program *program = self->program;
  bool exact = true;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->input_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = input_tensor(self, i);
    const hfta_npy_header *header = &self->arrays[i].npy.header;
    status = check_type(self, i);
    exact = exact && same_shape(tensor->shape, tensor->rank, header->shape,
                                header->rank);
  }
  self->samples = -1;
  if (exact || status != HFTA_OK)
    return status;
  for (uint32_t i = 0; i < program->input_count && status == HFTA_OK; ++i)
    status = check_samples(self, i);
  int64_t size = hfta_program_micro_batch(program);
  if (status == HFTA_OK)
    status = hfta_check_whole_batches(program->output_mixed_by, "the inputs",
                                      self->samples, size, self->error);
  for (uint32_t i = 0; i < self->port_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = output_tensor(self, i);
    if (tensor->rank == 0 || tensor->shape[0] != size)
      status = hfta_fail(self->error, HFTA_INVALID_INPUT,
                         "output '%s' doesn't have one value a sample: the "
                         "inputs must hold exactly %lld samples",
                         self->ports[i]->name, (long long)size);
  }
  return status;
}

/// The arguments of fill_input, for hfta_watch_read.
typedef struct filling {
  const runner *runner;
  uint32_t index; ///< the index of the input
  // The first sample, and the number of samples.
  int64_t begin;
  int64_t size;
} filling;

/// Copies `size` samples from the file into the input's tensor. Beyond the last
/// sample of the file it is repeated. If arrays have the model's own shapes,
/// `size` is 1, and a sample is the whole tensor. Converts f32 to f64 if the
/// tensor is f64.
static hfta_status fill_input(void *argument) {
  const filling *filling = argument;
  const runner *self = filling->runner;
  uint32_t index = filling->index;
  int64_t begin = filling->begin, size = filling->size;
  const hfta_tensor *tensor = input_tensor(self, index);
  const hfta_npy *file = &self->arrays[index].npy;
  size_t element = hfta_element_bytes((hfta_element_type)tensor->type);
  size_t stored = hfta_element_bytes(file->header.type);
  uint64_t values = tensor->bytes / element / (uint64_t)size;
  for (int64_t i = 0; i < size && values > 0; ++i) {
    int64_t last = self->samples < 0 ? size - 1 : self->samples - 1;
    uint64_t sample = (uint64_t)(begin + i < last ? begin + i : last);
    const char *from = (const char *)file->data + sample * values * stored;
    char *to = (char *)self->inputs[index] + (uint64_t)i * values * element;
    if (element == stored) {
      memcpy(to, from, values * element);
      continue;
    }
    for (uint64_t j = 0; j < values; ++j) {
      float single;
      memcpy(&single, from + j * sizeof(single), sizeof(single));
      double wide = (double)single;
      memcpy(to + j * sizeof(wide), &wide, sizeof(wide));
    }
  }
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static hfta_status allocate(runner *self) {
  const hfta_program *program = self->program;
  int64_t size = hfta_program_micro_batch(program);
  for (uint32_t i = 0; i < program->input_count; ++i)
    if (!(self->inputs[i] = malloc(input_tensor(self, i)->bytes + 1)))
      return hfta_fail(self->error, HFTA_UNSUPPORTED,
                       "not enough memory for input '%s'",
                       program->inputs[i].model_name);
  for (uint32_t i = 0; i < self->port_count; ++i) {
    uint64_t bytes = output_tensor(self, i)->bytes;
    if (self->samples >= 0)
      bytes = bytes / (uint64_t)size * (uint64_t)self->samples;
    if (!(self->outputs[i] = malloc(bytes + 1)))
      return hfta_fail(self->error, HFTA_UNSUPPORTED,
                       "not enough memory for output '%s'",
                       self->ports[i]->name);
  }
  return HFTA_OK;
}

/// Applies the model to the samples begin .. begin + size - 1, and appends its
/// outputs, without those of padding.
static hfta_status run_chunk(runner *self, int64_t begin, int64_t size) {
  const hfta_program *program = self->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->input_count && status == HFTA_OK; ++i) {
    filling filling = {self, i, begin, self->samples < 0 ? 1 : size};
    const array *array = &self->arrays[i];
    status = hfta_watch_read(&array->watch, array->path, fill_input, &filling,
                             self->error);
  }
  if (status == HFTA_OK)
    status =
        hfta_instance_infer(self->instance, (const void *const *)self->inputs);
  for (uint32_t i = 0; i < self->port_count && status == HFTA_OK; ++i) {
    uint64_t bytes = output_tensor(self, i)->bytes;
    uint64_t row = bytes / (uint64_t)size, offset = row * (uint64_t)begin;
    if (self->samples >= 0 && self->samples - begin < size)
      bytes = row * (uint64_t)(self->samples - begin);
    status =
        hfta_instance_read(self->instance, self->ports[i]->tensor, self->copy,
                           0, (char *)self->outputs[i] + offset, bytes);
  }
  return status;
}

/// Writes the file name of an output to `out`, without its extension:
/// characters that are unusual in file names become '_'.
static void file_name(const char *name, char *out, size_t size) {
  snprintf(out, size, "%s", *name ? name : "_");
  for (char *at = out; *at; ++at)
    if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
      *at = '_';
}

/// Checks that no two outputs have the same file name.
static hfta_status check_names(const runner *self) {
  for (uint32_t i = 0; i < self->port_count; ++i)
    for (uint32_t j = 0; j < i; ++j) {
      char left[256], right[256];
      file_name(self->ports[i]->name, left, sizeof(left));
      file_name(self->ports[j]->name, right, sizeof(right));
      if (strcmp(left, right) == 0)
        return hfta_fail(self->error, HFTA_UNSUPPORTED,
                         "outputs '%s' and '%s' would both be written to "
                         "'%s.npy'",
                         self->ports[j]->name, self->ports[i]->name, left);
    }
  return HFTA_OK;
}

static hfta_status output_path(const runner *self, const char *folder,
                               uint32_t index, hfta_path *out) {
  char name[256];
  file_name(self->ports[index]->name, name, sizeof(name));
  return hfta_path_format(out, self->error, "%s/%s.npy", folder, name);
}

/// Checks, before any work is done, that no output would replace the program, a
/// file of the checkpoint, or an input.
static hfta_status check_outputs(const runner *self, const char *folder) {
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < self->port_count && status == HFTA_OK; ++i) {
    hfta_path path;
    status = output_path(self, folder, i, &path);
    if (status == HFTA_OK)
      status = hfta_refuse_to_replace_program(path.text, self->error);
    if (status == HFTA_OK)
      status = hfta_refuse_to_replace_checkpoint(path.text, self->checkpoint,
                                                 self->error);
    for (uint32_t j = 0; j < self->program->input_count && status == HFTA_OK;
         ++j)
      status =
          hfta_refuse_to_replace(path.text, self->arrays[j].path, self->error);
  }
  return status;
}

static hfta_status write_outputs(const runner *self, const char *folder) {
  hfta_status status = hfta_folder_make(folder, self->error);
  for (uint32_t i = 0; i < self->port_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = output_tensor(self, i);
    int64_t shape[HFTA_MAX_RANK];
    uint64_t bytes = tensor->bytes;
    if (tensor->rank > HFTA_MAX_RANK)
      return hfta_fail(self->error, HFTA_UNSUPPORTED,
                       "output '%s' has %u axes, at most %d can be written",
                       self->ports[i]->name, tensor->rank, HFTA_MAX_RANK);
    if (tensor->rank > 0)
      memcpy(shape, tensor->shape, tensor->rank * sizeof(*shape));
    if (self->samples >= 0) {
      bytes = bytes / (uint64_t)shape[0] * (uint64_t)self->samples;
      shape[0] = self->samples;
    }
    hfta_path path;
    status = output_path(self, folder, i, &path);
    hfta_tensor_view view = {.name = self->ports[i]->name,
                             .type = (hfta_element_type)tensor->type,
                             .rank = tensor->rank,
                             .shape = shape,
                             .data = self->outputs[i],
                             .bytes = bytes};
    if (status == HFTA_OK)
      status = hfta_npy_write(path.text, &view, self->error);
  }
  return status;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static hfta_status run(runner *self, const hfta_list *list,
                       const char *folder) {
  const hfta_program *program = self->program;
  size_t inputs = (size_t)program->input_count + 1;
  self->arrays = calloc(inputs, sizeof(*self->arrays));
  self->inputs = calloc(inputs, sizeof(*self->inputs));
  self->outputs =
      calloc((size_t)program->output_count + 1, sizeof(*self->outputs));
  self->ports = calloc((size_t)program->output_count + 1, sizeof(*self->ports));
  if (!self->arrays || !self->inputs || !self->outputs || !self->ports)
    return hfta_fail(self->error, HFTA_UNSUPPORTED, "not enough memory to run");
  for (uint32_t i = 0; i < program->output_count; ++i)
    if (hfta_tensor_is_of(&program->tensors[program->outputs[i].tensor],
                          self->copy))
      self->ports[self->port_count++] = &program->outputs[i];
  hfta_status status = open_inputs(self, list);
  if (status == HFTA_OK)
    status = check_shapes(self);
  if (status == HFTA_OK)
    status = check_names(self);
  if (status == HFTA_OK)
    status = check_outputs(self, folder);
  if (status == HFTA_OK)
    status = allocate(self);
  int64_t size = hfta_program_micro_batch(program);
  int64_t samples = self->samples >= 0 ? self->samples : size;
  for (int64_t begin = 0; begin < samples && status == HFTA_OK; begin += size)
    status = run_chunk(self, begin, size);
  if (status == HFTA_OK)
    status = write_outputs(self, folder);
  return status;
}

static void release(runner *self) {
  const hfta_program *program = self->program;
  for (uint32_t i = 0; i < program->input_count; ++i) {
    if (self->arrays)
      close_array(&self->arrays[i]);
    if (self->inputs)
      free(self->inputs[i]);
  }
  for (uint32_t i = 0; self->outputs && i < self->port_count; ++i)
    free(self->outputs[i]);
  free(self->arrays);
  free(self->inputs);
  free(self->outputs);
  free(self->ports);
}

int hfta_command_run(const hfta_invocation *given) {
  hfta_invocation own = *given, *invocation = &own;
  const char *folder = NULL, *checkpoint = NULL, *device = NULL;
  int64_t threads = 0, copy = 0;
  hfta_spill_arguments spill = {NULL, 0, NULL};
  hfta_list list = {.count = 0};
  hfta_trial_arguments chosen = HFTA_NO_TRIAL_ARGUMENTS;
  const hfta_option options[] = {
      {.name = "--input",
       .argument = "NAME=FILE.npy",
       .help = "value of the model's input NAME, which may also be the "
               "name\nof its data field; give it once for each input",
       .list = &list},
      {.name = "--output",
       .argument = "DIR",
       .help =
           "folder in which NAME.npy is written for each output;\ncharacters "
           "of NAME other than letters, digits, '_', '-' and\n'.' become '_'",
       .text = &folder,
       .required = true},
      {.name = "--copy",
       .argument = "K",
       .help = "the copy to apply, counted from 0 (default: 0)",
       .integer = &copy,
       .minimum = 0,
       .maximum = invocation->program->copies - 1},
      HFTA_OPTION_BEST(&chosen),
      HFTA_OPTION_TRIAL(&chosen),
      HFTA_OPTION_FOLD(&chosen),
      HFTA_OPTION_CHECKPOINT(&checkpoint),
      HFTA_OPTION_AVERAGE(&own.loads_averages),
      HFTA_OPTION_THREADS(&threads),
      HFTA_OPTION_SPILL_DIR(&spill),
      HFTA_OPTION_IO_THREADS(&spill),
      HFTA_OPTION_DEVICE(&device),
  };
  int code = hfta_parse_options(invocation,
                                "Applies one copy, in inference mode, to "
                                "arrays of any number of samples.",
                                options, sizeof(options) / sizeof(*options));
  hfta_path path;
  if (code < 0)
    code = hfta_choose_checkpoint(invocation, &path, &checkpoint);
  if (code < 0)
    code = hfta_check_trial(invocation, &chosen, checkpoint);
  if (code < 0)
    code = hfta_check_average(invocation, &chosen, checkpoint);
  bool is_trial = hfta_chooses_trial(&chosen);
  if (code < 0 && is_trial)
    code = invocation->program->search->commands->choose(invocation, &chosen,
                                                         checkpoint);
  if (code >= 0)
    return code;
  runner self = {
      .program = invocation->program, .copy = copy, .checkpoint = checkpoint};
  hfta_workload workload = hfta_workload_of("infer", copy, 1);
  spill.checkpoint = checkpoint;
  code = hfta_open_copy(invocation, &chosen, &workload, threads, device,
                        checkpoint, &spill, copy, &self.instance);
  if (code >= 0) {
    hfta_instance_destroy(self.instance);
    return code;
  }
  self.error = hfta_instance_error(self.instance);
  hfta_status status = run(&self, &list, folder);
  if (status != HFTA_OK)
    hfta_report(invocation, status, self.error->message);
  release(&self);
  hfta_instance_destroy(self.instance);
  return (int)status;
}
