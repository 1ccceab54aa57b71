//===- set_hyper_parameters.c - Changes of the numbers of copies ----------===//

#include "instance/hyper_parameters.h"
#include "instance/parts.h"
#include "program/command_records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Returns the scalar from which kernels read a hyper-parameter; UINT32_MAX if
/// the program has none.
static uint32_t find_scalar(const hfta_program *program, const char *name) {
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (program->segments[tensor->segment].role == HFTA_SEGMENT_SCALARS &&
        strcmp(tensor->name, name) == 0)
      return i;
  }
  return UINT32_MAX;
}

static bool is_seed(const hfta_program *program, uint32_t index) {
  return strcmp(hfta_hyper_name(program, index), "seed") == 0;
}

/// Writes a hyper-parameter of one copy to `scalar`, which find_scalar returns.
static void write_scalar(hfta_instance *instance, uint32_t index,
                         uint32_t scalar, int64_t copy) {
  const hfta_program *program = instance->program;
  bool is_own = index == program->hyper_parameter_count;
  double value =
      is_own ? 0.0 : hfta_instance_hyper_values(instance, index)[copy];
  if (is_seed(program, index))
    hfta_instance_set_integer(instance, program->roles.seed, copy, 0,
                              is_own ? instance->seeds[copy] : (int64_t)value);
  else
    hfta_instance_set_real(instance, scalar, copy, value);
}

void hfta_instance_write_hyper_parameters(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  uint32_t count = hfta_hyper_count(program);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t scalar = find_scalar(program, hfta_hyper_name(program, i));
    for (int64_t copy = 0; copy < program->copies; ++copy)
      write_scalar(instance, i, scalar, copy);
  }
}

/// Returns whether a kernel reads the tensor.
static bool is_read(const hfta_program *program, uint32_t tensor) {
  const hfta_tensor *row = &program->tensors[tensor];
  for (uint32_t i = 0; i < program->task_count; ++i)
    for (uint32_t j = 0; j < program->tasks[i].launch_count; ++j) {
      const hfta_launch *launch = &program->tasks[i].launches[j];
      for (uint32_t k = 0; k < launch->binding_count; ++k)
        if (launch->bindings[k].segment == row->segment &&
            launch->bindings[k].offset == row->offset)
          return true;
    }
  return false;
}

/// Returns whether a command takes a hyper-parameter as a number of steps.
static bool is_period(const hfta_program *program, uint32_t index) {
  for (uint32_t i = 0; i < program->schedule_count; ++i)
    for (uint32_t j = 0; j < program->schedules[i].command_count; ++j) {
      const hfta_command *command = &program->schedules[i].commands[j];
      if (hfta_command_has(command, HFTA_FIELD_PERIOD) &&
          command->subject == index)
        return true;
    }
  return false;
}

/// Returns whether anything depends on a hyper-parameter. The compiler leaves
/// code out that has no effect with the numbers of any copy, such as a dropout
/// whose rate is 0 in all of them.
static bool has_effect(const hfta_program *program, uint32_t index) {
  const char *name = hfta_hyper_name(program, index);
  uint32_t scalar = find_scalar(program, name);
  bool is_of_host = is_seed(program, index) || strcmp(name, "lr") == 0 ||
                    strcmp(name, "damping") == 0 || is_period(program, index);
  return is_of_host || (scalar != UINT32_MAX && is_read(program, scalar));
}

static hfta_status check_copy(hfta_instance *instance, int64_t copy) {
  if (copy >= 0 && copy < instance->program->copies)
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "copy %lld: there are copies 0 to %lld", (long long)copy,
                   (long long)instance->program->copies - 1);
}

static hfta_status fail_unknown(hfta_instance *instance, const char *name) {
  const hfta_program *program = instance->program;
  char names[256] = "none";
  size_t length = 0;
  for (uint32_t i = 0; i < hfta_hyper_count(program); ++i) {
    int more = snprintf(names + length, sizeof(names) - length, "%s%s",
                        i ? ", " : "", hfta_hyper_name(program, i));
    if (more < 0 || (size_t)more >= sizeof(names) - length)
      break;
    length += (size_t)more;
  }
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "'%s' has no hyper-parameter '%s', expected one of: %s",
                   program->name, name, names);
}

/// Checks what can be known about a number without the job's language: it is
/// finite, and whole where it is a seed or counts steps.
static hfta_status check_value(hfta_instance *instance, uint32_t index,
                               double value) {
  const hfta_program *program = instance->program;
  const char *name = hfta_hyper_name(program, index);
  bool counts = is_period(program, index);
  // Beyond this, neighbouring integers are the same double.
  bool is_whole = value == floor(value) && fabs(value) < 0x1p53;
  if (counts && !(is_whole && value >= 1))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' is a number of steps, expected a whole number of at "
                     "least 1, got %g",
                     name, value);
  if (is_seed(program, index) && !is_whole)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' must be a whole number, got %g", name, value);
  if (!isfinite(value))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' must be finite, got %g", name, value);
  if (!has_effect(program, index))
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "'%s' can't be changed: with the job's numbers it has no "
                     "effect in any copy, so the program has no code for it",
                     name);
  return HFTA_OK;
}

static void set_own(hfta_instance *instance, uint32_t index, int64_t copy,
                    double value) {
  const hfta_program *program = instance->program;
  if (index == program->hyper_parameter_count)
    instance->seeds[copy] = (int64_t)value;
  else
    instance->hyper_parameters[(size_t)program->copies * index + (size_t)copy] =
        value;
  write_scalar(instance, index,
               find_scalar(program, hfta_hyper_name(program, index)), copy);
}

hfta_status hfta_instance_set_hyper_parameter(hfta_instance *instance,
                                              int64_t copy, const char *name,
                                              double value) {
  uint32_t index = hfta_hyper_find(instance->program, name);
  hfta_status status = check_copy(instance, copy);
  if (status == HFTA_OK && index == UINT32_MAX)
    status = fail_unknown(instance, name);
  if (status == HFTA_OK)
    status = check_value(instance, index, value);
  if (status == HFTA_OK && !is_seed(instance->program, index) &&
      isnan(hfta_instance_hyper_values(instance, index)[copy]))
    status = hfta_fail(
        &instance->error, HFTA_USAGE,
        "copy %lld has no '%s': its optimizer is '%s'", (long long)copy, name,
        instance->program->optimizers ? instance->program->optimizers[copy]
                                      : instance->program->optimizer);
  if (status != HFTA_OK)
    return status;
  set_own(instance, index, copy, value);
  for (uint32_t i = 1; i < instance->part_count; ++i)
    set_own(instance->parts[i], index, copy, value);
  return HFTA_OK;
}

hfta_status hfta_instance_set_horizon(hfta_instance *instance, int64_t copy,
                                      int64_t steps) {
  hfta_status status = check_copy(instance, copy);
  if (status != HFTA_OK)
    return status;
  if (steps < 0)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "a schedule can't end after %lld steps", (long long)steps);
  instance->horizons[copy] = steps;
  for (uint32_t i = 1; i < instance->part_count; ++i)
    instance->parts[i]->horizons[copy] = steps;
  return HFTA_OK;
}

static void set_own_factor(hfta_instance *instance, uint32_t number,
                           int64_t copy, double factor) {
  instance->schedule_factors[(size_t)instance->program->copies * number +
                             (size_t)copy] = factor;
}

void hfta_instance_set_schedule_factor(hfta_instance *instance, uint32_t number,
                                       int64_t copy, double factor) {
  set_own_factor(instance, number, copy, factor);
  for (uint32_t i = 1; i < instance->part_count; ++i)
    set_own_factor(instance->parts[i], number, copy, factor);
}
