//===- program_check.c - Is a program's table sound -----------------------===//
//
// The table comes from the compiler: a fault here is no user's mistake.
//
//===----------------------------------------------------------------------===//

#include "hfta/abi.h"
#include "hfta/instance.h"

#include <string.h>

static hfta_status check_counts(const hfta_program *program,
                                hfta_error *error) {
  if (program->copies < 1 || program->batch < 1 || program->micro_batches < 1 ||
      program->batch % program->micro_batches != 0)
    return hfta_fail(
        error, HFTA_INTERNAL,
        "program '%s': %lld copies, batch %lld, %lld micro-batches "
        "are no sound job",
        program->name, (long long)program->copies, (long long)program->batch,
        (long long)program->micro_batches);
  if (program->precision != HFTA_F32 && program->precision != HFTA_F64)
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': losses of type %s can't be logged",
                     program->name, hfta_element_name(program->precision));
  return HFTA_OK;
}

static hfta_status check_tensor(const hfta_program *program, uint32_t index,
                                hfta_error *error) {
  const hfta_tensor *tensor = &program->tensors[index];
  uint64_t bytes = 0;
  bool sound =
      tensor->segment < program->segment_count &&
      tensor->copy < program->copies &&
      (tensor->copy < 0 || tensor->copy_stride == 0) &&
      hfta_shape_bytes(tensor->type, tensor->shape, tensor->rank, &bytes) &&
      bytes == tensor->bytes;
  if (sound) {
    uint64_t last = tensor->copy_stride * (uint64_t)(program->copies - 1);
    uint64_t size = program->segments[tensor->segment].bytes;
    sound = tensor->offset <= size && last <= size - tensor->offset &&
            bytes <= size - tensor->offset - last;
    uint64_t slab = program->segments[tensor->segment].copy_bytes;
    if (slab > 0)
      sound &= tensor->copy_stride == slab && tensor->offset + bytes <= slab;
  }
  if (sound)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INTERNAL,
                   "program '%s': tensor '%s' doesn't lie in its segment",
                   program->name, tensor->name);
}

/// A well-known tensor's index and, for scalars that are written, its type.
static hfta_status check_role(const hfta_program *program, const char *role,
                              uint32_t index, bool integer, hfta_error *error) {
  if (index == UINT32_MAX)
    return HFTA_OK;
  if (index < program->tensor_count) {
    uint32_t type = program->tensors[index].type;
    if (integer ? type == HFTA_I64 : type == HFTA_F32 || type == HFTA_F64)
      return HFTA_OK;
  }
  return hfta_fail(
      error, HFTA_INTERNAL,
      "program '%s': the role '%s' has no tensor of the right type",
      program->name, role);
}

static hfta_status check_roles(const hfta_program *program, hfta_error *error) {
  const hfta_roles *roles = &program->roles;
  const struct {
    const char *name;
    uint32_t index;
    bool integer;
  } entries[] = {
      {"step", roles->step, true},
      {"micro_batch", roles->micro_batch, true},
      {"valid_samples", roles->valid_samples, true},
      {"seed", roles->seed, true},
      {"loss_scale", roles->loss_scale, false},
      {"learning_rate", roles->learning_rate, false},
      {"clip_scale", roles->clip_scale, false},
      {"loss", roles->loss, false},
      {"step_weight", roles->step_weight, false},
      {"loss_sum", roles->loss_sum, false},
      {"loss_weight", roles->loss_weight, false},
      {"metric_sum", roles->metric_sum, false},
      {"norm", roles->norm, false},
  };
  hfta_status status = HFTA_OK;
  for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); ++i)
    if (status == HFTA_OK)
      status = check_role(program, entries[i].name, entries[i].index,
                          entries[i].integer, error);
  return status;
}

static bool port_is_sound(const hfta_program *program, uint32_t tensor,
                          bool batched) {
  if (tensor >= program->tensor_count)
    return false;
  const hfta_tensor *entry = &program->tensors[tensor];
  return !batched ||
         (entry->rank >= 1 &&
          entry->shape[0] == hfta_program_micro_batch(program) &&
          program->segments[entry->segment].role == HFTA_SEGMENT_INPUT);
}

static hfta_status check_ports(const hfta_program *program, hfta_error *error) {
  const char *bad = NULL;
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    if (!port_is_sound(program, program->data_fields[i].tensor, true))
      bad = program->data_fields[i].name;
  for (uint32_t i = 0; i < program->input_count; ++i)
    if (!port_is_sound(program, program->inputs[i].tensor, false))
      bad = program->inputs[i].name;
  for (uint32_t i = 0; i < program->output_count; ++i)
    if (!port_is_sound(program, program->outputs[i].tensor, false))
      bad = program->outputs[i].name;
  if (!bad)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INTERNAL,
                   "program '%s': '%s' has no input or output tensor",
                   program->name, bad);
}

static bool has_block_task(const hfta_program *program, hfta_task_kind kind,
                           int64_t block) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (program->tasks[i].kind == (uint32_t)kind &&
        program->tasks[i].block == block)
      return true;
  return false;
}

static bool norms_are_sound(const hfta_program *program) {
  uint32_t tensor = program->roles.norm;
  uint64_t count = hfta_program_norm_count(program);
  for (uint64_t done = 0; done < count; ++tensor) {
    if (tensor >= program->tensor_count ||
        program->tensors[tensor].type != HFTA_F64 ||
        program->tensors[tensor].bytes < sizeof(double) ||
        program->tensors[tensor].bytes > (count - done) * sizeof(double))
      return false;
    done += program->tensors[tensor].bytes / sizeof(double);
  }
  return true;
}

/// Either no task of training, or all of them for every block.
static hfta_status check_tasks(const hfta_program *program, hfta_error *error) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (!program->tasks[i].function)
      return hfta_fail(error, HFTA_INTERNAL,
                       "program '%s': task '%s' has no function", program->name,
                       program->tasks[i].name);
  if (!hfta_program_has_task(program, HFTA_TASK_FORWARD))
    return HFTA_OK;
  const hfta_task_kind kinds[] = {HFTA_TASK_FORWARD, HFTA_TASK_BACKWARD,
                                  HFTA_TASK_UPDATE, HFTA_TASK_NORM};
  size_t count = program->clipping ? 4 : 3;
  for (int64_t block = 0; block < program->blocks; ++block)
    for (size_t i = 0; i < count; ++i)
      if (!has_block_task(program, kinds[i], block))
        return hfta_fail(error, HFTA_INTERNAL,
                         "program '%s': block %lld lacks a task of kind %d",
                         program->name, (long long)block, (int)kinds[i]);
  if (program->clipping && !norms_are_sound(program))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': sums of squares must be f64, one a trained "
                     "parameter",
                     program->name);
  if (program->roles.loss == UINT32_MAX ||
      program->roles.learning_rate == UINT32_MAX ||
      (program->clipping && (program->roles.norm == UINT32_MAX ||
                             program->roles.clip_scale == UINT32_MAX)))
    return hfta_fail(
        error, HFTA_INTERNAL,
        "program '%s': loss, learning rate or norms have no tensor",
        program->name);
  return HFTA_OK;
}

/// Slabs must make up their segment.
static hfta_status check_slabs(const hfta_program *program, hfta_error *error) {
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    if (segment->copy_bytes > 0 &&
        segment->bytes != segment->copy_bytes * (uint64_t)program->copies)
      return hfta_fail(
          error, HFTA_INTERNAL,
          "program '%s': segment '%s' has %llu bytes, %llu a copy "
          "for %lld copies",
          program->name, segment->name, (unsigned long long)segment->bytes,
          (unsigned long long)segment->copy_bytes, (long long)program->copies);
  }
  return HFTA_OK;
}

/// Activations that wait for their backward need a place each.
static hfta_status check_instances(const hfta_program *program,
                                   hfta_error *error) {
  if (!program->all_forwards_first)
    return HFTA_OK;
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    bool kept = segment->role == HFTA_SEGMENT_SAVED ||
                segment->role == HFTA_SEGMENT_CUT;
    if (kept && segment->bytes > 0 &&
        segment->instances < (uint64_t)program->micro_batches)
      return hfta_fail(error, HFTA_INTERNAL,
                       "program '%s': segment '%s' has %u instances for %lld "
                       "micro-batches in flight",
                       program->name, segment->name, segment->instances,
                       (long long)program->micro_batches);
  }
  return HFTA_OK;
}

hfta_status hfta_program_check(const hfta_program *program, hfta_error *error) {
  if (program->abi_version != hfta_abi_version())
    return hfta_fail(error, HFTA_INTERNAL,
                     "the program has ABI version %u, this runtime has %u: "
                     "compile it again",
                     program->abi_version, hfta_abi_version());
  hfta_status status = check_counts(program, error);
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i)
    status = check_tensor(program, i, error);
  if (status == HFTA_OK)
    status = check_roles(program, error);
  if (status == HFTA_OK)
    status = check_ports(program, error);
  if (status == HFTA_OK)
    status = check_tasks(program, error);
  if (status == HFTA_OK)
    status = check_slabs(program, error);
  if (status == HFTA_OK)
    status = check_instances(program, error);
  return status;
}
