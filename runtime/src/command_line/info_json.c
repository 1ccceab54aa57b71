//===- info_json.c - The command info with --json -------------------------===//

#include "command_line/command.h"
#include "command_line/print_schedules.h"
#include "command_line/schedules_json.h"
#include "command_line/trials/search_commands.h"
#include "data/division.h"
#include "hfta/data.h"
#include "hfta/json.h"
#include "hfta/number_schedule.h"
#include "workload/memory_plan.h"
#include "workload/share.h"

#include <math.h>
#include <string.h>

/// Writes a setting that has one value for all copies; nothing for others.
static void put_setting(hfta_json_writer *writer, const hfta_setting *setting) {
  if (setting->type == HFTA_SETTING_INTEGER)
    hfta_json_put_integer(writer, setting->name, setting->value);
  if (setting->type == HFTA_SETTING_FLAG) {
    hfta_json_put_boolean(writer, setting->name, setting->value != 0);
  }
  if (setting->type == HFTA_SETTING_COUNTS && setting->value > 0) {
    hfta_json_key(writer, setting->name);
    hfta_json_begin_array(writer);
    for (int64_t i = 0; i < setting->value; ++i)
      hfta_json_integer(writer, ((const int64_t *)setting->values)[i]);
    hfta_json_end_array(writer);
  }
}

/// Writes a copy's value of a setting that has one per copy; nothing for
/// others.
static void put_setting_of_copy(hfta_json_writer *writer,
                                const hfta_setting *setting, int64_t copy) {
  if (!setting->values)
    return;
  if (setting->type == HFTA_SETTING_NUMBERS) {
    hfta_json_key(writer, setting->name);
    hfta_json_number(writer, ((const double *)setting->values)[copy], HFTA_F64);
  }
  if (setting->type == HFTA_SETTING_WHOLE_NUMBERS)
    hfta_json_put_integer(writer, setting->name,
                          ((const int64_t *)setting->values)[copy]);
}

static void put_copies(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_key(writer, "copies");
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "copy", copy);
    if (program->optimizers)
      hfta_json_put_string(writer, "optimizer", program->optimizers[copy]);
    for (uint32_t i = 0; i < program->setting_count; ++i)
      put_setting_of_copy(writer, &program->settings[i], copy);
    hfta_json_key(writer, "hyper_parameters");
    hfta_json_begin_object(writer);
    for (uint32_t i = 0; i < program->hyper_parameter_count; ++i) {
      if (isnan(program->hyper_parameters[i].values[copy]))
        continue;
      hfta_json_key(writer, program->hyper_parameters[i].name);
      hfta_json_number(writer, program->hyper_parameters[i].values[copy],
                       HFTA_F64);
    }
    hfta_json_end_object(writer);
    hfta_parameter_count count = hfta_count_parameters(program, copy);
    hfta_json_put_integer(writer, "trained_parameters", count.trained);
    hfta_json_put_integer(writer, "frozen_parameters", count.frozen);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes the kinds of the schedules of other numbers than the learning rate.
static void put_scheduled(hfta_json_writer *writer,
                          const hfta_program *program) {
  if (program->scheduled_number_count == 0)
    return;
  hfta_json_key(writer, "schedules");
  hfta_json_begin_object(writer);
  for (uint32_t i = 0; i < program->scheduled_number_count; ++i) {
    const hfta_scheduled_number *number = &program->scheduled_numbers[i];
    hfta_json_put_string(
        writer, program->hyper_parameters[number->hyper_parameter].name,
        hfta_number_schedule_name(number->schedule.kind));
  }
  hfta_json_end_object(writer);
}

/// Writes the names of several metrics, and the bytes that they keep of each
/// evaluated sample.
static void put_metrics(hfta_json_writer *writer, const hfta_program *program) {
  uint64_t bytes = hfta_program_score_bytes(program);
  if (program->metric_count > 1) {
    hfta_json_key(writer, "metrics");
    hfta_json_begin_array(writer);
    for (uint32_t i = 0; i < program->metric_count; ++i)
      hfta_json_string(writer, program->metrics[i].name);
    hfta_json_end_array(writer);
  }
  if (bytes > 0)
    hfta_json_put_unsigned(writer, "score_bytes", bytes);
}

static void put_job(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_put_string(writer, "name", program->name);
  hfta_json_put_unsigned(writer, "abi_version", program->abi_version);
  hfta_json_put_string(writer, "identity", program->models[0].identity);
  for (uint32_t i = 0; i < program->setting_count; ++i)
    put_setting(writer, &program->settings[i]);
  hfta_json_put_integer(writer, "blocks", program->blocks);
  hfta_json_put_string(
      writer, "precision",
      hfta_element_name((hfta_element_type)program->precision));
  hfta_json_put_string(writer, "optimizer", program->optimizer);
  hfta_json_put_string(writer, "schedule",
                       hfta_number_schedule_name(program->learning_rate.kind));
  put_scheduled(writer, program);
  if (program->loss_term_count > 0) {
    hfta_json_key(writer, "loss_terms");
    hfta_json_begin_array(writer);
    for (uint32_t i = 0; i < program->loss_term_count; ++i)
      hfta_json_string(writer, program->loss_terms[i].name);
    hfta_json_end_array(writer);
  }
  const hfta_metric *metric = hfta_program_main_metric(program);
  hfta_json_put_string(writer, "metric", metric ? metric->name : "");
  put_metrics(writer, program);
  hfta_json_put_string(writer, "cpu_features", program->cpu_features);
  if (program->validation.minutes > 0) {
    hfta_json_key(writer, "minutes");
    hfta_json_number(writer, program->validation.minutes, HFTA_F64);
  }
  hfta_json_key(writer, "step_seconds");
  if (program->step_seconds > 0)
    hfta_json_number(writer, program->step_seconds, HFTA_F64);
  else
    hfta_json_null(writer);
}

static void put_tensor(hfta_json_writer *writer, const hfta_tensor *tensor) {
  hfta_json_put_string(writer, "type",
                       hfta_element_name((hfta_element_type)tensor->type));
  hfta_json_key(writer, "shape");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < tensor->rank; ++i)
    hfta_json_integer(writer, tensor->shape[i]);
  hfta_json_end_array(writer);
}

static void put_parameters(hfta_json_writer *writer,
                           const hfta_program *program) {
  hfta_parameter_count count = hfta_count_parameters(program, 0);
  hfta_parameter_count all = hfta_count_all_parameters(program);
  hfta_json_key(writer, "parameters");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "per_copy", count.trained + count.frozen);
  hfta_json_put_integer(writer, "trained_per_copy", count.trained);
  hfta_json_put_integer(writer, "frozen_per_copy", count.frozen);
  hfta_json_put_integer(writer, "array", all.trained + all.frozen);
  hfta_json_key(writer, "tensors");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!hfta_tensor_is_parameter(program, i))
      continue;
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", tensor->name);
    put_tensor(writer, tensor);
    hfta_json_put_boolean(writer, "trained",
                          (tensor->flags & HFTA_TENSOR_TRAINED) != 0);
    hfta_json_put_string(
        writer, "rule",
        hfta_describe_training_rule(tensor->training_rule).word);
    if (tensor->groups)
      hfta_json_put_string(writer, "groups", tensor->groups);
    if (hfta_layer_decays(program))
      hfta_json_put_integer(writer, "layer_distance", tensor->layer_distance);
    hfta_json_put_boolean(writer, "shared",
                          (tensor->flags & HFTA_TENSOR_SHARED) != 0);
    if (tensor->copy >= 0)
      hfta_json_put_integer(writer, "copy", tensor->copy);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
  hfta_json_end_object(writer);
}

static void put_modes(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_key(writer, "modes");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->modal_node_count; ++i) {
    const hfta_modal_node *node = &program->modal_nodes[i];
    hfta_modal_node_words words = hfta_describe_modal_node(node);
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", node->name);
    hfta_json_put_string(writer, "kind", words.kind);
    hfta_json_put_string(writer, "mode",
                         words.evaluation ? "evaluation" : "training");
    hfta_json_put_string(writer, "rule", words.rule);
    if (node->copies)
      hfta_json_put_string(writer, "copies", node->copies);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes the state of a preconditioner, as far as checkpoints have it.
static void put_curvature(hfta_json_writer *writer,
                          const hfta_program *program) {
  hfta_json_key(writer, "curvature");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!hfta_tensor_is_curvature(program, i))
      continue;
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", tensor->name);
    put_tensor(writer, tensor);
    hfta_json_put_unsigned(writer, "bytes", tensor->bytes);
    if (tensor->copy >= 0)
      hfta_json_put_integer(writer, "copy", tensor->copy);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes a memory plan, whose bytes are divided by `share`.
static void put_plan(hfta_json_writer *writer, const char *key,
                     const hfta_memory_plan *plan, uint64_t share) {
  hfta_json_key(writer, key);
  hfta_json_begin_object(writer);
  hfta_json_put_unsigned(writer, "parameters", plan->parameters / share);
  hfta_json_put_unsigned(writer, "gradients", plan->gradients / share);
  hfta_json_put_unsigned(writer, "optimizer_state",
                         plan->optimizer_state / share);
  hfta_json_put_unsigned(writer, "statistics", plan->statistics / share);
  hfta_json_put_unsigned(writer, "curvature", plan->curvature / share);
  hfta_json_put_unsigned(writer, "activations", plan->activations / share);
  hfta_json_put_unsigned(writer, "workspace", plan->workspace / share);
  hfta_json_put_unsigned(writer, "input_output", plan->input_output / share);
  hfta_json_put_unsigned(writer, "prefetch", plan->prefetch / share);
  hfta_json_put_unsigned(writer, "scratch", plan->scratch / share);
  hfta_json_put_unsigned(writer, "arena", plan->arena / share);
  hfta_json_put_unsigned(writer, "store", plan->store / share);
  hfta_json_put_unsigned(writer, "peak_bytes", plan->peak / share);
  hfta_json_end_object(writer);
}

static void put_memory(hfta_json_writer *writer, const hfta_program *program,
                       int threads) {
  hfta_memory_plan plan = hfta_program_memory(program, threads);
  hfta_json_key(writer, "memory");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "threads", threads);
  hfta_json_put_integer(writer, "copies_at_once",
                        hfta_program_copies_at_once(program, threads));
  hfta_json_put_unsigned(writer, "constants_in_file", plan.constants);
  put_plan(writer, "array", &plan, 1);
  put_plan(writer, "per_copy", &plan, (uint64_t)program->copies);
  hfta_json_end_object(writer);
  hfta_json_put_unsigned(writer, "peak_bytes", plan.peak);
}

/// Writes the places of a stage's workers, their positions in the order in
/// which workers are assigned to ranks, unless these are the workers' numbers.
static void put_places(hfta_json_writer *writer, const hfta_program *program,
                       int32_t stage) {
  if (!program->worker_places)
    return;
  int64_t first = hfta_first_worker(program, stage);
  hfta_json_key(writer, "places");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < program->stages[stage].replicas; ++i)
    hfta_json_integer(writer, hfta_worker_place(program, first + i));
  hfta_json_end_array(writer);
}

static void put_stages(hfta_json_writer *writer, const hfta_program *program,
                       int threads) {
  hfta_json_key(writer, "stages");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->stage_count; ++i) {
    const hfta_stage *stage = &program->stages[i];
    hfta_memory_plan plan = hfta_stage_memory(program, i, threads);
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "replicas", stage->replicas);
    hfta_json_put_integer(writer, "groups", stage->groups);
    hfta_json_put_integer(writer, "in_flight", stage->in_flight);
    put_places(writer, program, (int32_t)i);
    put_plan(writer, "memory", &plan, 1);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

static void put_segments(hfta_json_writer *writer, const hfta_program *program,
                         int threads) {
  hfta_json_key(writer, "segments");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", segment->name);
    hfta_json_put_string(writer, "role", hfta_segment_role_name(segment->role));
    hfta_json_put_integer(writer, "block", segment->block);
    hfta_json_put_unsigned(writer, "bytes",
                           hfta_program_segment_bytes(program, i, threads));
    hfta_json_put_unsigned(writer, "alignment", segment->alignment);
    hfta_json_put_unsigned(writer, "instances", segment->instances);
    if (segment->holders.count > 0)
      hfta_put_replicas(writer, "holders", &segment->holders);
    if (segment->residency != HFTA_RESIDENT)
      hfta_json_put_string(writer, "residency",
                           hfta_residency_word(segment->residency));
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes the memory that a program needs on another device than the host.
static void put_device(hfta_json_writer *writer, const hfta_program *program) {
  if (hfta_target_of(program)->is_host)
    return;
  hfta_device_needs needs = hfta_find_device_needs(program);
  hfta_json_key(writer, "gpu");
  hfta_json_begin_object(writer);
  hfta_json_put_unsigned(writer, "first_copy_bytes", needs.first_copy);
  hfta_json_put_unsigned(writer, "next_copy_bytes", needs.next_copy);
  hfta_json_put_unsigned(writer, "waiting_copy_bytes", needs.waiting_copy);
  hfta_json_put_boolean(writer, "takes_turns", !needs.common);
  hfta_json_end_object(writer);
}

static void put_segment_names(hfta_json_writer *writer, const char *key,
                              const hfta_program *program,
                              const uint32_t *indices, uint32_t count) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < count; ++i)
    hfta_json_string(writer, indices[i] < program->segment_count
                                 ? program->segments[indices[i]].name
                                 : "?");
  hfta_json_end_array(writer);
}

static void put_tasks(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_key(writer, "tasks");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", task->name);
    hfta_json_put_unsigned(writer, "launches", task->launch_count);
    hfta_json_put_boolean(writer, "by_copies",
                          (task->flags & HFTA_TASK_BY_COPIES) != 0);
    put_segment_names(writer, "reads", program, task->reads, task->read_count);
    put_segment_names(writer, "writes", program, task->writes,
                      task->write_count);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes what a csv source says of its files.
static void put_csv(hfta_json_writer *writer, const hfta_data_source *source) {
  hfta_json_put_string(writer, "header",
                       hfta_csv_header_name((hfta_csv_header)source->header));
  if (source->separator != HFTA_CSV_SEPARATOR_COMMA)
    hfta_json_put_string(
        writer, "separator",
        hfta_csv_separator_name((hfta_csv_separator)source->separator));
  if (source->column_count == 0)
    return;
  hfta_json_key(writer, "columns");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < source->column_count; ++i)
    if (source->column_names)
      hfta_json_string(writer, source->column_names[i]);
    else
      hfta_json_integer(writer, source->column_numbers[i]);
  hfta_json_end_array(writer);
}

static void put_source(hfta_json_writer *writer, const char *key,
                       const hfta_data_source *source) {
  if (source->format == HFTA_DATA_NONE)
    return;
  hfta_json_key(writer, key);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "format",
                       hfta_data_format_name((hfta_data_format)source->format));
  hfta_json_put_string(writer, "path", source->path);
  if (source->more_path_count > 0) {
    hfta_json_key(writer, "more_paths");
    hfta_json_begin_array(writer);
    for (uint32_t i = 0; i < source->more_path_count; ++i)
      hfta_json_string(writer, source->more_paths[i]);
    hfta_json_end_array(writer);
  }
  if (source->array && *source->array)
    hfta_json_put_string(writer, "array", source->array);
  if (source->format == HFTA_DATA_CSV)
    put_csv(writer, source);
  if (source->format == HFTA_DATA_IMAGES) {
    hfta_json_put_string(
        writer, "resize",
        hfta_image_resize_name((hfta_image_resize)source->resize));
    hfta_json_put_boolean(writer, "skip_damaged", source->skips_damaged != 0);
    hfta_json_put_integer(writer, "cache", source->cache);
  }
  if (source->format == HFTA_DATA_TOKENS) {
    hfta_json_put_integer(writer, "shift", source->shift);
    hfta_json_put_integer(writer, "stride", source->stride);
  }
  hfta_json_end_object(writer);
}

static void put_data(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_key(writer, "data");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", field->name);
    put_tensor(writer, &program->tensors[field->tensor]);
    put_source(writer, "train", &field->train);
    put_source(writer, "test", &field->test);
    put_source(writer, "validation", &field->validation);
    if (hfta_field_is_augmented(field))
      hfta_json_put_string(writer, "augmentations", field->augmentations);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes how copies are validated; nothing without validation data.
static void put_validation(hfta_json_writer *writer,
                           const hfta_program *program) {
  const hfta_validation *own = &program->validation;
  if (!hfta_program_validates(program))
    return;
  hfta_json_key(writer, "validation");
  hfta_json_begin_object(writer);
  if (own->folds > 0) {
    hfta_json_put_integer(writer, "folds", own->folds);
  } else if (own->share > 0) {
    hfta_json_key(writer, "share");
    hfta_json_number(writer, own->share, HFTA_F64);
  }
  if (hfta_program_divides(program))
    hfta_json_put_integer(writer, "seed", own->seed);
  hfta_json_put_integer(writer, "every", own->every);
  hfta_json_put_string(writer, "by",
                       own->is_external ? "external"
                                        : hfta_program_score_name(program));
  hfta_json_put_boolean(writer, "keeps_best", own->keeps_best != 0);
  hfta_json_put_integer(writer, "patience", own->patience);
  hfta_json_key(writer, "least");
  hfta_json_number(writer, own->least, HFTA_F64);
  hfta_json_end_object(writer);
}

static void put_ports(hfta_json_writer *writer, const char *key,
                      const hfta_program *program, const hfta_port *ports,
                      uint32_t count) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < count; ++i) {
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", ports[i].name);
    hfta_json_put_string(writer, "model_name", ports[i].model_name);
    put_tensor(writer, &program->tensors[ports[i].tensor]);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

hfta_status hfta_write_info_json(const hfta_program *const *arrays, int threads,
                                 FILE *file, hfta_error *error) {
  const hfta_program *program = arrays[0];
  hfta_json_writer writer;
  hfta_json_to_file(&writer, file);
  hfta_json_begin_object(&writer);
  put_job(&writer, program);
  put_copies(&writer, program);
  put_parameters(&writer, program);
  put_modes(&writer, program);
  put_curvature(&writer, program);
  put_memory(&writer, program, threads);
  put_device(&writer, program);
  put_stages(&writer, program, threads);
  put_segments(&writer, program, threads);
  put_tasks(&writer, program);
  hfta_put_schedules(&writer, program);
  put_data(&writer, program);
  put_validation(&writer, program);
  if (program->search)
    program->search->commands->put(&writer, arrays);
  put_ports(&writer, "inputs", program, program->inputs, program->input_count);
  put_ports(&writer, "outputs", program, program->outputs,
            program->output_count);
  if (program->plan_json && *program->plan_json) {
    hfta_json_key(&writer, "plan");
    hfta_json_raw(&writer, program->plan_json);
  }
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  return hfta_json_finish(&writer, error);
}
