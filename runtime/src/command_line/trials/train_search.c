//===- train_search.c - Trains a job with a search ------------------------===//

#include "command_line/trials/train_search.h"

#include "command_line/trials/trials_table.h"
#include "progress/progress_text.h"
#include "progress/screen.h"
#include "system/interrupt.h"
#include "tuning/tuner.h"

#include <math.h>
#include <string.h>

/// The most trials of the final table. `trials` prints all of them.
enum { TABLE_TRIALS = 20 };

/// Says which trial is the best, and what its weights reach on the test data.
static void print_best(const hfta_invocation *invocation,
                       const hfta_tuner_result *result) {
  const hfta_study *study = result->study;
  int64_t best = hfta_study_best(study);
  char validation[32], metric[32];
  if (best == HFTA_NO_TRIAL) {
    printf("\nno trial has a finite score\n");
    return;
  }
  double score = hfta_study_score(study, best);
  if (study->validation.by_metric)
    hfta_metric_text(hfta_program_main_metric(invocation->program), score,
                     validation);
  else
    snprintf(validation, sizeof(validation), "%.5g", score);
  printf("\nbest: trial %lld, %s%s %s", (long long)best,
         study->validation.is_external ? "" : "validation ",
         hfta_study_score_name(study), validation);
  if (!isnan(result->test_loss)) {
    printf(", test loss %.5g", result->test_loss);
    const hfta_metric *main = hfta_program_main_metric(invocation->program);
    if (main)
      printf(", test %s %s", main->name,
             hfta_metric_text(main, result->test_metric, metric));
  }
  printf("\n");
}

static void print_results(const hfta_invocation *invocation,
                          const hfta_train_arguments *arguments,
                          const hfta_tuner_result *result) {
  const hfta_study *study = result->study;
  hfta_screen_begin_output(invocation->screen);
  if (invocation->job)
    printf("%s%s\n", *arguments->has_printed ? "\n" : "", invocation->job);
  *arguments->has_printed = true;
  hfta_print_trials(stdout, study, TABLE_TRIALS);
  if (study->trial_count > TABLE_TRIALS)
    printf("... and %lld more trials\n",
           (long long)(study->trial_count - TABLE_TRIALS));
  print_best(invocation, result);
  hfta_screen_end_output(invocation->screen);
}

/// Says why the search has stopped before its end.
static void print_stop(const hfta_invocation *invocation,
                       const hfta_train_arguments *arguments,
                       const hfta_tuner_result *result) {
  hfta_screen_begin_output(invocation->screen);
  fprintf(stderr, "%s: stopped after %.1f minutes of computing%s%s\n",
          invocation->binary, result->seconds / 60,
          result->saved ? "; saved "
                        : "; nothing saved: no --checkpoint was "
                          "given",
          result->saved ? arguments->options.checkpoint : "");
  hfta_screen_end_output(invocation->screen);
}

hfta_status hfta_open_search_array(void *argument, int64_t array,
                                   hfta_instance **out, hfta_error *error) {
  const hfta_array_opener *self = argument;
  const hfta_program *program = self->invocation->arrays[array];
  hfta_workload workload = hfta_workload_of_all(program);
  workload.communicator = self->invocation->ranks->communicator;
  hfta_instance_destroy(*self->instance);
  *self->instance = NULL;
  hfta_status status = hfta_create_instance(
      self->invocation, program, &workload, self->arguments->threads,
      self->arguments->device, &self->arguments->spill, self->instance, error);
  *out = *self->instance;
  return status;
}

int hfta_train_search(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance **instance) {
  hfta_array_opener opener = {invocation, arguments, instance};
  const hfta_tuner_options options = {.train = &arguments->options,
                                      .arrays = invocation->arrays,
                                      .open_array = hfta_open_search_array,
                                      .open_argument = &opener,
                                      .trials = arguments->trials,
                                      .control = arguments->control};
  hfta_tuner_result result;
  hfta_status status = hfta_tune(*instance, &options, &result);
  int code = (int)status;
  bool is_first = hfta_is_first_rank(invocation);
  if (status != HFTA_OK) {
    hfta_report(invocation, status, result.error.message);
  } else if (is_first) {
    if (result.stopped)
      print_stop(invocation, arguments, &result);
    // With standard output as a channel, the last lines of that are for
    // clients.
    if (!arguments->control || strcmp(arguments->control, "-") != 0)
      print_results(invocation, arguments, &result);
    if (fflush(stdout) != 0 || ferror(stdout))
      code = hfta_report_output(invocation);
  }
  if (status == HFTA_OK && result.interrupted) {
    // Wait for all ranks: when the first one exits with such a code, the
    // launcher ends the others.
    int64_t nothing = 0;
    (void)hfta_communicator_max(invocation->ranks->communicator,
                                "end of the search", &nothing, &result.error);
    const hfta_interrupt *interrupt = arguments->options.should_stop_argument;
    int number = atomic_load(&interrupt->signal);
    code = 128 + (number ? number : SIGUSR1);
  }
  hfta_tuner_result_free(&result);
  return code;
}
