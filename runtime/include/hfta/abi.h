//===- abi.h - The layout of what programs and the runtime share *- C++ -*-===//
//
// Lists the members of all structs of program.h, and its enumerators, as
// macros. When the compiler and the runtime are built, both assert that the
// lists are complete, and that members are in order and without padding. The
// version of the ABI is a hash of these lists (hfta_abi_version). A runtime
// refuses a program of another version: its structs have another layout, or its
// enumerators other values.
//===----------------------------------------------------------------------===//

#ifndef HFTA_ABI_H
#define HFTA_ABI_H

#include "hfta/program.h"

#ifdef __cplusplus
#define HFTA_ABI_ASSERT static_assert
#else
#define HFTA_ABI_ASSERT _Static_assert
#endif

/// Start value of the hash. Increase it by hand if a member gets another
/// meaning but keeps its name, offset and size, since the hash can't detect
/// that.
#define HFTA_ABI_REVISION 1u

#define HFTA_ABI_REPLICAS(M, s)                                                \
  M(s, first) M(s, count) M(s, stride) M(s, reserved)
#define HFTA_ABI_SEGMENT(M, s)                                                 \
  M(s, name)                                                                   \
  M(s, role)                                                                   \
  M(s, block)                                                                  \
  M(s, bytes)                                                                  \
  M(s, places)                                                                 \
  M(s, copy_bytes)                                                             \
  M(s, alignment)                                                              \
  M(s, instances)                                                              \
  M(s, stage) M(s, holders) M(s, image) M(s, residency) M(s, reserved)
#define HFTA_ABI_TENSOR(M, s)                                                  \
  M(s, name)                                                                   \
  M(s, segment)                                                                \
  M(s, type)                                                                   \
  M(s, offset)                                                                 \
  M(s, copy_stride)                                                            \
  M(s, shape)                                                                  \
  M(s, rank)                                                                   \
  M(s, flags)                                                                  \
  M(s, bytes)                                                                  \
  M(s, copy)                                                                   \
  M(s, training_rule)                                                          \
  M(s, places) M(s, groups) M(s, layer_distance) M(s, average)
#define HFTA_ABI_BINDING(M, s)                                                 \
  M(s, segment)                                                                \
  M(s, in_slabs)                                                               \
  M(s, offset) M(s, copy_stride) M(s, bytes) M(s, access) M(s, reserved)
#define HFTA_ABI_MAP_DIMENSION(M, s)                                           \
  M(s, size) M(s, stride) M(s, box) M(s, step)
#define HFTA_ABI_TENSOR_MAP(M, s)                                              \
  M(s, binding)                                                                \
  M(s, element_bytes) M(s, rank) M(s, reserved) M(s, dimensions)
#define HFTA_ABI_WARP_GROUP_LAUNCH(M, s)                                       \
  M(s, maps)                                                                   \
  M(s, map_count) M(s, block_threads) M(s, shared_bytes) M(s, reserved)
#define HFTA_ABI_LAUNCH(M, s)                                                  \
  M(s, kernel)                                                                 \
  M(s, name)                                                                   \
  M(s, symbol)                                                                 \
  M(s, bindings)                                                               \
  M(s, warp_groups)                                                            \
  M(s, binding_count)                                                          \
  M(s, per_copy)                                                               \
  M(s, copy)                                                                   \
  M(s, joins)                                                                  \
  M(s, items)                                                                  \
  M(s, lanes)                                                                  \
  M(s, scratch_bytes) M(s, block_threads) M(s, reserved) M(s, places)
#define HFTA_ABI_IMAGE(M, s)                                                   \
  M(s, data) M(s, bytes) M(s, chip) M(s, kind) M(s, warp_groups)
#define HFTA_ABI_IMAGE_TABLE(M, s) M(s, images) M(s, count)
#define HFTA_ABI_EXTENT(M, s) M(s, segment) M(s, reserved) M(s, bytes)
#define HFTA_ABI_TASK(M, s)                                                    \
  M(s, name)                                                                   \
  M(s, launches)                                                               \
  M(s, reads)                                                                  \
  M(s, writes)                                                                 \
  M(s, workspaces)                                                             \
  M(s, launch_count)                                                           \
  M(s, read_count)                                                             \
  M(s, write_count) M(s, flags) M(s, workspace_count) M(s, reserved)
#define HFTA_ABI_PLACE(M, s)                                                   \
  M(s, space) M(s, index) M(s, offset) M(s, copy_stride)
#define HFTA_ABI_COMMAND(M, s)                                                 \
  M(s, kind)                                                                   \
  M(s, device)                                                                 \
  M(s, queue)                                                                  \
  M(s, subject)                                                                \
  M(s, length)                                                                 \
  M(s, ahead)                                                                  \
  M(s, to) M(s, from) M(s, bytes) M(s, replicas) M(s, receivers)
#define HFTA_ABI_SCHEDULE(M, s)                                                \
  M(s, name)                                                                   \
  M(s, commands)                                                               \
  M(s, keeps)                                                                  \
  M(s, command_count) M(s, keep_count) M(s, stage) M(s, reserved)
#define HFTA_ABI_ACTION(M, s) M(s, which) M(s, place)
#define HFTA_ABI_ACTION_LIST(M, s) M(s, actions) M(s, count)
#define HFTA_ABI_STAGE(M, s) M(s, replicas) M(s, groups) M(s, in_flight)
#define HFTA_ABI_SETTING(M, s)                                                 \
  M(s, name) M(s, type) M(s, reserved) M(s, value) M(s, values)
#define HFTA_ABI_HYPER_PARAMETER(M, s) M(s, name) M(s, values)
#define HFTA_ABI_NUMBER_SCHEDULE(M, s)                                         \
  M(s, kind)                                                                   \
  M(s, options)                                                                \
  M(s, parts)                                                                  \
  M(s, milestones)                                                             \
  M(s, part_count) M(s, milestone_count) HFTA_SCHEDULE_NUMBERS(M, s)
#define HFTA_ABI_SCHEDULED_NUMBER(M, s)                                        \
  M(s, hyper_parameter) M(s, tensor) M(s, schedule)
#define HFTA_ABI_DATA_SOURCE(M, s)                                             \
  M(s, format)                                                                 \
  M(s, column)                                                                 \
  M(s, header)                                                                 \
  M(s, separator)                                                              \
  M(s, path)                                                                   \
  M(s, more_paths)                                                             \
  M(s, array)                                                                  \
  M(s, column_names)                                                           \
  M(s, column_numbers)                                                         \
  M(s, more_path_count)                                                        \
  M(s, column_count)                                                           \
  M(s, resize)                                                                 \
  M(s, skips_damaged) M(s, cache) M(s, shift) M(s, stride)
#define HFTA_ABI_DATA_FIELD(M, s)                                              \
  M(s, name)                                                                   \
  M(s, tensor)                                                                 \
  M(s, balances)                                                               \
  M(s, train)                                                                  \
  M(s, test)                                                                   \
  M(s, validation)                                                             \
  M(s, classes)                                                                \
  M(s, first_class)                                                            \
  M(s, ignored_class) M(s, augmentations) M(s, kind) M(s, of)
#define HFTA_ABI_PORT(M, s)                                                    \
  M(s, name) M(s, tensor) M(s, reserved) M(s, model_name)
#define HFTA_ABI_ROLES(M, s)                                                   \
  M(s, step)                                                                   \
  M(s, micro_batch)                                                            \
  M(s, valid_samples)                                                          \
  M(s, learning_rate)                                                          \
  M(s, seed)                                                                   \
  M(s, loss)                                                                   \
  M(s, loss_sum)                                                               \
  M(s, loss_weight)                                                            \
  M(s, kl_scale)                                                               \
  M(s, skipped)                                                                \
  M(s, retried)                                                                \
  M(s, kept) M(s, accumulations) M(s, loss_scale) M(s, skipped_steps)
#define HFTA_ABI_MODAL_NODE(M, s) M(s, name) M(s, copies) M(s, kind) M(s, rule)
#define HFTA_ABI_LOSS_TERM(M, s)                                               \
  M(s, name) M(s, loss) M(s, weight) M(s, loss_sum) M(s, loss_weight)
#define HFTA_ABI_METRIC(M, s)                                                  \
  M(s, name)                                                                   \
  M(s, kind)                                                                   \
  M(s, average)                                                                \
  M(s, is_share)                                                               \
  M(s, is_labeled)                                                             \
  M(s, direction)                                                              \
  M(s, labels) M(s, guesses) M(s, weights) M(s, elements) M(s, classes)
#define HFTA_ABI_EXPORT_TEMPLATE(M, s)                                         \
  M(s, header) M(s, header_bytes) M(s, graph) M(s, graph_bytes)
#define HFTA_ABI_MODEL(M, s)                                                   \
  M(s, identity) M(s, identity_of_batch) M(s, export_template)
#define HFTA_ABI_SEARCH_SETTING(M, s)                                          \
  M(s, name)                                                                   \
  M(s, distribution)                                                           \
  M(s, is_packed)                                                              \
  M(s, low)                                                                    \
  M(s, high)                                                                   \
  M(s, step)                                                                   \
  M(s, choices) M(s, choice_count) M(s, labels) M(s, zip) M(s, own)
#define HFTA_ABI_SAMPLER(M, s)                                                 \
  M(s, kind) M(s, direction) M(s, seed) M(s, startup) M(s, batch)
#define HFTA_ABI_RULE(M, s)                                                    \
  M(s, kind)                                                                   \
  M(s, direction)                                                              \
  M(s, units)                                                                  \
  M(s, grace)                                                                  \
  M(s, eta)                                                                    \
  M(s, workers)                                                                \
  M(s, every)                                                                  \
  M(s, percentile) M(s, quantile) M(s, resample) M(s, factors) M(s, seed)
#define HFTA_ABI_SEARCH(M, s)                                                  \
  M(s, settings)                                                               \
  M(s, setting_count)                                                          \
  M(s, trials)                                                                 \
  M(s, sampler)                                                                \
  M(s, rule)                                                                   \
  M(s, array_count) M(s, array) M(s, commands)
#define HFTA_ABI_VALIDATION(M, s)                                              \
  M(s, share)                                                                  \
  M(s, folds)                                                                  \
  M(s, seed)                                                                   \
  M(s, every)                                                                  \
  M(s, by_metric)                                                              \
  M(s, direction)                                                              \
  M(s, keeps_best)                                                             \
  M(s, is_external) M(s, patience) M(s, least) M(s, minutes)
#define HFTA_ABI_PROGRAM(M, s)                                                 \
  M(s, abi_version)                                                            \
  M(s, metric_count)                                                           \
  M(s, name)                                                                   \
  M(s, optimizer)                                                              \
  M(s, optimizers)                                                             \
  M(s, metrics)                                                                \
  M(s, cpu_features)                                                           \
  M(s, target)                                                                 \
  M(s, plan_json)                                                              \
  M(s, copies)                                                                 \
  M(s, batch)                                                                  \
  M(s, micro_batches)                                                          \
  M(s, workers)                                                                \
  M(s, blocks)                                                                 \
  M(s, epochs)                                                                 \
  M(s, steps)                                                                  \
  M(s, order_seed)                                                             \
  M(s, shuffle)                                                                \
  M(s, precision)                                                              \
  M(s, learning_rate)                                                          \
  M(s, segments)                                                               \
  M(s, tensors)                                                                \
  M(s, tasks)                                                                  \
  M(s, schedules)                                                              \
  M(s, orders)                                                                 \
  M(s, stages)                                                                 \
  M(s, worker_places)                                                          \
  M(s, hyper_parameters)                                                       \
  M(s, scheduled_numbers)                                                      \
  M(s, data_fields)                                                            \
  M(s, inputs)                                                                 \
  M(s, outputs)                                                                \
  M(s, settings)                                                               \
  M(s, segment_count)                                                          \
  M(s, tensor_count)                                                           \
  M(s, task_count)                                                             \
  M(s, schedule_count)                                                         \
  M(s, order_count)                                                            \
  M(s, stage_count)                                                            \
  M(s, event_count)                                                            \
  M(s, queue_count)                                                            \
  M(s, hyper_parameter_count)                                                  \
  M(s, scheduled_number_count)                                                 \
  M(s, data_field_count)                                                       \
  M(s, input_count)                                                            \
  M(s, output_count)                                                           \
  M(s, setting_count)                                                          \
  M(s, loss_term_count)                                                        \
  M(s, modal_node_count)                                                       \
  M(s, made_field_count)                                                       \
  M(s, roles)                                                                  \
  M(s, loss_terms)                                                             \
  M(s, modal_nodes)                                                            \
  M(s, models)                                                                 \
  M(s, model_of_copy)                                                          \
  M(s, arena_bytes)                                                            \
  M(s, device_bytes)                                                           \
  M(s, memory_threads)                                                         \
  M(s, spill_directory)                                                        \
  M(s, step_seconds)                                                           \
  M(s, images)                                                                 \
  M(s, loss_mixed_by) M(s, output_mixed_by) M(s, validation) M(s, search)

/// Lists the structs: STRUCT(struct, macro that lists its members).
#define HFTA_ABI_STRUCTS(STRUCT)                                               \
  STRUCT(hfta_replicas, HFTA_ABI_REPLICAS)                                     \
  STRUCT(hfta_segment, HFTA_ABI_SEGMENT)                                       \
  STRUCT(hfta_tensor, HFTA_ABI_TENSOR)                                         \
  STRUCT(hfta_binding, HFTA_ABI_BINDING)                                       \
  STRUCT(hfta_map_dimension, HFTA_ABI_MAP_DIMENSION)                           \
  STRUCT(hfta_tensor_map, HFTA_ABI_TENSOR_MAP)                                 \
  STRUCT(hfta_warp_group_launch, HFTA_ABI_WARP_GROUP_LAUNCH)                   \
  STRUCT(hfta_launch, HFTA_ABI_LAUNCH)                                         \
  STRUCT(hfta_image, HFTA_ABI_IMAGE)                                           \
  STRUCT(hfta_image_table, HFTA_ABI_IMAGE_TABLE)                               \
  STRUCT(hfta_extent, HFTA_ABI_EXTENT)                                         \
  STRUCT(hfta_task, HFTA_ABI_TASK)                                             \
  STRUCT(hfta_place, HFTA_ABI_PLACE)                                           \
  STRUCT(hfta_command, HFTA_ABI_COMMAND)                                       \
  STRUCT(hfta_schedule, HFTA_ABI_SCHEDULE)                                     \
  STRUCT(hfta_action, HFTA_ABI_ACTION)                                         \
  STRUCT(hfta_action_list, HFTA_ABI_ACTION_LIST)                               \
  STRUCT(hfta_stage, HFTA_ABI_STAGE)                                           \
  STRUCT(hfta_setting, HFTA_ABI_SETTING)                                       \
  STRUCT(hfta_hyper_parameter, HFTA_ABI_HYPER_PARAMETER)                       \
  STRUCT(hfta_number_schedule, HFTA_ABI_NUMBER_SCHEDULE)                       \
  STRUCT(hfta_scheduled_number, HFTA_ABI_SCHEDULED_NUMBER)                     \
  STRUCT(hfta_data_source, HFTA_ABI_DATA_SOURCE)                               \
  STRUCT(hfta_data_field, HFTA_ABI_DATA_FIELD)                                 \
  STRUCT(hfta_port, HFTA_ABI_PORT)                                             \
  STRUCT(hfta_roles, HFTA_ABI_ROLES)                                           \
  STRUCT(hfta_loss_term, HFTA_ABI_LOSS_TERM)                                   \
  STRUCT(hfta_modal_node, HFTA_ABI_MODAL_NODE)                                 \
  STRUCT(hfta_metric, HFTA_ABI_METRIC)                                         \
  STRUCT(hfta_export_template, HFTA_ABI_EXPORT_TEMPLATE)                       \
  STRUCT(hfta_model, HFTA_ABI_MODEL)                                           \
  STRUCT(hfta_search_setting, HFTA_ABI_SEARCH_SETTING)                         \
  STRUCT(hfta_sampler, HFTA_ABI_SAMPLER)                                       \
  STRUCT(hfta_rule, HFTA_ABI_RULE)                                             \
  STRUCT(hfta_search, HFTA_ABI_SEARCH)                                         \
  STRUCT(hfta_validation, HFTA_ABI_VALIDATION)                                 \
  STRUCT(hfta_program, HFTA_ABI_PROGRAM)

#define HFTA_ABI_ELEMENT_TYPE(E)                                               \
  E(HFTA_BOOL)                                                                 \
  E(HFTA_U8)                                                                   \
  E(HFTA_I8)                                                                   \
  E(HFTA_U16)                                                                  \
  E(HFTA_I16)                                                                  \
  E(HFTA_I32)                                                                  \
  E(HFTA_I64)                                                                  \
  E(HFTA_F16)                                                                  \
  E(HFTA_BF16)                                                                 \
  E(HFTA_F32)                                                                  \
  E(HFTA_F64)
#define HFTA_ABI_SEGMENT_ROLE(E)                                               \
  E(HFTA_SEGMENT_CONSTANTS)                                                    \
  E(HFTA_SEGMENT_PARAMETERS)                                                   \
  E(HFTA_SEGMENT_GRADIENTS)                                                    \
  E(HFTA_SEGMENT_OPTIMIZER_STATE)                                              \
  E(HFTA_SEGMENT_STATISTICS)                                                   \
  E(HFTA_SEGMENT_SAVED)                                                        \
  E(HFTA_SEGMENT_CUT)                                                          \
  E(HFTA_SEGMENT_WORKSPACE)                                                    \
  E(HFTA_SEGMENT_SCRATCH)                                                      \
  E(HFTA_SEGMENT_INPUT)                                                        \
  E(HFTA_SEGMENT_OUTPUT)                                                       \
  E(HFTA_SEGMENT_SCALARS)                                                      \
  E(HFTA_SEGMENT_RESULTS)                                                      \
  E(HFTA_SEGMENT_EXCHANGE)                                                     \
  E(HFTA_SEGMENT_RECEIVED)                                                     \
  E(HFTA_SEGMENT_CURVATURE)                                                    \
  E(HFTA_SEGMENT_MOMENTS)
#define HFTA_ABI_RESIDENCY(E) E(HFTA_RESIDENT) E(HFTA_TRANSIENT) E(HFTA_SPILLED)
#define HFTA_ABI_TENSOR_FLAG(E)                                                \
  E(HFTA_TENSOR_TRAINED)                                                       \
  E(HFTA_TENSOR_CHECKPOINT)                                                    \
  E(HFTA_TENSOR_EXPORT)                                                        \
  E(HFTA_TENSOR_SHARED)                                                        \
  E(HFTA_TENSOR_OFFSET)
#define HFTA_ABI_ACCESS(E) E(HFTA_ACCESS_READ) E(HFTA_ACCESS_WRITE)
#define HFTA_ABI_IMAGE_KIND(E)                                                 \
  E(HFTA_IMAGE_CUBIN)                                                          \
  E(HFTA_IMAGE_PTX)                                                            \
  E(HFTA_IMAGE_EMULATED)
#define HFTA_ABI_CONTENTS(E)                                                   \
  E(HFTA_CONTENTS_STORED)                                                      \
  E(HFTA_CONTENTS_ZEROS)                                                       \
  E(HFTA_CONTENTS_UNDEFINED)
#define HFTA_ABI_REPEAT_KIND(E)                                                \
  E(HFTA_REPEAT_MICRO_BATCHES)                                                 \
  E(HFTA_REPEAT_TURNS)                                                         \
  E(HFTA_REPEAT_ALL_MICRO_BATCHES)
#define HFTA_ABI_DUE_KIND(E)                                                   \
  E(HFTA_DUE)                                                                  \
  E(HFTA_DUE_OTHERS)                                                           \
  E(HFTA_DUE_ANY)                                                              \
  E(HFTA_DUE_NONE)
#define HFTA_ABI_SPACE(E)                                                      \
  E(HFTA_SPACE_SEGMENT)                                                        \
  E(HFTA_SPACE_HOST)                                                           \
  E(HFTA_SPACE_FIELD)                                                          \
  E(HFTA_SPACE_PORT)                                                           \
  E(HFTA_SPACE_ARENA)
#define HFTA_ABI_SETTING_TYPE(E)                                               \
  E(HFTA_SETTING_INTEGER)                                                      \
  E(HFTA_SETTING_FLAG)                                                         \
  E(HFTA_SETTING_NUMBERS)                                                      \
  E(HFTA_SETTING_WHOLE_NUMBERS)                                                \
  E(HFTA_SETTING_COUNTS)

#define HFTA_ABI_METRIC_KIND(E)                                                \
  E(HFTA_METRIC_MEAN)                                                          \
  E(HFTA_METRIC_EXP_MEAN)                                                      \
  E(HFTA_METRIC_RECALL)                                                        \
  E(HFTA_METRIC_PRECISION)                                                     \
  E(HFTA_METRIC_F1)                                                            \
  E(HFTA_METRIC_CONFUSION)                                                     \
  E(HFTA_METRIC_R2)                                                            \
  E(HFTA_METRIC_AUROC)                                                         \
  E(HFTA_METRIC_AVERAGE_PRECISION)
#define HFTA_ABI_METRIC_AVERAGE(E)                                             \
  E(HFTA_AVERAGE_MACRO)                                                        \
  E(HFTA_AVERAGE_MICRO)                                                        \
  E(HFTA_AVERAGE_WEIGHTED)
#define HFTA_ABI_DIRECTION(E) E(HFTA_MINIMIZE) E(HFTA_MAXIMIZE)
#define HFTA_ABI_DISTRIBUTION(E)                                               \
  E(HFTA_UNIFORM)                                                              \
  E(HFTA_LOG_UNIFORM)                                                          \
  E(HFTA_INTEGERS)                                                             \
  E(HFTA_LOG_INTEGERS)                                                         \
  E(HFTA_CHOICE)

/// Lists the enums: ENUM(enum, macro that lists its enumerators). Enums that
/// are generated from other lists, such as HFTA_COMMANDS, aren't listed
/// here; hfta_abi_version hashes those lists.
#define HFTA_ABI_ENUMS(ENUM)                                                   \
  ENUM(hfta_element_type, HFTA_ABI_ELEMENT_TYPE)                               \
  ENUM(hfta_segment_role, HFTA_ABI_SEGMENT_ROLE)                               \
  ENUM(hfta_residency, HFTA_ABI_RESIDENCY)                                     \
  ENUM(hfta_tensor_flag, HFTA_ABI_TENSOR_FLAG)                                 \
  ENUM(hfta_access, HFTA_ABI_ACCESS)                                           \
  ENUM(hfta_image_kind, HFTA_ABI_IMAGE_KIND)                                   \
  ENUM(hfta_contents, HFTA_ABI_CONTENTS)                                       \
  ENUM(hfta_repeat_kind, HFTA_ABI_REPEAT_KIND)                                 \
  ENUM(hfta_due_kind, HFTA_ABI_DUE_KIND)                                       \
  ENUM(hfta_space, HFTA_ABI_SPACE)                                             \
  ENUM(hfta_setting_type, HFTA_ABI_SETTING_TYPE)                               \
  ENUM(hfta_metric_kind, HFTA_ABI_METRIC_KIND)                                 \
  ENUM(hfta_metric_average, HFTA_ABI_METRIC_AVERAGE)                           \
  ENUM(hfta_direction, HFTA_ABI_DIRECTION)                                     \
  ENUM(hfta_distribution, HFTA_ABI_DISTRIBUTION)

/// Lists the macros whose values are part of the ABI: CONSTANT(name).
#define HFTA_ABI_CONSTANTS(CONSTANT)                                           \
  CONSTANT(HFTA_TASK_BY_COPIES)                                                \
  CONSTANT(HFTA_TASK_FLUSHES_DENORMALS)                                        \
  CONSTANT(HFTA_MAX_BINDINGS)                                                  \
  CONSTANT(HFTA_MAX_MAP_RANK)                                                  \
  CONSTANT(HFTA_PAGE_BYTES)

// For each struct `s`, declares a struct `s_bytes` with a char array in place
// of each listed member. A struct of char arrays has no padding. So if offsets
// and sizes are equal, `s` has no padding either, and its list is complete.
#define HFTA_ABI_BYTES(s, m) char m[sizeof(((s *)0)->m)];
#define HFTA_ABI_ASSERT_OFFSET(s, m)                                           \
  HFTA_ABI_ASSERT(offsetof(s, m) == offsetof(struct s##_bytes, m),             \
                  "the list of " #s " has another member before " #m);
#define HFTA_ABI_ASSERT_STRUCT(s, list)                                        \
  struct s##_bytes {                                                           \
    list(HFTA_ABI_BYTES, s)                                                    \
  };                                                                           \
  list(HFTA_ABI_ASSERT_OFFSET, s)                                              \
      HFTA_ABI_ASSERT(sizeof(s) == sizeof(struct s##_bytes),                   \
                      #s " has members or padding that its list lacks");
HFTA_ABI_STRUCTS(HFTA_ABI_ASSERT_STRUCT)

// Checks that the lists of enumerators are complete: a switch over a list
// doesn't compile if it lacks an enumerator.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
#endif
#define HFTA_ABI_CASE(e) case e:
#define HFTA_ABI_ASSERT_ENUM(t, list)                                          \
  static inline int t##_is_listed(t value) {                                   \
    switch (value) { list(HFTA_ABI_CASE) return 1; }                           \
    return 0;                                                                  \
  }
HFTA_ABI_ENUMS(HFTA_ABI_ASSERT_ENUM)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// The hash of nothing.
#define HFTA_ABI_START 2166136261u

/// Adds a name and two numbers to a hash by FNV-1a, and returns the new hash.
/// The numbers are the offset and size of a member in bytes, or the value and
/// size of an enumerator.
static inline uint32_t hfta_abi_mix(uint32_t hash, const char *name,
                                    size_t offset, size_t size) {
  for (; *name; ++name)
    hash = (hash ^ (uint8_t)*name) * 16777619u;
  hash = (hash ^ (uint32_t)offset) * 16777619u;
  return (hash ^ (uint32_t)size) * 16777619u;
}

// Each list has a hash of its own, since a compiler evaluates a short function
// at compile time, but leaves a long one as code in every program.
#define HFTA_ABI_MIX(s, m)                                                     \
  hash = hfta_abi_mix(hash, #s "." #m, offsetof(s, m), sizeof(((s *)0)->m));
#define HFTA_ABI_HASH_STRUCT(s, list)                                          \
  static inline uint32_t s##_hash(void) {                                      \
    uint32_t hash = HFTA_ABI_START;                                            \
    list(HFTA_ABI_MIX, s) return hash;                                         \
  }
HFTA_ABI_STRUCTS(HFTA_ABI_HASH_STRUCT)
#undef HFTA_ABI_HASH_STRUCT
#undef HFTA_ABI_MIX

#define HFTA_ABI_MIX(e) hash = hfta_abi_mix(hash, #e, (size_t)(e), sizeof(e));
#define HFTA_ABI_HASH_ENUM(t, list)                                            \
  static inline uint32_t t##_hash(void) {                                      \
    uint32_t hash = HFTA_ABI_START;                                            \
    list(HFTA_ABI_MIX) return hash;                                            \
  }
HFTA_ABI_ENUMS(HFTA_ABI_HASH_ENUM)
#undef HFTA_ABI_HASH_ENUM

#define HFTA_NUMBER_SCHEDULE(identifier, number, name)                         \
  HFTA_ABI_MIX(HFTA_NUMBER_SCHEDULE_##identifier)
#define HFTA_SCHEDULE_OPTION(identifier, bit, name)                            \
  HFTA_ABI_MIX(HFTA_SCHEDULE_##identifier)
#define HFTA_DATA_FORMAT(identifier, number, name)                             \
  HFTA_ABI_MIX(HFTA_DATA_##identifier)
#define HFTA_DATA_FIELD_KIND(identifier, number, name)                         \
  HFTA_ABI_MIX(HFTA_DATA_FIELD_##identifier)
#define HFTA_CSV_HEADER(identifier, number, name)                              \
  HFTA_ABI_MIX(HFTA_CSV_HEADER_##identifier)
#define HFTA_CSV_SEPARATOR(identifier, number, name, character)                \
  HFTA_ABI_MIX(HFTA_CSV_SEPARATOR_##identifier)
#define HFTA_IMAGE_RESIZE(identifier, number, name)                            \
  HFTA_ABI_MIX(HFTA_IMAGE_RESIZE_##identifier)
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  HFTA_ABI_MIX(HFTA_TRAINING_##identifier)
#define HFTA_SAMPLER_KIND(identifier, number, name)                            \
  HFTA_ABI_MIX(HFTA_SAMPLER_##identifier)
#define HFTA_RULE_KIND(identifier, number, name)                               \
  HFTA_ABI_MIX(HFTA_RULE_##identifier)
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  HFTA_ABI_MIX(HFTA_COMMAND_##identifier)
#define HFTA_ABI_HASH_LIST(name, list)                                         \
  static inline uint32_t name##_hash(void) {                                   \
    uint32_t hash = HFTA_ABI_START;                                            \
    list return hash;                                                          \
  }
#define HFTA_ABI_LISTS(LIST)                                                   \
  LIST(hfta_abi_constants, HFTA_ABI_CONSTANTS(HFTA_ABI_MIX))                   \
  LIST(hfta_abi_number_schedules, HFTA_NUMBER_SCHEDULES)                       \
  LIST(hfta_abi_schedule_options, HFTA_SCHEDULE_OPTIONS)                       \
  LIST(hfta_abi_data_formats, HFTA_DATA_FORMATS)                               \
  LIST(hfta_abi_field_kinds, HFTA_DATA_FIELD_KINDS)                            \
  LIST(hfta_abi_csv_headers, HFTA_CSV_HEADERS)                                 \
  LIST(hfta_abi_csv_separators, HFTA_CSV_SEPARATORS)                           \
  LIST(hfta_abi_image_resizes, HFTA_IMAGE_RESIZES)                             \
  LIST(hfta_abi_training_rules, HFTA_TRAINING_RULES)                           \
  LIST(hfta_abi_commands, HFTA_COMMANDS)                                       \
  LIST(hfta_abi_sampler_kinds, HFTA_SAMPLER_KINDS)                             \
  LIST(hfta_abi_rule_kinds, HFTA_RULE_KINDS)
HFTA_ABI_LISTS(HFTA_ABI_HASH_LIST)
#undef HFTA_ABI_HASH_LIST
#undef HFTA_COMMAND
#undef HFTA_RULE_KIND
#undef HFTA_SAMPLER_KIND
#undef HFTA_TRAINING_RULE
#undef HFTA_IMAGE_RESIZE
#undef HFTA_CSV_SEPARATOR
#undef HFTA_CSV_HEADER
#undef HFTA_DATA_FIELD_KIND
#undef HFTA_DATA_FORMAT
#undef HFTA_SCHEDULE_OPTION
#undef HFTA_NUMBER_SCHEDULE
#undef HFTA_ABI_MIX

/// Returns the version of the ABI: the hash of all lists' hashes.
static inline uint32_t hfta_abi_version(void) {
  uint32_t hash = HFTA_ABI_START + HFTA_ABI_REVISION;
#define HFTA_ABI_MIX(name, list)                                               \
  hash = hfta_abi_mix(hash, "", name##_hash(), 0);
  HFTA_ABI_STRUCTS(HFTA_ABI_MIX)
  HFTA_ABI_ENUMS(HFTA_ABI_MIX)
  HFTA_ABI_LISTS(HFTA_ABI_MIX)
#undef HFTA_ABI_MIX
  return hash;
}

#endif // HFTA_ABI_H
