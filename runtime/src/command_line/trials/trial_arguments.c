//===- trial_arguments.c - Options that choose a trial --------------------===//

#include "command_line/trials/trial_arguments.h"

#include "checkpoint/averages.h"
#include "command_line/trials/search_commands.h"

bool hfta_chooses_trial(const hfta_trial_arguments *arguments) {
  return arguments->best || arguments->trial >= 0;
}

int hfta_check_trial(const hfta_invocation *invocation,
                     const hfta_trial_arguments *arguments,
                     const char *checkpoint) {
  bool chooses = hfta_chooses_trial(arguments);
  if (arguments->best && arguments->trial >= 0)
    return hfta_report_usage(invocation,
                             "give '--best' or '--trial', not both");
  if (arguments->fold >= 0 && !chooses)
    return hfta_report_usage(invocation,
                             "option '--fold' needs '--best' or '--trial K'");
  if (chooses && !invocation->program->search)
    return hfta_report_usage(invocation, "'%s' has no search: leave '%s' out",
                             invocation->program->name,
                             arguments->best ? "--best" : "--trial");
  if (chooses && !checkpoint)
    return hfta_report_usage(invocation, "option '%s' needs --checkpoint DIR",
                             arguments->best ? "--best" : "--trial");
  if (!chooses && checkpoint && invocation->program->search)
    return hfta_report_usage(invocation,
                             "'%s' is a search: say which of its trials, by "
                             "'--best' or '--trial K'",
                             invocation->program->name);
  return -1;
}

int hfta_check_average(const hfta_invocation *invocation,
                       const hfta_trial_arguments *chosen,
                       const char *checkpoint) {
  if (!invocation->loads_averages)
    return -1;
  if (!hfta_program_averages(invocation->program))
    return hfta_report_usage(invocation,
                             "'%s' has no averages of weights: leave "
                             "'--average' out",
                             invocation->program->name);
  if (!checkpoint)
    return hfta_report_usage(invocation,
                             "option '--average' needs --checkpoint DIR");
  if (hfta_chooses_trial(chosen))
    return hfta_report_usage(invocation,
                             "'--average' isn't for trials of a search");
  return -1;
}

int hfta_open_copy(const hfta_invocation *invocation,
                   const hfta_trial_arguments *arguments,
                   const hfta_workload *workload, int64_t threads,
                   const char *device, const char *checkpoint,
                   const hfta_spill_arguments *spill, int64_t copy,
                   hfta_instance **out) {
  int64_t trial;
  *out = NULL;
  int code =
      hfta_open_instance(invocation, workload, threads, device, spill, out);
  if (code >= 0)
    return code;
  return hfta_chooses_trial(arguments)
             ? invocation->program->search->commands->load(
                   invocation, arguments, checkpoint, *out, copy, &trial)
             : hfta_load_copy(invocation, *out, checkpoint, copy);
}
