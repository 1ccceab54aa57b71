//===- hyper_parameters.c - The numbers of an instance's copies -----------===//

#include "instance/hyper_parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Returns the seed that the program has for a copy.
static int64_t read_seed(const hfta_program *program, size_t copy) {
  int64_t seed = 0;
  if (program->roles.seed == UINT32_MAX)
    return seed;
  const hfta_tensor *tensor = &program->tensors[program->roles.seed];
  const char *image = program->segments[tensor->segment].image;
  if (image)
    memcpy(&seed, image + tensor->offset + tensor->copy_stride * copy,
           sizeof(seed));
  return seed;
}

hfta_status hfta_instance_copy_hyper_parameters(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  size_t copies = (size_t)program->copies;
  instance->hyper_parameters =
      calloc(copies * program->hyper_parameter_count + 1, sizeof(double));
  instance->seeds = calloc(copies, sizeof(*instance->seeds));
  instance->horizons = calloc(copies, sizeof(*instance->horizons));
  size_t factors = copies * (1 + program->scheduled_number_count);
  instance->schedule_factors =
      malloc(factors * sizeof(*instance->schedule_factors));
  if (!instance->hyper_parameters || !instance->seeds || !instance->horizons ||
      !instance->schedule_factors)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  for (size_t i = 0; i < factors; ++i)
    instance->schedule_factors[i] = 1.0;
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    memcpy(instance->hyper_parameters + copies * i,
           program->hyper_parameters[i].values, copies * sizeof(double));
  for (size_t copy = 0; copy < copies; ++copy)
    instance->seeds[copy] = read_seed(program, copy);
  return HFTA_OK;
}

const double *hfta_instance_hyper_values(const hfta_instance *instance,
                                         uint32_t index) {
  return instance->hyper_parameters + (size_t)instance->program->copies * index;
}

const char *hfta_hyper_name(const hfta_program *program, uint32_t index) {
  return index < program->hyper_parameter_count
             ? program->hyper_parameters[index].name
             : "seed";
}

uint32_t hfta_hyper_count(const hfta_program *program) {
  uint32_t count = program->hyper_parameter_count;
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(program->hyper_parameters[i].name, "seed") == 0)
      return count;
  return count + (program->roles.seed == UINT32_MAX ? 0 : 1);
}

uint32_t hfta_hyper_find(const hfta_program *program, const char *name) {
  uint32_t count = hfta_hyper_count(program);
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(hfta_hyper_name(program, i), name) == 0)
      return i;
  return UINT32_MAX;
}

double hfta_instance_hyper_parameter(const hfta_instance *instance,
                                     int64_t copy, const char *name) {
  const hfta_program *program = instance->program;
  uint32_t index = hfta_hyper_find(program, name);
  if (index == UINT32_MAX || copy < 0 || copy >= program->copies)
    return NAN;
  if (index < program->hyper_parameter_count)
    return hfta_instance_hyper_values(instance, index)[copy];
  double seed = (double)instance->seeds[copy];
  return fabs(seed) < 0x1p53 ? seed : NAN;
}

double hfta_instance_schedule_factor(const hfta_instance *instance,
                                     uint32_t number, int64_t copy) {
  return instance
      ->schedule_factors[(size_t)instance->program->copies * number + copy];
}

int64_t hfta_instance_horizon(const hfta_instance *instance, int64_t copy) {
  int64_t own = instance->horizons[copy];
  return own ? own : instance->total_steps;
}
