//===- command_eval.c - The command eval ----------------------------------===//

#include "command_line/jobs.h"
#include "command_line/ranks.h"
#include "command_line/table.h"
#include "hfta/trainer.h"

#include <stdlib.h>

/// Evaluates all copies, on the validation data if `validates`, and prints the
/// table. Returns the exit code.
static int evaluate(const hfta_invocation *invocation, hfta_instance *instance,
                    const char *data_root, bool validates) {
  const hfta_program *program = invocation->program;
  size_t copies = (size_t)program->copies;
  double *losses = calloc(copies, sizeof(double));
  double *metrics = calloc(copies, sizeof(double));
  hfta_status status = HFTA_UNSUPPORTED;
  if (losses && metrics)
    status =
        validates
            ? hfta_evaluate_validation(instance, data_root, losses, metrics)
            : hfta_evaluate_all(instance, data_root, losses, metrics);
  int code = (int)status;
  if (status == HFTA_OK && hfta_is_first_rank(invocation)) {
    const double *shown = *program->metric ? metrics : NULL;
    const hfta_results tested = {.test_losses = losses, .test_metrics = shown};
    const hfta_results validated = {.validation_losses = losses,
                                    .validation_metrics = shown};
    hfta_print_results(stdout, program, validates ? &validated : &tested);
  } else if (status != HFTA_OK) {
    hfta_report(invocation, status,
                losses && metrics ? hfta_instance_message(instance)
                                  : "not enough memory for the results");
  }
  free(losses);
  free(metrics);
  return code;
}

int hfta_command_eval(const hfta_invocation *invocation) {
  const char *data_root = NULL, *checkpoint = NULL, *device = NULL;
  int64_t threads = 0;
  bool validates = false;
  hfta_spill_arguments spill = {NULL, 0, NULL};
  hfta_rank_arguments ranks = {NULL, NULL, 0};
  hfta_expect_ranks(invocation);
  const hfta_option options[] = {
      HFTA_OPTION_DATA(&data_root),
      HFTA_OPTION_CHECKPOINT(&checkpoint),
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
  };
  int code =
      hfta_parse_options(invocation,
                         "Evaluates every copy on the job's test data, and "
                         "prints a table with\none line per copy.",
                         options, sizeof(options) / sizeof(*options));
  hfta_path path;
  if (code < 0)
    code = hfta_choose_checkpoint(invocation, &path, &checkpoint);
  if (code >= 0)
    return code;
  hfta_workload workload =
      hfta_workload_of("evaluate", 0, invocation->program->copies);
  hfta_instance *instance = NULL;
  code = hfta_join_ranks(invocation, &ranks);
  workload.communicator = invocation->ranks->communicator;
  spill.checkpoint = checkpoint;
  if (code < 0)
    code = hfta_open_instance(invocation, &workload, threads, device,
                              checkpoint, &spill, &instance);
  if (code < 0)
    code = evaluate(invocation, instance, data_root, validates);
  hfta_instance_destroy(instance);
  hfta_leave_ranks(invocation);
  return code;
}
