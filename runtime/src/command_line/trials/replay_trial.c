//===- replay_trial.c - Trains one trial of a search alone ----------------===//

#include "command_line/trials/train_search.h"

#include "system/interrupt.h"
#include "tuning/tuner.h"

/// Says what the replay has found. Returns the exit code.
static int print_outcome(const hfta_train_arguments *arguments,
                         const hfta_replay_result *result) {
  printf("trial %lld, trained alone for %lld epoch%s: ",
         (long long)arguments->replay, (long long)result->epochs,
         result->epochs == 1 ? "" : "s");
  if (result->different_epoch > 0)
    printf("its scores differ from the search's after epoch %lld",
           (long long)result->different_epoch);
  else
    printf("scores equal those of the search");
  if (!result->has_file)
    printf("; its state isn't compared, as no file has it\n");
  else
    printf("; state %s\n", result->is_equal ? "equal, byte for byte"
                                            : "differs from the file's");
  bool is_equal =
      result->different_epoch == 0 && (result->is_equal || !result->has_file);
  return is_equal ? HFTA_OK : HFTA_INTERNAL;
}

int hfta_replay_trial(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance **instance) {
  hfta_array_opener opener = {invocation, arguments, instance};
  const hfta_tuner_options options = {.train = &arguments->options,
                                      .arrays = invocation->arrays,
                                      .open_array = hfta_open_search_array,
                                      .open_argument = &opener};
  int64_t fold = arguments->replay_fold < 0 ? 0 : arguments->replay_fold;
  hfta_replay_result result;
  hfta_status status =
      hfta_replay(*instance, &options, arguments->replay, fold, &result);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, result.error.message);
  const hfta_interrupt *interrupt = arguments->options.should_stop_argument;
  int number = atomic_load(&interrupt->signal);
  if (result.interrupted)
    return 128 + (number ? number : SIGUSR1);
  if (!hfta_is_first_rank(invocation))
    return HFTA_OK;
  int code = print_outcome(arguments, &result);
  return fflush(stdout) != 0 || ferror(stdout) ? hfta_report_output(invocation)
                                               : code;
}
