//===- evaluate.c - Evaluation over a data set ----------------------------===//

#include "training/evaluate.h"

#include "data/feed.h"
#include "hfta/trainer.h"
#include "instance/instance_impl.h"
#include "schedule/evaluation_metrics.h"
#include "training/team.h"
#include "workload/whole_batches.h"

#include <stdlib.h>
#include <string.h>

double *hfta_allocate_losses(const hfta_program *program) {
  return calloc((size_t)program->copies * (1 + program->loss_term_count),
                sizeof(double));
}

double *hfta_allocate_metrics(const hfta_program *program) {
  return calloc((size_t)hfta_program_metric_values(program) + 1,
                sizeof(double));
}

void hfta_take_details(const hfta_instance *instance, double *losses,
                       double *metrics) {
  const hfta_program *program = instance->program;
  for (uint32_t i = 0; metrics && i < program->metric_count; ++i) {
    const double *matrix = hfta_program_metric_matrix(program, metrics, i);
    size_t count = (size_t)hfta_metric_sum_count(&program->metrics[i]);
    for (int64_t copy = 0; matrix && copy < program->copies; ++copy)
      memcpy(metrics + (matrix - metrics) + (size_t)copy * count,
             hfta_instance_metric_matrix(instance, copy, i),
             sizeof(double) * count);
  }
  for (uint32_t term = 0; term < program->loss_term_count; ++term)
    for (int64_t copy = 0; copy < program->copies; ++copy)
      losses[(1 + term) * program->copies + copy] =
          hfta_instance_term_mean(instance, copy, term);
}

/// Evaluates all batches for the copies of the instance's current turn.
static hfta_status evaluate_turn(hfta_instance *instance,
                                 const hfta_dataset *dataset,
                                 bool (*should_stop)(void *), void *argument,
                                 bool *stopped) {
  hfta_error *error = hfta_instance_error(instance);
  hfta_feed *feed = NULL;
  hfta_instance_take_all_fields(instance);
  hfta_status status = hfta_feed_start_evaluation(
      dataset, hfta_instance_reads(instance), &feed, error);
  while (status == HFTA_OK && !*stopped) {
    const void *const *inputs;
    int64_t valid;
    status = hfta_feed_next(feed, &inputs, &valid, error);
    if (status != HFTA_OK || !inputs)
      break;
    hfta_feed_offer(feed, instance);
    status = hfta_instance_evaluate_add(instance, inputs, valid);
    *stopped = should_stop && should_stop(argument);
  }
  hfta_instance_offer(instance, NULL);
  hfta_feed_stop(feed);
  return status;
}

hfta_status hfta_evaluate_dataset(hfta_instance *instance,
                                  const hfta_dataset *dataset, double *losses,
                                  double *metrics, bool (*should_stop)(void *),
                                  void *argument, bool *stopped) {
  *stopped = false;
  int64_t turns = hfta_instance_turn_count(instance);
  hfta_status status = hfta_instance_evaluate_begin(instance);
  if (status == HFTA_OK)
    status = hfta_instance_reserve_metrics(instance, dataset->samples);
  for (int64_t i = 0; i < turns && status == HFTA_OK && !*stopped; ++i) {
    instance->turn = i;
    status = evaluate_turn(instance, dataset, should_stop, argument, stopped);
  }
  instance->turn = 0;
  if (status == HFTA_OK && !*stopped)
    status = hfta_instance_evaluate_end(instance, losses, metrics);
  return status;
}

hfta_status hfta_check_evaluated(const hfta_dataset *dataset,
                                 hfta_error *error) {
  const hfta_program *program = dataset->program;
  return hfta_check_whole_batches(program->loss_mixed_by,
                                  hfta_split_name(dataset->split),
                                  dataset->samples, program->batch, error);
}

/// Evaluates a data set after its checks.
static hfta_status check_and_evaluate(hfta_instance *instance,
                                      const hfta_dataset *dataset,
                                      double *losses, double *metrics) {
  hfta_error *error = hfta_instance_error(instance);
  bool stopped;
  hfta_status status = hfta_check_evaluated(dataset, error);
  if (status == HFTA_OK)
    status = hfta_compare_samples(hfta_instance_communicator(instance), dataset,
                                  error);
  return status == HFTA_OK
             ? hfta_evaluate_dataset(instance, dataset, losses, metrics, NULL,
                                     NULL, &stopped)
             : status;
}

hfta_status hfta_evaluate_all(hfta_instance *instance, const char *data_root,
                              double *losses, double *metrics) {
  const hfta_program *program = hfta_instance_program(instance);
  hfta_error *error = hfta_instance_error(instance);
  if (!hfta_dataset_exists(program, HFTA_SPLIT_TEST))
    return hfta_fail(error, HFTA_USAGE, "'%s' was compiled without test data",
                     program->name);
  hfta_dataset dataset;
  hfta_status status =
      hfta_dataset_open(program, HFTA_SPLIT_TEST, data_root, &dataset, error);
  if (status == HFTA_OK)
    status = check_and_evaluate(instance, &dataset, losses, metrics);
  hfta_dataset_close(&dataset);
  return status;
}

hfta_status hfta_evaluate_fold(hfta_instance *instance, const char *data_root,
                               int64_t fold, double *losses, double *metrics) {
  hfta_training_data data;
  hfta_status status =
      hfta_training_data_open(hfta_instance_program(instance), data_root, fold,
                              &data, hfta_instance_error(instance));
  if (status == HFTA_OK)
    status = check_and_evaluate(instance, &data.validation, losses, metrics);
  hfta_training_data_close(&data);
  return status;
}

hfta_status hfta_evaluate_validation(hfta_instance *instance,
                                     const char *data_root, double *losses,
                                     double *metrics) {
  const hfta_program *program = hfta_instance_program(instance);
  hfta_error *error = hfta_instance_error(instance);
  if (!hfta_program_validates(program))
    return hfta_fail(error, HFTA_USAGE,
                     "'%s' was compiled without validation data",
                     program->name);
  hfta_status status = hfta_refuse_folds(program, error);
  return status == HFTA_OK
             ? hfta_evaluate_fold(instance, data_root, 0, losses, metrics)
             : status;
}

hfta_status hfta_refuse_folds(const hfta_program *program, hfta_error *error) {
  if (program->validation.folds <= 0)
    return HFTA_OK;
  return hfta_fail(error, HFTA_USAGE,
                   "'%s' divides its training data into %lld folds, for which "
                   "only a search trains and evaluates models",
                   program->name, (long long)program->validation.folds);
}
