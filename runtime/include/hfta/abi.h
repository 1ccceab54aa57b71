//===- abi.h - The layout of what programs and the runtime share *- C++ -*-===//
//
// The structs of program.h, member by member. The compiler and the runtime each
// assert at compile time that the lists are complete, in order and without
// padding, and the ABI's version follows from them: a program is refused by a
// runtime that has other structs.
//===----------------------------------------------------------------------===//

#ifndef HFTA_ABI_H
#define HFTA_ABI_H

#include "hfta/program.h"

#ifdef __cplusplus
#define HFTA_ABI_ASSERT static_assert
#else
#define HFTA_ABI_ASSERT _Static_assert
#endif

/// Raised where a member's meaning changes but no name, size or offset.
#define HFTA_ABI_REVISION 1u

#define HFTA_ABI_SEGMENT(M, s)                                                 \
  M(s, name)                                                                   \
  M(s, role)                                                                   \
  M(s, block)                                                                  \
  M(s, bytes)                                                                  \
  M(s, copy_bytes)                                                             \
  M(s, alignment) M(s, instances) M(s, reserved) M(s, image)
#define HFTA_ABI_TENSOR(M, s)                                                  \
  M(s, name)                                                                   \
  M(s, segment)                                                                \
  M(s, type)                                                                   \
  M(s, offset)                                                                 \
  M(s, copy_stride)                                                            \
  M(s, shape)                                                                  \
  M(s, rank) M(s, flags) M(s, bytes) M(s, copy) M(s, training_rule)
#define HFTA_ABI_BINDING(M, s)                                                 \
  M(s, segment) M(s, in_slabs) M(s, offset) M(s, copy_stride)
#define HFTA_ABI_LAUNCH(M, s)                                                  \
  M(s, kernel)                                                                 \
  M(s, name)                                                                   \
  M(s, bindings)                                                               \
  M(s, binding_count)                                                          \
  M(s, per_copy) M(s, copy) M(s, joins) M(s, items) M(s, scratch_bytes)
#define HFTA_ABI_TASK(M, s)                                                    \
  M(s, name)                                                                   \
  M(s, launches)                                                               \
  M(s, reads)                                                                  \
  M(s, writes)                                                                 \
  M(s, launch_count) M(s, read_count) M(s, write_count) M(s, flags)
#define HFTA_ABI_PLACE(M, s)                                                   \
  M(s, space) M(s, index) M(s, offset) M(s, copy_stride)
#define HFTA_ABI_COMMAND(M, s)                                                 \
  M(s, kind)                                                                   \
  M(s, device)                                                                 \
  M(s, queue)                                                                  \
  M(s, subject)                                                                \
  M(s, length) M(s, ahead) M(s, to) M(s, from) M(s, bytes)
#define HFTA_ABI_SCHEDULE(M, s)                                                \
  M(s, name) M(s, commands) M(s, keeps) M(s, command_count) M(s, keep_count)
#define HFTA_ABI_SETTING(M, s)                                                 \
  M(s, name) M(s, type) M(s, reserved) M(s, value) M(s, values)
#define HFTA_ABI_HYPER_PARAMETER(M, s) M(s, name) M(s, values)
#define HFTA_ABI_LEARNING_RATE(M, s)                                           \
  M(s, kind)                                                                   \
  M(s, reserved) M(s, warmup) M(s, step_size) M(s, gamma) M(s, minimum)
#define HFTA_ABI_DATA_SOURCE(M, s) M(s, format) M(s, column) M(s, path)
#define HFTA_ABI_DATA_FIELD(M, s)                                              \
  M(s, name)                                                                   \
  M(s, tensor)                                                                 \
  M(s, reserved)                                                               \
  M(s, train) M(s, test) M(s, classes) M(s, first_class) M(s, ignored_class)
#define HFTA_ABI_PORT(M, s)                                                    \
  M(s, name) M(s, tensor) M(s, reserved) M(s, model_name)
#define HFTA_ABI_ROLES(M, s)                                                   \
  M(s, step)                                                                   \
  M(s, micro_batch)                                                            \
  M(s, valid_samples)                                                          \
  M(s, learning_rate)                                                          \
  M(s, seed)                                                                   \
  M(s, loss)                                                                   \
  M(s, loss_sum) M(s, loss_weight) M(s, metric_sum) M(s, reserved)
#define HFTA_ABI_EXPORT_TEMPLATE(M, s)                                         \
  M(s, header) M(s, header_bytes) M(s, graph) M(s, graph_bytes)
#define HFTA_ABI_MODEL(M, s)                                                   \
  M(s, identity) M(s, identity_of_batch) M(s, export_template)
#define HFTA_ABI_PROGRAM(M, s)                                                 \
  M(s, abi_version)                                                            \
  M(s, reserved)                                                               \
  M(s, name)                                                                   \
  M(s, optimizer)                                                              \
  M(s, metric)                                                                 \
  M(s, cpu_features)                                                           \
  M(s, plan_json)                                                              \
  M(s, copies)                                                                 \
  M(s, batch)                                                                  \
  M(s, micro_batches)                                                          \
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
  M(s, hyper_parameters)                                                       \
  M(s, data_fields)                                                            \
  M(s, inputs)                                                                 \
  M(s, outputs)                                                                \
  M(s, settings)                                                               \
  M(s, segment_count)                                                          \
  M(s, tensor_count)                                                           \
  M(s, task_count)                                                             \
  M(s, schedule_count)                                                         \
  M(s, event_count)                                                            \
  M(s, queue_count)                                                            \
  M(s, hyper_parameter_count)                                                  \
  M(s, data_field_count)                                                       \
  M(s, input_count)                                                            \
  M(s, output_count)                                                           \
  M(s, setting_count)                                                          \
  M(s, copy_threads)                                                           \
  M(s, roles) M(s, models) M(s, model_of_copy)

/// STRUCT(struct, list of its members)
#define HFTA_ABI_STRUCTS(STRUCT)                                               \
  STRUCT(hfta_segment, HFTA_ABI_SEGMENT)                                       \
  STRUCT(hfta_tensor, HFTA_ABI_TENSOR)                                         \
  STRUCT(hfta_binding, HFTA_ABI_BINDING)                                       \
  STRUCT(hfta_launch, HFTA_ABI_LAUNCH)                                         \
  STRUCT(hfta_task, HFTA_ABI_TASK)                                             \
  STRUCT(hfta_place, HFTA_ABI_PLACE)                                           \
  STRUCT(hfta_command, HFTA_ABI_COMMAND)                                       \
  STRUCT(hfta_schedule, HFTA_ABI_SCHEDULE)                                     \
  STRUCT(hfta_setting, HFTA_ABI_SETTING)                                       \
  STRUCT(hfta_hyper_parameter, HFTA_ABI_HYPER_PARAMETER)                       \
  STRUCT(hfta_learning_rate, HFTA_ABI_LEARNING_RATE)                           \
  STRUCT(hfta_data_source, HFTA_ABI_DATA_SOURCE)                               \
  STRUCT(hfta_data_field, HFTA_ABI_DATA_FIELD)                                 \
  STRUCT(hfta_port, HFTA_ABI_PORT)                                             \
  STRUCT(hfta_roles, HFTA_ABI_ROLES)                                           \
  STRUCT(hfta_export_template, HFTA_ABI_EXPORT_TEMPLATE)                       \
  STRUCT(hfta_model, HFTA_ABI_MODEL)                                           \
  STRUCT(hfta_program, HFTA_ABI_PROGRAM)

// A struct of bytes has no padding: where the list says that a member lies.
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

/// FNV-1a over a member's name, offset and size.
static inline uint32_t hfta_abi_mix(uint32_t hash, const char *name,
                                    size_t offset, size_t size) {
  for (; *name; ++name)
    hash = (hash ^ (uint8_t)*name) * 16777619u;
  hash = (hash ^ (uint32_t)offset) * 16777619u;
  return (hash ^ (uint32_t)size) * 16777619u;
}

/// The version of the ABI, of all structs.
static inline uint32_t hfta_abi_version(void) {
  uint32_t hash = 2166136261u + HFTA_ABI_REVISION;
#define HFTA_ABI_MIX(s, m)                                                     \
  hash = hfta_abi_mix(hash, #s "." #m, offsetof(s, m), sizeof(((s *)0)->m));
#define HFTA_ABI_MIX_STRUCT(s, list) list(HFTA_ABI_MIX, s)
  HFTA_ABI_STRUCTS(HFTA_ABI_MIX_STRUCT)
#undef HFTA_ABI_MIX_STRUCT
#undef HFTA_ABI_MIX
  return hash;
}

#endif // HFTA_ABI_H
