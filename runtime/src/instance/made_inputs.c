//===- made_inputs.c - Inputs that an instance adds to a batch ------------===//

#include "instance/made_inputs.h"

#include "instance/instance_impl.h"
#include "workload/made_fields.h"

#include <stdlib.h>
#include <string.h>

hfta_status hfta_made_inputs_open(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_made_inputs *self = &instance->made;
  if (program->made_field_count == 0)
    return HFTA_OK;
  uint32_t fields = hfta_program_field_count(program);
  self->inputs = calloc(fields, sizeof(void *));
  self->samples = calloc((size_t)program->batch, sizeof(*self->samples));
  bool complete = self->inputs && self->samples;
  for (uint32_t i = program->data_field_count; complete && i < fields; ++i) {
    const hfta_tensor *tensor =
        &program->tensors[program->data_fields[i].tensor];
    self->inputs[i] = malloc(tensor->bytes * (size_t)program->micro_batches);
    complete = self->inputs[i] != NULL;
  }
  return complete ? HFTA_OK
                  : hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                              "not enough memory for an instance");
}

void hfta_made_inputs_close(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  hfta_made_inputs *self = &instance->made;
  uint32_t fields = hfta_program_field_count(program);
  for (uint32_t i = program->data_field_count; self->inputs && i < fields; ++i)
    free((void *)(uintptr_t)self->inputs[i]);
  free(self->inputs);
  free(self->samples);
}

void hfta_instance_take_all_fields(hfta_instance *instance) {
  instance->made.are_given = true;
}

const void *const *hfta_made_inputs_add(hfta_instance *instance,
                                        const void *const *inputs) {
  const hfta_program *program = instance->program;
  hfta_made_inputs *self = &instance->made;
  if (!self->inputs || self->are_given)
    return inputs;
  // A step may be run as an accumulation, which completes the batch again.
  if (inputs != self->inputs)
    memcpy(self->inputs, inputs, sizeof(void *) * program->data_field_count);
  for (int64_t i = 0; i < program->batch; ++i)
    self->samples[i] = instance->accumulations * program->batch + i;
  uint32_t fields = hfta_program_field_count(program);
  for (uint32_t i = program->data_field_count; i < fields; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    void *out = (void *)(uintptr_t)self->inputs[i];
    if (field->kind == HFTA_DATA_FIELD_KEYS)
      hfta_write_keys(program, i, self->samples, instance->steps, out);
    else
      hfta_copy_partners(program, i, inputs[field->of], out);
  }
  return self->inputs;
}
