//===- command_trials.c - The command trials ------------------------------===//

#include "command_line/command.h"
#include "command_line/jobs.h"
#include "command_line/trials/train_search.h"
#include "command_line/trials/trials_table.h"
#include "tuning/saved_study.h"

int hfta_list_trials(const hfta_invocation *invocation) {
  const char *folder = NULL;
  bool as_json = false;
  const hfta_option options[] = {
      {.name = "--checkpoint",
       .argument = "DIR",
       .help = "the folder of a search, as for 'train'",
       .text = &folder,
       .required = true},
      {.name = "--json",
       .help = "print all settings, scores and decisions as JSON",
       .flag = &as_json},
  };
  int code = hfta_parse_options(
      invocation,
      "Prints how a search stands, the best trial first: the score of each, "
      "and\nwhat has become of it.",
      options, sizeof(options) / sizeof(*options));
  hfta_path path;
  if (code < 0)
    code = hfta_choose_job_folder(invocation, &path, &folder);
  if (code >= 0)
    return code;
  hfta_saved_study saved;
  hfta_error error;
  hfta_status status =
      hfta_saved_study_open(invocation->arrays, folder, NULL, &saved, &error);
  if (status == HFTA_OK && as_json)
    status = hfta_write_trials_json(stdout, saved.study, &error);
  else if (status == HFTA_OK)
    hfta_print_trials(stdout, saved.study, 0);
  hfta_saved_study_close(&saved);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  return fflush(stdout) != 0 || ferror(stdout) ? hfta_report_output(invocation)
                                               : HFTA_OK;
}
