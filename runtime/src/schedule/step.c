//===- step.c - Steps, evaluations and inferences -------------------------===//

#include "schedule/step.h"

#include "communicator/tags.h"
#include "hfta/number_schedule.h"
#include "instance/hyper_parameters.h"
#include "instance/parts.h"
#include "schedule/evaluation_metrics.h"
#include "workload/whole_batches.h"

#include <math.h>
#include <string.h>

static hfta_status run_schedule(hfta_instance *instance, const char *name,
                                const void *const *inputs) {
  hfta_schedule_call call = {.name = name,
                             .inputs = inputs,
                             .micro_batches = instance->program->micro_batches};
  return hfta_instance_run_turns(instance, &call);
}

/// Shares results that the host has read. With several stages, only the workers
/// of the last block's stage have all results; the rank of one of them
/// broadcasts them to all ranks.
static hfta_status share_results(hfta_instance *instance, double *results,
                                 int64_t count) {
  const hfta_program *program = instance->program;
  hfta_communicator *ranks = instance->communicator;
  if (!instance->group || ranks->size == 1 || count == 0)
    return HFTA_OK;
  uint32_t segment = program->tensors[program->roles.loss].segment;
  int64_t last = hfta_first_worker(program, program->segments[segment].stage);
  hfta_label label = {"results", -1, HFTA_TAG_RESULTS};
  hfta_posted *posted;
  hfta_status status = hfta_communicator_post_broadcast(
      ranks, &label, hfta_rank_of_worker(program, ranks->size, last), results,
      sizeof(double) * (uint64_t)count, &posted, &instance->error);
  return status == HFTA_OK
             ? hfta_communicator_wait(ranks, posted, &instance->error)
             : status;
}

/// Reads a schedule's results from the host's images into `instance->results`:
/// for each live copy the values of `count` roles.
static hfta_status get_results(hfta_instance *instance, const uint32_t *roles,
                               int64_t count) {
  for (int64_t i = 0; i < instance->live_count; ++i)
    for (int64_t j = 0; j < count; ++j)
      instance->results[count * instance->live[i] + j] =
          hfta_instance_get_real(instance, roles[j], instance->live[i]);
  return share_results(instance, instance->results,
                       count * instance->program->copies);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

static hfta_status check_trains(hfta_instance *instance) {
  if (hfta_program_trains(instance->program))
    return HFTA_OK;
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "'%s' was compiled for inference only: the job had no loss",
                   instance->program->name);
}

hfta_status hfta_instance_learning_rate(hfta_instance *instance, int64_t copy,
                                        double *out) {
  const hfta_program *program = instance->program;
  *out = instance->forced_rates[copy];
  if (!isnan(*out))
    return HFTA_OK;
  int64_t horizon = hfta_instance_horizon(instance, copy);
  if (hfta_number_schedule_needs_total(&program->learning_rate) && horizon <= 0)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "a %s schedule needs the number of steps: set "
                     "hfta_options.total_steps, or a horizon of each copy",
                     hfta_number_schedule_name(program->learning_rate.kind));
  double rate = hfta_instance_hyper_parameter(instance, copy, "lr");
  *out = hfta_number_schedule_at(
      &program->learning_rate, copy, isnan(rate) ? 0.0 : rate, instance->steps,
      horizon, hfta_instance_schedule_factor(instance, 0, copy));
  return HFTA_OK;
}

hfta_status hfta_instance_set_learning_rate(hfta_instance *instance,
                                            int64_t copy, double rate) {
  if (copy < 0 || copy >= instance->program->copies)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "copy %lld: there are copies 0 to %lld", (long long)copy,
                     (long long)instance->program->copies - 1);
  instance->forced_rates[copy] = rate;
  return HFTA_OK;
}

double hfta_instance_scheduled_number(const hfta_instance *instance,
                                      uint32_t row, int64_t copy) {
  const hfta_program *program = instance->program;
  if (row >= program->scheduled_number_count)
    return NAN;
  const hfta_scheduled_number *number = &program->scheduled_numbers[row];
  double first =
      hfta_instance_hyper_values(instance, number->hyper_parameter)[copy];
  return hfta_number_schedule_at(
      &number->schedule, copy, first, instance->steps,
      hfta_instance_horizon(instance, copy),
      hfta_instance_schedule_factor(instance, row + 1, copy));
}

/// Writes numbers of the live copies that follow schedules, but for the
/// learning rates, to the host's images.
static hfta_status set_scheduled_numbers(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  for (uint32_t row = 0; row < program->scheduled_number_count; ++row) {
    const hfta_scheduled_number *number = &program->scheduled_numbers[row];
    bool needs_horizon = hfta_number_schedule_needs_total(&number->schedule);
    for (int64_t i = 0; i < instance->live_count; ++i) {
      int64_t copy = instance->live[i];
      if (needs_horizon && hfta_instance_horizon(instance, copy) <= 0)
        return hfta_fail(
            &instance->error, HFTA_USAGE,
            "a %s schedule of the %s needs the number of steps: set "
            "hfta_options.total_steps, or a horizon of each copy",
            hfta_number_schedule_name(number->schedule.kind),
            hfta_hyper_name(program, number->hyper_parameter));
      hfta_instance_set_real(
          instance, number->tensor, copy,
          hfta_instance_scheduled_number(instance, row, copy));
    }
  }
  return HFTA_OK;
}

/// Writes the numbers to which schedules are applied to the host's images.
/// Evaluations use these, so that results of different steps can be compared.
static void reset_scheduled_numbers(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  for (uint32_t row = 0; row < program->scheduled_number_count; ++row) {
    const hfta_scheduled_number *number = &program->scheduled_numbers[row];
    const double *values =
        hfta_instance_hyper_values(instance, number->hyper_parameter);
    for (int64_t copy = 0; copy < program->copies; ++copy)
      hfta_instance_set_real(instance, number->tensor, copy, values[copy]);
  }
}

hfta_status hfta_instance_spoil_gradients(hfta_instance *instance,
                                          hfta_status status) {
  instance->has_remains = true;
  instance->has_gradients = false;
  instance->accumulations = 0;
  return status;
}

/// Clears the gradients of the instance itself, but not of its parts.
static hfta_status clear_own_gradients(hfta_instance *instance) {
  hfta_instance_spoil_gradients(instance, HFTA_OK);
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    hfta_worker *worker = &instance->workers[i];
    hfta_status status = hfta_instance_note(
        instance, worker, hfta_worker_clear_gradients(worker));
    if (status != HFTA_OK)
      return status;
  }
  instance->has_remains = false;
  return HFTA_OK;
}

hfta_status hfta_instance_clear_gradients(hfta_instance *instance) {
  hfta_status status = HFTA_OK;
  for (uint32_t i = 1; i < instance->part_count && status == HFTA_OK; ++i)
    status = hfta_instance_note_part(instance, instance->parts[i],
                                     clear_own_gradients(instance->parts[i]));
  return status == HFTA_OK ? clear_own_gradients(instance) : status;
}

hfta_status hfta_instance_set_scalars(hfta_instance *instance, bool updates) {
  const hfta_program *program = instance->program;
  hfta_status status = check_trains(instance);
  if (status == HFTA_OK && instance->has_remains)
    status = clear_own_gradients(instance);
  for (int64_t i = 0; updates && i < instance->live_count && status == HFTA_OK;
       ++i) {
    int64_t copy = instance->live[i];
    double rate;
    status = hfta_instance_learning_rate(instance, copy, &rate);
    if (status == HFTA_OK)
      hfta_instance_set_real(instance, program->roles.learning_rate, copy,
                             rate);
  }
  if (status == HFTA_OK)
    status = set_scheduled_numbers(instance);
  if (status == HFTA_OK)
    hfta_instance_set_integer(instance, program->roles.step, 0, 0,
                              instance->steps);
  if (status == HFTA_OK && program->roles.accumulations != UINT32_MAX)
    hfta_instance_set_integer(
        instance, program->roles.accumulations, 0, 0,
        instance->accumulations > 0 ? instance->accumulations : 1);
  return status;
}

/// Withdraws the offered batch: after a failure nobody may read the caller's
/// memory. Returns `status`.
static hfta_status withdraw_offer(hfta_instance *instance, hfta_status status) {
  hfta_instance_offer(instance, NULL);
  return status;
}

/// The results of a step for each copy: its loss, then those values of
/// hfta_update_report that the program has, then the terms of the loss.
typedef struct step_results {
  int64_t reported; ///< number of the loss and the values of the report
  int64_t count;
  size_t members[HFTA_RESULTS]; ///< for each result but the loss, the offset of
                                ///< its member in hfta_update_report
} step_results;

/// Lists the results, and their tensors in `instance->result_tensors`.
static step_results list_results(const hfta_instance *instance, bool updates) {
  const hfta_program *program = instance->program;
  const hfta_roles *roles = &program->roles;
  uint32_t *tensors = instance->result_tensors;
  step_results results = {.count = 1};
  tensors[0] = roles->loss;
  // The members of hfta_roles and of hfta_update_report have the same names.
#define REPORTED(name)                                                         \
  if (updates && roles->name != UINT32_MAX) {                                  \
    tensors[results.count] = roles->name;                                      \
    results.members[results.count++] = offsetof(hfta_update_report, name);     \
  }
  REPORTED(kl_scale)
  REPORTED(skipped)
  REPORTED(retried)
  REPORTED(kept)
  REPORTED(loss_scale)
  REPORTED(skipped_steps)
#undef REPORTED
  results.reported = results.count;
  for (uint32_t i = 0; i < program->loss_term_count; ++i)
    tensors[results.count++] = program->loss_terms[i].loss;
  return results;
}

/// Returns whether updates leave a report.
static bool has_report(const hfta_instance *instance) {
  return list_results(instance, /*updates=*/true).reported > 1;
}

void hfta_instance_clear_losses(const hfta_instance *instance, double *losses) {
  for (int64_t copy = 0; losses && copy < instance->program->copies; ++copy)
    losses[copy] = NAN;
}

/// Reads the results of the copies of `call`, or of all live ones if `call` is
/// NULL or names no copies: losses (unless `losses` is NULL), and with
/// `updates` also reports. An accumulation leaves no report.
static hfta_status get_step(hfta_instance *instance,
                            const hfta_schedule_call *call, bool updates,
                            double *losses) {
  step_results results = list_results(instance, updates);
  hfta_status status =
      get_results(instance, instance->result_tensors, results.count);
  const int64_t terms = results.count - results.reported;
  bool is_part = call && call->copies;
  const int32_t *copies = is_part ? call->copies : instance->live;
  int64_t copy_count = is_part ? call->copy_count : instance->live_count;
  for (int64_t i = 0; i < copy_count; ++i) {
    int64_t copy = copies[i];
    const double *own = &instance->results[results.count * copy];
    if (losses)
      losses[copy] = own[0];
    char *report = (char *)&instance->reports[copy];
    for (int64_t j = 1; j < results.reported; ++j)
      memcpy(report + results.members[j], &own[j], sizeof(double));
    if (terms > 0)
      memcpy(&instance->term_losses[copy * terms], own + results.reported,
             sizeof(double) * (size_t)terms);
  }
  return status;
}

hfta_status hfta_instance_get_step(hfta_instance *instance, double *losses) {
  hfta_instance_clear_losses(instance, losses);
  return get_step(instance, /*call=*/NULL, /*updates=*/true, losses);
}

hfta_status hfta_instance_accumulate(hfta_instance *instance,
                                     const void *const *inputs,
                                     double *losses) {
  const hfta_program *program = instance->program;
  if (!hfta_program_find_schedule(program, "accumulate"))
    return withdraw_offer(
        instance,
        hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                  program->device_bytes != 0
                      ? "'%s' was compiled for a budget of memory, in which "
                        "gradients don't outlive a step: steps can't be "
                        "accumulated"
                      : "the networks of '%s' take turns, between which are "
                        "updates: steps can't be accumulated",
                  program->name));
  hfta_status status = hfta_instance_set_scalars(instance, false);
  if (status != HFTA_OK)
    return withdraw_offer(instance, status);
  instance->has_gradients = true;
  status = run_schedule(instance, "accumulate",
                        hfta_made_inputs_add(instance, inputs));
  hfta_instance_clear_losses(instance, losses);
  if (status == HFTA_OK)
    status = get_step(instance, /*call=*/NULL, /*updates=*/false, losses);
  if (status != HFTA_OK)
    return hfta_instance_spoil_gradients(instance, status);
  ++instance->accumulations;
  return HFTA_OK;
}

hfta_update_report hfta_instance_report(const hfta_instance *instance,
                                        int64_t copy) {
  return hfta_instance_part_of(instance, copy)->reports[copy];
}

hfta_status hfta_instance_update(hfta_instance *instance) {
  hfta_status status = hfta_instance_set_scalars(instance, true);
  if (status != HFTA_OK)
    return status;
  status = run_schedule(instance, "update", NULL);
  if (status == HFTA_OK && has_report(instance))
    status = get_step(instance, /*call=*/NULL, /*updates=*/true, NULL);
  if (status != HFTA_OK)
    return hfta_instance_spoil_gradients(instance, status);
  instance->has_gradients = false;
  instance->accumulations = 0;
  ++instance->steps;
  return status;
}

hfta_status hfta_instance_run_step(hfta_instance *instance,
                                   const hfta_schedule_call *call,
                                   double *losses) {
  // Learning rates are set first: if one is missing, no gradients must be left
  // behind, to which the next step would add.
  hfta_status status = hfta_instance_set_scalars(instance, true);
  if (status != HFTA_OK)
    return withdraw_offer(instance, status);
  // Accumulated gradients are in each copy's own slab, but the schedule `step`
  // may share slabs between copies. So the schedules `accumulate` and `update`
  // run instead.
  if (instance->has_gradients) {
    status = hfta_instance_accumulate(instance, call->inputs, losses);
    return status == HFTA_OK ? hfta_instance_update(instance) : status;
  }
  status = hfta_instance_run(instance, call);
  if (status == HFTA_OK)
    status = get_step(instance, call, /*updates=*/true, losses);
  if (status != HFTA_OK)
    return hfta_instance_spoil_gradients(instance, status);
  ++instance->steps;
  return status;
}

//===----------------------------------------------------------------------===//
// Evaluation and inference
//===----------------------------------------------------------------------===//

/// Lists the tensors of an evaluation's sums in `instance->result_tensors`, and
/// returns their number: sums of losses and of their weights, then both for
/// each term of the loss.
static int64_t list_sums(const hfta_instance *instance) {
  const hfta_program *program = instance->program;
  uint32_t *tensors = instance->result_tensors;
  *tensors++ = program->roles.loss_sum;
  *tensors++ = program->roles.loss_weight;
  for (uint32_t i = 0; i < program->loss_term_count; ++i) {
    *tensors++ = program->loss_terms[i].loss_sum;
    *tensors++ = program->loss_terms[i].loss_weight;
  }
  return tensors - instance->result_tensors;
}

hfta_status hfta_instance_evaluate_begin(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  if (!hfta_program_evaluates(program))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' was compiled without evaluation: the job had no "
                     "loss",
                     program->name);
  memset(instance->sums, 0,
         sizeof(double) * (size_t)(list_sums(instance) * program->copies));
  hfta_metric_states_clear(&instance->metrics, program);
  reset_scheduled_numbers(instance);
  return HFTA_OK;
}

/// Adds the last batch's results to the sums of the evaluation, for the copies
/// of the current turn.
static hfta_status add_sums(hfta_instance *instance) {
  int64_t count = list_sums(instance);
  hfta_turn turn = hfta_instance_turn(instance);
  hfta_status status = get_results(instance, instance->result_tensors, count);
  for (int64_t i = 0; status == HFTA_OK && i < turn.copies; ++i)
    for (int64_t j = 0; j < count; ++j) {
      int64_t place = count * instance->live[turn.first + i] + j;
      instance->sums[place] += instance->results[place];
    }
  return status;
}

/// Adds the last batch's samples to the metrics of the copies of the current
/// turn.
static hfta_status add_to_metrics(hfta_instance *instance, int64_t samples) {
  const hfta_program *program = instance->program;
  hfta_turn turn = hfta_instance_turn(instance);
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < turn.copies; ++i)
    for (uint32_t j = 0; j < program->metric_count && status == HFTA_OK; ++j) {
      int64_t copy = instance->live[turn.first + i];
      hfta_metric_columns columns;
      int64_t count =
          hfta_instance_read_metric(instance, copy, j, samples, &columns);
      status = share_results(instance, instance->metrics.values, count);
      if (status == HFTA_OK)
        status = hfta_metric_add(
            &program->metrics[j],
            hfta_metric_state_of(&instance->metrics, program, copy, j),
            &columns, samples, &instance->error);
    }
  return status;
}

hfta_status hfta_instance_evaluate_add(hfta_instance *instance,
                                       const void *const *inputs,
                                       int64_t valid_samples) {
  const hfta_program *program = instance->program;
  if (valid_samples < 0 || valid_samples > program->batch)
    return withdraw_offer(instance,
                          hfta_fail(&instance->error, HFTA_USAGE,
                                    "%lld valid samples in a batch of %lld",
                                    (long long)valid_samples,
                                    (long long)program->batch));
  hfta_status status = hfta_check_whole_batches(
      program->loss_mixed_by, "the samples to evaluate", valid_samples,
      program->batch, &instance->error);
  if (status != HFTA_OK)
    return withdraw_offer(instance, status);
  int64_t size = hfta_program_micro_batch(program);
  hfta_schedule_call call = {.name = "evaluate",
                             .inputs = hfta_made_inputs_add(instance, inputs)};
  for (int64_t left = valid_samples; left > 0; left -= size)
    hfta_instance_set_integer(instance, program->roles.valid_samples, 0,
                              call.micro_batches++, left < size ? left : size);
  status = hfta_instance_run(instance, &call);
  if (status == HFTA_OK)
    status = add_sums(instance);
  return status == HFTA_OK ? add_to_metrics(instance, valid_samples) : status;
}

/// Returns the sum of the terms' means of one copy, each times its weight. A
/// term of weight 0 is left out, even if its mean isn't finite. `sums` has the
/// two sums of each term.
static double add_terms(const hfta_instance *instance, int64_t copy,
                        const double *sums) {
  const hfta_program *program = instance->program;
  double *means = &instance->term_means[copy * program->loss_term_count];
  double total = 0;
  for (uint32_t i = 0; i < program->loss_term_count; ++i) {
    uint32_t tensor = program->loss_terms[i].weight;
    double weight = tensor == UINT32_MAX
                        ? 1
                        : hfta_instance_get_real(instance, tensor, copy);
    means[i] = sums[2 * i] / sums[2 * i + 1];
    if (weight != 0)
      total += weight * means[i];
  }
  return total;
}

double hfta_instance_term_loss(const hfta_instance *instance, int64_t copy,
                               uint32_t term) {
  uint32_t terms = instance->program->loss_term_count;
  return hfta_instance_part_of(instance, copy)
      ->term_losses[copy * terms + term];
}

double hfta_instance_term_mean(const hfta_instance *instance, int64_t copy,
                               uint32_t term) {
  uint32_t terms = instance->program->loss_term_count;
  return hfta_instance_part_of(instance, copy)->term_means[copy * terms + term];
}

hfta_status hfta_instance_evaluate_end(hfta_instance *instance, double *losses,
                                       double *metrics) {
  const hfta_program *program = instance->program;
  const int64_t count = list_sums(instance);
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    const double *sums = &instance->sums[count * copy];
    double loss = program->loss_term_count > 0
                      ? add_terms(instance, copy, sums + 2)
                      : sums[0] / sums[1];
    if (losses)
      losses[copy] = loss;
  }
  return metrics ? hfta_instance_get_metrics(instance, metrics) : HFTA_OK;
}

hfta_status hfta_instance_evaluate(hfta_instance *instance,
                                   const void *const *inputs,
                                   int64_t valid_samples, double *losses,
                                   double *metrics) {
  hfta_status status = hfta_instance_evaluate_begin(instance);
  if (status == HFTA_OK)
    status = hfta_instance_evaluate_add(instance, inputs, valid_samples);
  if (status == HFTA_OK)
    status = hfta_instance_evaluate_end(instance, losses, metrics);
  return status;
}

hfta_status hfta_instance_infer(hfta_instance *instance,
                                const void *const *inputs) {
  const hfta_program *program = instance->program;
  if (!hfta_program_find_schedule(program, "infer"))
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' was compiled without inference", program->name);
  if (instance->group)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "'%s' has several stages: their workers infer nothing",
                     program->name);
  hfta_instance_set_integer(instance, program->roles.valid_samples, 0, 0,
                            hfta_program_micro_batch(program));
  return run_schedule(instance, "infer", inputs);
}
