//===- command_export.c - The command export ------------------------------===//

#include "checkpoint/replaces.h"
#include "command_line/jobs.h"
#include "command_line/trials/search_commands.h"
#include "hfta/onnx_writer.h"

#include <stdlib.h>

/// The exported tensors of a copy, in the order of the program's table.
typedef struct exported {
  hfta_instance *instance;
  int64_t copy;
  hfta_tensor_view *views;
  uint32_t *tensors; ///< the index in the program's table of each view's tensor
  size_t count;
} exported;

/// Reads bytes of a tensor that isn't in the host's memory
/// (hfta_tensor_source.read).
static hfta_status read_tensor(void *argument, size_t index, uint64_t offset,
                               void *to, uint64_t bytes, hfta_error *error) {
  const exported *self = argument;
  hfta_status status = hfta_instance_read(self->instance, self->tensors[index],
                                          self->copy, offset, to, bytes);
  if (status == HFTA_OK)
    return HFTA_OK;
  return hfta_fail(error, status, "%s",
                   hfta_instance_error(self->instance)->message);
}

/// Lists the exported tensors. The data of their views are NULL where they
/// aren't in the host's memory.
static hfta_status collect(exported *self) {
  hfta_instance *instance = self->instance;
  const hfta_program *program = hfta_instance_program(instance);
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!(tensor->flags & HFTA_TENSOR_EXPORT) ||
        !hfta_tensor_is_of(tensor, self->copy))
      continue;
    hfta_tensor_info info;
    status = hfta_instance_tensor(instance, self->copy, tensor->name, &info);
    self->tensors[self->count] = i;
    self->views[self->count++] =
        (hfta_tensor_view){.name = tensor->name,
                           .type = (hfta_element_type)tensor->type,
                           .rank = tensor->rank,
                           .shape = tensor->shape,
                           .data = info.data,
                           .bytes = tensor->bytes};
  }
  return status;
}

/// Checks, before any work is done, that the file would replace neither the
/// program nor a file of the checkpoint.
static hfta_status check_output(const char *path, const char *checkpoint,
                                hfta_error *error) {
  hfta_status status = hfta_refuse_to_replace_program(path, error);
  if (status == HFTA_OK)
    status = hfta_refuse_to_replace_checkpoint(path, checkpoint, error);
  return status;
}

/// Writes the ONNX file of one copy. Returns the exit code.
static int export_copy(const hfta_invocation *invocation,
                       hfta_instance *instance, int64_t copy,
                       const char *path) {
  const hfta_program *program = invocation->program;
  hfta_error *error = hfta_instance_error(instance);
  size_t most = (size_t)program->tensor_count + 1;
  exported self = {.instance = instance,
                   .copy = copy,
                   .views = calloc(most, sizeof(*self.views)),
                   .tensors = calloc(most, sizeof(*self.tensors))};
  const hfta_tensor_source source = {read_tensor, &self};
  hfta_status status =
      self.views && self.tensors
          ? collect(&self)
          : hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to export");
  if (status == HFTA_OK)
    status = hfta_onnx_write(
        path, &hfta_program_model(program, copy)->export_template, self.views,
        self.count, &source, error);
  free(self.views);
  free(self.tensors);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error->message);
  return HFTA_OK;
}

int hfta_command_export(const hfta_invocation *given) {
  hfta_invocation own = *given, *invocation = &own;
  const char *path = NULL, *checkpoint = NULL;
  int64_t copy = -1;
  hfta_trial_arguments chosen = HFTA_NO_TRIAL_ARGUMENTS;
  hfta_spill_arguments spill = {NULL, 0, NULL};
  const hfta_option options[] = {
      {.name = "--copy",
       .argument = "K",
       .help = "the copy to write, counted from 0",
       .integer = &copy,
       .minimum = 0,
       .maximum = invocation->program->copies - 1,
       .required = !invocation->program->search},
      HFTA_OPTION_BEST(&chosen),
      HFTA_OPTION_TRIAL(&chosen),
      HFTA_OPTION_FOLD(&chosen),
      {.name = "-o",
       .argument = "FILE.onnx",
       .help = "the file to write",
       .text = &path,
       .required = true},
      HFTA_OPTION_CHECKPOINT(&checkpoint),
      HFTA_OPTION_AVERAGE(&own.loads_averages),
      HFTA_OPTION_SPILL_DIR(&spill),
      HFTA_OPTION_IO_THREADS(&spill),
  };
  int code = hfta_parse_options(
      invocation, "Writes one copy as an ONNX model for inference.", options,
      sizeof(options) / sizeof(*options));
  hfta_path folder;
  if (code < 0)
    code = hfta_choose_checkpoint(invocation, &folder, &checkpoint);
  if (code < 0)
    code = hfta_check_trial(invocation, &chosen, checkpoint);
  if (code < 0)
    code = hfta_check_average(invocation, &chosen, checkpoint);
  if (code >= 0)
    return code;
  bool is_trial = hfta_chooses_trial(&chosen);
  if (copy < 0 && !is_trial)
    return hfta_report_usage(invocation, "option '--best' or '--trial K' is "
                                         "missing: which trial to write");
  copy = copy < 0 ? 0 : copy;
  hfta_error error;
  hfta_status status = check_output(path, checkpoint, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  if (is_trial)
    code = invocation->program->search->commands->choose(invocation, &chosen,
                                                         checkpoint);
  if (code >= 0)
    return code;
  // This workload has no schedule; only initial values are computed.
  hfta_workload workload = hfta_workload_of(NULL, copy, 1);
  // A program for another device than the host skips that too if it loads a
  // checkpoint, so that the export needs no such device.
  workload.is_loaded =
      checkpoint && !hfta_target_of(invocation->program)->is_host;
  hfta_instance *instance;
  spill.checkpoint = checkpoint;
  code = hfta_open_copy(invocation, &chosen, &workload, 1, NULL, checkpoint,
                        &spill, copy, &instance);
  if (code < 0)
    code = export_copy(invocation, instance, copy, path);
  hfta_instance_destroy(instance);
  return code;
}
