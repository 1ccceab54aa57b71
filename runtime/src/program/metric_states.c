//===- metric_states.c - The metrics of an evaluation ---------------------===//

#include "program/metric_states.h"

#include <stdlib.h>

hfta_status hfta_metric_states_open(hfta_metric_states *self,
                                    const hfta_program *program,
                                    hfta_error *error) {
  size_t copies = (size_t)program->copies, metrics = program->metric_count;
  size_t sums = 0;
  for (uint32_t i = 0; i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    int64_t values = program->batch *
                     (2 * metric->elements + hfta_metric_guess_count(metric));
    if (values > self->value_count)
      self->value_count = values;
    sums += (size_t)hfta_metric_sum_count(metric);
  }
  self->all = calloc(metrics * copies + 1, sizeof(*self->all));
  self->sums = calloc(sums * copies + 1, sizeof(double));
  self->values = calloc((size_t)self->value_count + 1, sizeof(double));
  if (!self->all || !self->sums || !self->values)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the metrics of %zu copies", copies);
  double *next = self->sums;
  for (size_t i = 0; i < metrics * copies; ++i) {
    self->all[i].sums = next;
    next += hfta_metric_sum_count(&program->metrics[i % metrics]);
  }
  return HFTA_OK;
}

void hfta_metric_states_close(hfta_metric_states *self,
                              const hfta_program *program) {
  size_t count = (size_t)program->copies * program->metric_count;
  for (size_t i = 0; self->all && i < count; ++i)
    free(self->all[i].records);
  free(self->all);
  free(self->sums);
  free(self->values);
  *self = (hfta_metric_states){0};
}

hfta_metric_state *hfta_metric_state_of(const hfta_metric_states *self,
                                        const hfta_program *program,
                                        int64_t copy, uint32_t metric) {
  return &self->all[copy * program->metric_count + metric];
}

void hfta_metric_states_clear(hfta_metric_states *self,
                              const hfta_program *program) {
  for (int64_t copy = 0; copy < program->copies; ++copy)
    for (uint32_t i = 0; i < program->metric_count; ++i)
      hfta_metric_clear(&program->metrics[i],
                        hfta_metric_state_of(self, program, copy, i));
}
