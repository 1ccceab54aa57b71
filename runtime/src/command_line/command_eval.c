//===- command_eval.c - The command eval ----------------------------------===//

#include "command_line/jobs.h"
#include "command_line/ranks.h"
#include "command_line/table.h"
#include "command_line/trials/search_commands.h"
#include "hfta/trainer.h"
#include "program/metric_values.h"
#include "progress/progress_text.h"
#include "training/copies_json.h"
#include "training/evaluate.h"

#include <stdlib.h>

/// Prints the results of a trial of a search, which is in the first copy.
static void print_trial(const hfta_program *program, int64_t trial,
                        bool validates, const double *losses,
                        const double *metrics) {
  const char *data = validates ? "validation" : "test";
  char buffer[32];
  printf("trial %lld: %s loss %.5g", (long long)trial, data, losses[0]);
  for (uint32_t i = 0; i < program->metric_count; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i]))
      printf(", %s %s %s", data, program->metrics[i].name,
             hfta_metric_text(&program->metrics[i],
                              metrics[i * program->copies], buffer));
  printf("\n");
}

/// Evaluates all copies: on the test data or, if `validates`, on the validation
/// data, which may be those of the chosen trial's fold.
static hfta_status measure(hfta_instance *instance,
                           const hfta_trial_arguments *chosen,
                           const char *data_root, bool validates,
                           double *losses, double *metrics) {
  const hfta_program *program = hfta_instance_program(instance);
  if (!validates)
    return hfta_evaluate_all(instance, data_root, losses, metrics);
  // A trial with folds was only loaded because one of them is chosen.
  if (program->validation.folds > 0 && hfta_chooses_trial(chosen))
    return hfta_evaluate_fold(instance, data_root, chosen->fold, losses,
                              metrics);
  return hfta_evaluate_validation(instance, data_root, losses, metrics);
}

/// Prints the results of the copies that are `live` as one JSON object. Unless
/// `trial` is -1, they are those of this trial of a search.
static void print_json(const hfta_program *program, int64_t trial,
                       bool validates, const bool *live, const double *losses,
                       const double *metrics) {
  hfta_json_writer writer;
  hfta_json_to_file(&writer, stdout);
  hfta_json_begin_object(&writer);
  hfta_json_put_string(&writer, "name", program->name);
  if (trial >= 0)
    hfta_json_put_integer(&writer, "trial", trial);
  hfta_put_evaluation(&writer, program, validates ? "validation" : "eval",
                      losses, program->metric_count > 0 ? metrics : NULL, live);
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  (void)hfta_json_finish(&writer, NULL);
}

/// Prints the results of all copies as a table, and matrices below it.
static void print_copies(const hfta_program *program, bool validates,
                         const int64_t *best_steps, const double *losses,
                         const double *metrics) {
  const double *shown = program->metric_count > 0 ? metrics : NULL;
  const hfta_results tested = {
      .best_steps = best_steps, .test_losses = losses, .test_metrics = shown};
  const hfta_results validated = {.best_steps = best_steps,
                                  .validation_losses = losses,
                                  .validation_metrics = shown};
  hfta_print_results(stdout, program, validates ? &validated : &tested);
  hfta_print_matrices(stdout, program, validates ? "validation" : "test",
                      metrics, /*live=*/NULL);
}

/// Evaluates all copies, on the validation data if `validates`, and prints the
/// results or, unless `trial` is -1, a line about this trial of a search.
/// `best_steps` has the steps of copies' best weights, 0 for copies with
/// others. Returns the exit code.
static int evaluate(const hfta_invocation *invocation, hfta_instance *instance,
                    const hfta_trial_arguments *chosen, int64_t trial,
                    const char *data_root, bool validates, bool as_json,
                    const int64_t *best_steps) {
  const hfta_program *program = invocation->program;
  double *losses = hfta_allocate_losses(program);
  double *metrics = hfta_allocate_metrics(program);
  hfta_status status = HFTA_UNSUPPORTED;
  if (losses && metrics)
    status = measure(instance, chosen, data_root, validates, losses, metrics);
  if (status == HFTA_OK)
    hfta_take_details(instance, losses, metrics);
  int code = (int)status;
  if (status == HFTA_OK && hfta_is_first_rank(invocation) && as_json) {
    print_json(program, trial, validates, hfta_instance_live(instance), losses,
               metrics);
  } else if (status == HFTA_OK && hfta_is_first_rank(invocation) &&
             trial >= 0) {
    print_trial(program, trial, validates, losses, metrics);
  } else if (status == HFTA_OK && hfta_is_first_rank(invocation)) {
    print_copies(program, validates, best_steps, losses, metrics);
  } else if (status != HFTA_OK) {
    hfta_report(invocation, status,
                losses && metrics ? hfta_instance_message(instance)
                                  : "not enough memory for the results");
  }
  free(losses);
  free(metrics);
  return code;
}

/// Loads the weights of all copies, or those of a trial of a search into the
/// first copy, which then runs alone. Sets `best_steps`, or `*trial`. Returns
/// -1, or the exit code after an error message.
static int load(const hfta_invocation *invocation,
                const hfta_trial_arguments *chosen, const char *checkpoint,
                hfta_instance *instance, int64_t *trial, int64_t *best_steps) {
  const int32_t slot = 0;
  if (!hfta_chooses_trial(chosen))
    return hfta_load_weights(invocation, instance, checkpoint, best_steps);
  int code = invocation->program->search->commands->load(
      invocation, chosen, checkpoint, instance, slot, trial);
  if (code < 0 && hfta_instance_set_live(instance, &slot, 1) != HFTA_OK)
    code =
        hfta_report(invocation, HFTA_INTERNAL, hfta_instance_message(instance));
  return code;
}

/// Evaluates a new instance. Returns the exit code.
static int load_and_evaluate(const hfta_invocation *invocation,
                             const hfta_trial_arguments *chosen,
                             const char *checkpoint, hfta_instance *instance,
                             const char *data_root, bool validates,
                             bool as_json) {
  int64_t trial = -1;
  int64_t *best_steps =
      calloc((size_t)invocation->program->copies, sizeof(*best_steps));
  if (!best_steps)
    return hfta_report(invocation, HFTA_UNSUPPORTED,
                       "not enough memory for the results");
  int code = load(invocation, chosen, checkpoint, instance, &trial, best_steps);
  if (code < 0)
    code = evaluate(invocation, instance, chosen, trial, data_root, validates,
                    as_json, best_steps);
  free(best_steps);
  return code;
}

int hfta_command_eval(const hfta_invocation *given) {
  hfta_invocation own = *given, *invocation = &own;
  const char *data_root = NULL, *checkpoint = NULL, *device = NULL;
  int64_t threads = 0;
  bool validates = false, as_json = false;
  hfta_spill_arguments spill = {NULL, 0, NULL};
  hfta_rank_arguments ranks = {NULL, NULL, 0};
  hfta_trial_arguments chosen = HFTA_NO_TRIAL_ARGUMENTS;
  hfta_expect_ranks(invocation);
  const hfta_option options[] = {
      HFTA_OPTION_DATA(&data_root),
      HFTA_OPTION_CHECKPOINT(&checkpoint),
      HFTA_OPTION_AVERAGE(&own.loads_averages),
      HFTA_OPTION_THREADS(&threads),
      HFTA_OPTION_DEVICE(&device),
      HFTA_OPTION_SPILL_DIR(&spill),
      HFTA_OPTION_IO_THREADS(&spill),
      HFTA_OPTION_RANKS(&ranks),
      HFTA_OPTION_MPI(&ranks),
      HFTA_OPTION_RANK_TIMEOUT(&ranks),
      {.name = "--validation",
       .help = "evaluate on the validation data instead",
       .flag = &validates},
      {.name = "--json", .help = "print JSON", .flag = &as_json},
      HFTA_OPTION_BEST(&chosen),
      HFTA_OPTION_TRIAL(&chosen),
      HFTA_OPTION_FOLD(&chosen),
  };
  int code =
      hfta_parse_options(invocation,
                         "Evaluates every copy on the job's test data, and "
                         "prints a table with\none line per copy.",
                         options, sizeof(options) / sizeof(*options));
  hfta_path path;
  if (code < 0)
    code = hfta_choose_checkpoint(invocation, &path, &checkpoint);
  if (code < 0)
    code = hfta_check_trial(invocation, &chosen, checkpoint);
  if (code < 0)
    code = hfta_check_average(invocation, &chosen, checkpoint);
  if (code >= 0)
    return code;
  hfta_instance *instance = NULL;
  code = hfta_join_ranks(invocation, &ranks);
  if (code < 0 && hfta_chooses_trial(&chosen))
    code = invocation->program->search->commands->choose(invocation, &chosen,
                                                         checkpoint);
  hfta_workload workload =
      hfta_workload_of("evaluate", 0, invocation->program->copies);
  workload.communicator = invocation->ranks->communicator;
  spill.checkpoint = checkpoint;
  if (code < 0)
    code = hfta_open_instance(invocation, &workload, threads, device, &spill,
                              &instance);
  if (code < 0)
    code = load_and_evaluate(invocation, &chosen, checkpoint, instance,
                             data_root, validates, as_json);
  hfta_instance_destroy(instance);
  hfta_leave_ranks(invocation);
  return code;
}
