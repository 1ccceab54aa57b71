//===- program_check.c - Checks of a program's table ----------------------===//
//
// The compiler writes the table, so a fault in it is never the user's mistake:
// all checks fail with HFTA_INTERNAL.
//
//===----------------------------------------------------------------------===//

#include "workload/program_check.h"

#include "device/target.h"
#include "hfta/tensor_view.h"
#include "program/metric_values.h"

#include <string.h>

static hfta_status check_counts(const hfta_program *program,
                                hfta_error *error) {
  if (program->copies < 1 || program->batch < 1 || program->micro_batches < 1 ||
      program->batch % program->micro_batches != 0)
    return hfta_fail(
        error, HFTA_INTERNAL,
        "program '%s': %lld copies, batch %lld, %lld micro-batches "
        "are not a valid job",
        program->name, (long long)program->copies, (long long)program->batch,
        (long long)program->micro_batches);
  if (program->precision != HFTA_F32 && program->precision != HFTA_F64)
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': losses of type %s can't be logged",
                     program->name, hfta_element_name(program->precision));
  return HFTA_OK;
}

/// Returns the last position of a copy in a segment.
static uint64_t last_place(const hfta_program *program,
                           const hfta_segment *segment, int64_t copies) {
  if (!segment->places)
    return (uint64_t)(copies - 1);
  int32_t last = 0;
  for (int64_t copy = 0; copy < program->copies; ++copy)
    last = segment->places[copy] > last ? segment->places[copy] : last;
  return (uint64_t)last;
}

/// Returns whether all copies that run a launch, or have a tensor, have values
/// in the segment.
static bool are_in_segment(const hfta_program *program, const int32_t *places,
                           const hfta_segment *segment) {
  for (int64_t copy = 0; segment->places && copy < program->copies; ++copy)
    if ((!places || places[copy] >= 0) && segment->places[copy] < 0)
      return false;
  return true;
}

static hfta_status check_tensor(const hfta_program *program, uint32_t index,
                                hfta_error *error) {
  const hfta_tensor *tensor = &program->tensors[index];
  uint64_t bytes = 0;
  uint64_t last = 0;
  bool sound =
      tensor->segment < program->segment_count &&
      tensor->copy < program->copies &&
      (tensor->copy < 0 || tensor->copy_stride == 0) &&
      are_in_segment(program, tensor->places,
                     &program->segments[tensor->segment]) &&
      !__builtin_mul_overflow(tensor->copy_stride,
                              last_place(program,
                                         &program->segments[tensor->segment],
                                         program->copies),
                              &last) &&
      hfta_shape_bytes(tensor->type, tensor->shape, tensor->rank, &bytes) &&
      bytes == tensor->bytes;
  if (sound) {
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

/// Checks a tensor of hfta_roles: its index, and that its type is i64
/// (`integer`) or f32 or f64.
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
      {"learning_rate", roles->learning_rate, false},
      {"loss", roles->loss, false},
      {"loss_sum", roles->loss_sum, false},
      {"loss_weight", roles->loss_weight, false},
      {"kl_scale", roles->kl_scale, false},
      {"skipped", roles->skipped, false},
      {"retried", roles->retried, false},
      {"kept", roles->kept, false},
      {"accumulations", roles->accumulations, true},
      {"loss_scale", roles->loss_scale, false},
      {"skipped_steps", roles->skipped_steps, false},
  };
  hfta_status status = HFTA_OK;
  for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); ++i)
    if (status == HFTA_OK)
      status = check_role(program, entries[i].name, entries[i].index,
                          entries[i].integer, error);
  for (uint32_t i = 0; i < program->scheduled_number_count; ++i) {
    const hfta_scheduled_number *number = &program->scheduled_numbers[i];
    if (status == HFTA_OK &&
        number->hyper_parameter >= program->hyper_parameter_count)
      status = hfta_fail(error, HFTA_INTERNAL,
                         "program '%s': there is no hyper-parameter %u, which "
                         "has a schedule",
                         program->name, number->hyper_parameter);
    if (status == HFTA_OK)
      status = check_role(
          program, program->hyper_parameters[number->hyper_parameter].name,
          number->tensor, false, error);
  }
  for (uint32_t i = 0; i < program->loss_term_count; ++i) {
    const hfta_loss_term *term = &program->loss_terms[i];
    const uint32_t tensors[] = {term->loss, term->weight, term->loss_sum,
                                term->loss_weight};
    for (size_t j = 0; j < sizeof(tensors) / sizeof(*tensors); ++j)
      if (status == HFTA_OK)
        status = check_role(program, term->name, tensors[j], false, error);
  }
  return status;
}

/// Returns whether a tensor of a metric has this number of reals.
static bool has_reals(const hfta_program *program, uint32_t tensor,
                      int64_t count) {
  if (tensor >= program->tensor_count)
    return false;
  const hfta_tensor *entry = &program->tensors[tensor];
  uint64_t size = entry->type == HFTA_F64   ? sizeof(double)
                  : entry->type == HFTA_F32 ? sizeof(float)
                                            : 0;
  return size > 0 && entry->bytes % size == 0 &&
         entry->bytes / size == (uint64_t)count;
}

/// Returns whether a metric's numbers are sensible, and its tensors have as
/// many elements as follow from them.
static bool metric_is_sound(const hfta_program *program,
                            const hfta_metric *metric) {
  // Products of two such numbers don't overflow.
  enum { MOST = 1 << 30 };
  if (metric->kind > HFTA_METRIC_AVERAGE_PRECISION ||
      metric->average > HFTA_AVERAGE_WEIGHTED || metric->elements < 1 ||
      metric->elements > MOST || metric->classes < 1 ||
      metric->classes > MOST || hfta_metric_sum_count(metric) > MOST)
    return false;
  int64_t elements, guesses;
  return !__builtin_mul_overflow(program->batch, metric->elements, &elements) &&
         !__builtin_mul_overflow(program->batch,
                                 hfta_metric_guess_count(metric), &guesses) &&
         has_reals(program, metric->labels, elements) &&
         has_reals(program, metric->weights, elements) &&
         (guesses == 0 || has_reals(program, metric->guesses, guesses));
}

static hfta_status check_metrics(const hfta_program *program,
                                 hfta_error *error) {
  bool is_sound = program->validation.by_metric <= program->metric_count;
  for (uint32_t i = 0; i < program->metric_count; ++i)
    is_sound &= metric_is_sound(program, &program->metrics[i]);
  return is_sound ? HFTA_OK
                  : hfta_fail(error, HFTA_INTERNAL,
                              "program '%s': a metric's tensors don't fit it",
                              program->name);
}

/// Returns whether a tensor is valid for a port. `batched`: it is for a data
/// field, so that it must hold a micro-batch in an input segment.
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

/// Returns whether a field that the runtime makes has the tensor that its kind
/// needs.
static bool made_field_is_sound(const hfta_program *program,
                                const hfta_data_field *field) {
  const hfta_tensor *tensor = &program->tensors[field->tensor];
  switch ((hfta_field_kind)field->kind) {
  case HFTA_DATA_FIELD_KEYS:
    return tensor->type == HFTA_I64 && tensor->rank == 2 &&
           tensor->shape[1] >= 0 && tensor->shape[1] <= 3;
  case HFTA_DATA_FIELD_PARTNERS:
    return field->of < program->data_field_count &&
           program->tensors[program->data_fields[field->of].tensor].bytes ==
               tensor->bytes;
  case HFTA_DATA_FIELD_FILE:
    break;
  }
  return false;
}

static hfta_status check_ports(const hfta_program *program, hfta_error *error) {
  const char *bad = NULL;
  for (uint32_t i = 0; i < hfta_program_field_count(program); ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    bool is_made = i >= program->data_field_count;
    if (!port_is_sound(program, field->tensor, true) ||
        (is_made ? !made_field_is_sound(program, field)
                 : field->kind != HFTA_DATA_FIELD_FILE))
      bad = field->name;
  }
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

/// Returns whether the workspaces that a task uses are large enough for it.
static bool reaches_into_segments(const hfta_program *program,
                                  const hfta_task *task) {
  for (uint32_t i = 0; i < task->workspace_count; ++i) {
    uint32_t index = task->workspaces[i].segment;
    if (index >= program->segment_count)
      return false;
    const hfta_segment *segment = &program->segments[index];
    if (task->workspaces[i].bytes >
        (segment->copy_bytes ? segment->copy_bytes : segment->bytes))
      return false;
  }
  return true;
}

static bool is_listed(const uint32_t *segments, uint32_t count,
                      uint32_t segment) {
  for (uint32_t i = 0; i < count; ++i)
    if (segments[i] == segment)
      return true;
  return false;
}

/// Returns whether a task adds up sums for an ALL_REDUCE. Such a task runs for
/// blocks of bytes instead of copies.
static bool is_for_blocks(const hfta_program *program, const hfta_task *task) {
  size_t number = (size_t)(task - program->tasks);
  for (uint32_t s = 0; s < program->schedule_count; ++s) {
    const hfta_schedule *schedule = &program->schedules[s];
    for (uint32_t i = 0; i < schedule->command_count; ++i)
      if (schedule->commands[i].kind == HFTA_COMMAND_ALL_REDUCE &&
          schedule->commands[i].subject == number)
        return true;
  }
  return false;
}

/// Returns whether an operand lies within its segment, for all `copies` copies
/// if the launch runs once per copy, and whether the task lists the segment as
/// read or written.
static bool is_sound_binding(const hfta_program *program, const hfta_task *task,
                             const hfta_launch *launch,
                             const hfta_binding *binding, int64_t copies) {
  if (binding->segment >= program->segment_count)
    return false;
  if ((binding->access & HFTA_ACCESS_READ) &&
      !is_listed(task->reads, task->read_count, binding->segment))
    return false;
  if ((binding->access & HFTA_ACCESS_WRITE) &&
      !is_listed(task->writes, task->write_count, binding->segment))
    return false;
  const hfta_segment *segment = &program->segments[binding->segment];
  uint64_t last = 0;
  if (launch->per_copy)
    last = last_place(program, segment, copies);
  else if (launch->copy > 0)
    last = (uint64_t)(segment->places ? segment->places[launch->copy]
                                      : launch->copy);
  uint64_t begin = 0;
  bool has_values = !launch->per_copy || binding->copy_stride == 0 ||
                    are_in_segment(program, launch->places, segment);
  return has_values &&
         !__builtin_mul_overflow(binding->copy_stride, last, &begin) &&
         !__builtin_add_overflow(begin, binding->offset, &begin) &&
         begin <= segment->bytes && binding->bytes <= segment->bytes - begin;
}

/// Returns whether a GPU can copy boxes of an operand: whether its tensor map
/// keeps within the limits of cuTensorMapEncodeTiled, and a row has as many
/// bytes as a swizzle pattern in shared memory (32, 64 or 128).
static bool is_sound_map(const hfta_launch *launch,
                         const hfta_tensor_map *map) {
  enum { UNIT = 16, MOST_BOX = 256, MOST_STEP = 8, ROW_BYTES = 32 | 64 | 128 };
  const uint64_t most_size = UINT64_C(1) << 32, stride_end = UINT64_C(1) << 40;
  if (map->binding >= launch->binding_count || map->rank == 0 ||
      map->rank > HFTA_MAX_MAP_RANK || !map->dimensions ||
      (map->element_bytes != 2 && map->element_bytes != 4))
    return false;
  const hfta_binding *binding = &launch->bindings[map->binding];
  const hfta_map_dimension *first = &map->dimensions[0];
  uint64_t row_bytes = (uint64_t)first->box * map->element_bytes;
  bool sound = binding->offset % UNIT == 0 &&
               binding->copy_stride % UNIT == 0 &&
               binding->copy_stride < stride_end && first->step == 1 &&
               first->stride == map->element_bytes &&
               (row_bytes & (row_bytes - 1)) == 0 && (row_bytes & ROW_BYTES);
  uint64_t end = map->element_bytes;
  for (uint32_t i = 0; sound && i < map->rank; ++i) {
    const hfta_map_dimension *own = &map->dimensions[i];
    sound = own->size > 0 && own->size <= most_size && own->box > 0 &&
            own->box <= MOST_BOX && own->step > 0 && own->step <= MOST_STEP &&
            own->stride < stride_end && (i == 0 || own->stride % UNIT == 0) &&
            end <= binding->bytes &&
            (own->stride == 0 ||
             own->size - 1 <= (binding->bytes - end) / own->stride);
    end += (own->size - 1) * own->stride;
  }
  return sound && end <= binding->bytes;
}

/// Returns whether a launch is valid in images for warp groups, or not meant
/// for them.
static bool has_sound_groups(const hfta_launch *launch) {
  enum { MOST_THREADS = 1024, MOST_BYTES = 227 * 1024 };
  const hfta_warp_group_launch *groups = launch->warp_groups;
  if (!groups)
    return true;
  bool sound = groups->block_threads > 0 &&
               groups->block_threads <= MOST_THREADS &&
               groups->shared_bytes <= MOST_BYTES &&
               (groups->map_count == 0 || groups->maps);
  for (uint32_t i = 0; sound && i < groups->map_count; ++i)
    sound = is_sound_map(launch, &groups->maps[i]);
  return sound;
}

static bool is_sound_launch(const hfta_program *program, const hfta_task *task,
                            uint32_t index, int64_t copies) {
  const hfta_launch *launch = &task->launches[index];
  bool has_code = hfta_target_of(program)->has_images
                      ? launch->symbol && launch->block_threads > 0
                      : launch->kernel != NULL;
  bool sound = has_code && launch->copy < program->copies &&
               launch->lanes >= 0 && launch->lanes <= HFTA_MAX_BINDINGS &&
               (!launch->joins ||
                (index > 0 && launch->per_copy &&
                 launch->places == task->launches[index - 1].places)) &&
               (!launch->places || launch->per_copy) &&
               has_sound_groups(launch);
  for (uint32_t i = 0; sound && i < launch->binding_count; ++i)
    sound =
        is_sound_binding(program, task, launch, &launch->bindings[i], copies);
  return sound;
}

static hfta_status check_tasks(const hfta_program *program, hfta_error *error) {
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    bool sound = (task->launch_count == 0 || task->launches) &&
                 reaches_into_segments(program, task);
    int64_t copies = is_for_blocks(program, task) ? 1 : program->copies;
    for (uint32_t j = 0; sound && j < task->launch_count; ++j)
      sound = is_sound_launch(program, task, j, copies);
    if (!sound)
      return hfta_fail(error, HFTA_INTERNAL,
                       "program '%s': task '%s' has invalid launches",
                       program->name, task->name);
  }
  return HFTA_OK;
}

/// Checks that a segment of slabs has exactly one slab per copy.
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

/// Returns whether a segment may have its residency: if it isn't resident, it
/// must consist of whole pages, have no image, and have a role whose contents
/// only tasks write.
static bool is_sound_residency(const hfta_segment *segment) {
  uint64_t unit = segment->copy_bytes ? segment->copy_bytes : segment->bytes;
  if (segment->residency == HFTA_RESIDENT)
    return true;
  switch (segment->role) {
  case HFTA_SEGMENT_PARAMETERS:
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_OPTIMIZER_STATE:
  case HFTA_SEGMENT_STATISTICS:
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
  case HFTA_SEGMENT_CURVATURE:
  case HFTA_SEGMENT_MOMENTS:
    break;
  case HFTA_SEGMENT_WORKSPACE:
    if (segment->residency != HFTA_SPILLED)
      break;
    return false;
  default:
    return false;
  }
  return segment->residency <= HFTA_SPILLED && !segment->image &&
         unit % HFTA_PAGE_BYTES == 0;
}

static hfta_status check_residency(const hfta_program *program,
                                   hfta_error *error) {
  for (uint32_t i = 0; i < program->segment_count; ++i)
    if (!is_sound_residency(&program->segments[i]))
      return hfta_fail(error, HFTA_INTERNAL,
                       "program '%s': segment '%s' can't have residency %u",
                       program->name, program->segments[i].name,
                       program->segments[i].residency);
  return HFTA_OK;
}

hfta_status hfta_program_check(const hfta_program *program, hfta_error *error) {
  hfta_status status = hfta_target_check(program, error);
  if (status == HFTA_OK)
    status = check_counts(program, error);
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i)
    status = check_tensor(program, i, error);
  if (status == HFTA_OK)
    status = check_roles(program, error);
  if (status == HFTA_OK)
    status = check_metrics(program, error);
  if (status == HFTA_OK)
    status = check_ports(program, error);
  if (status == HFTA_OK)
    status = check_tasks(program, error);
  if (status == HFTA_OK)
    status = check_slabs(program, error);
  if (status == HFTA_OK)
    status = check_residency(program, error);
  if (status == HFTA_OK)
    status = hfta_program_check_schedules(program, error);
  return status;
}
