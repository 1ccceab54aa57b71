//===- evaluation_metrics.c - An instance's metrics -----------------------===//

#include "schedule/evaluation_metrics.h"

#include "instance/instance_impl.h"
#include "instance/parts.h"

#include <string.h>

hfta_status hfta_instance_reserve_metrics(hfta_instance *instance,
                                          int64_t samples) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < instance->live_count; ++i)
    for (uint32_t j = 0; j < program->metric_count && status == HFTA_OK; ++j)
      status =
          hfta_metric_reserve(&program->metrics[j],
                              hfta_metric_state_of(&instance->metrics, program,
                                                   instance->live[i], j),
                              samples, &instance->error);
  return status;
}

/// Reads the first `count` elements of a copy's tensor, if this rank has it.
static void read_column(const hfta_instance *instance, uint32_t tensor,
                        int64_t copy, int64_t count, double *out) {
  const hfta_tensor *entry = &instance->program->tensors[tensor];
  const hfta_worker *worker =
      hfta_instance_find_worker(instance, entry->segment);
  const char *from = worker ? hfta_worker_image(worker, tensor, copy, 0) : NULL;
  if (from && entry->type == HFTA_F64)
    memcpy(out, from, sizeof(double) * (size_t)count);
  for (int64_t i = 0; from && entry->type == HFTA_F32 && i < count; ++i) {
    float single;
    memcpy(&single, from + sizeof(float) * (size_t)i, sizeof(single));
    out[i] = (double)single;
  }
}

int64_t hfta_instance_read_metric(hfta_instance *instance, int64_t copy,
                                  uint32_t metric, int64_t samples,
                                  hfta_metric_columns *columns) {
  const hfta_metric *own = &instance->program->metrics[metric];
  int64_t elements = samples * own->elements;
  int64_t guesses = samples * hfta_metric_guess_count(own);
  double *values = instance->metrics.values;
  *columns =
      (hfta_metric_columns){values, values + 2 * elements, values + elements};
  read_column(instance, own->labels, copy, elements, values);
  read_column(instance, own->weights, copy, elements, values + elements);
  if (guesses > 0)
    read_column(instance, own->guesses, copy, guesses, values + 2 * elements);
  return 2 * elements + guesses;
}

hfta_status hfta_instance_get_metrics(hfta_instance *instance,
                                      double *metrics) {
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->metric_count; ++i)
    for (int64_t copy = 0; copy < program->copies && status == HFTA_OK; ++copy)
      status = hfta_metric_value(
          &program->metrics[i],
          hfta_metric_state_of(&instance->metrics, program, copy, i),
          &metrics[i * program->copies + copy], &instance->error);
  return status;
}

const double *hfta_instance_metric_matrix(const hfta_instance *instance,
                                          int64_t copy, uint32_t metric) {
  return hfta_metric_state_of(&hfta_instance_part_of(instance, copy)->metrics,
                              instance->program, copy, metric)
      ->sums;
}
