//===- command_log.c - The command log ------------------------------------===//

#include "command_line/logs.h"

#include "interchange/board.h"
#include "interchange/csv.h"
#include "interchange/optuna.h"
#include "system/file.h"
#include "system/path.h"

#include <stdlib.h>
#include <string.h>

/// The arguments.
typedef struct log_arguments {
  hfta_list logs;
  bool as_csv;
  const char *output, *tensorboard, *optuna;
} log_arguments;

/// Checks that one of the forms is asked for.
static int check_arguments(const hfta_invocation *invocation,
                           const log_arguments *arguments) {
  int forms = arguments->as_csv + (arguments->tensorboard != NULL) +
              (arguments->optuna != NULL);
  if (forms != 1)
    return hfta_report_usage(invocation,
                             "'log' needs one of --csv, --tensorboard DIR and "
                             "--optuna FILE");
  if (arguments->output && !arguments->as_csv)
    return hfta_report_usage(invocation, "option '-o' needs --csv");
  return -1;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static void write_optuna(FILE *file, const hfta_invocation *invocation,
                         const hfta_histories *histories) {
  for (int64_t i = 0; i < histories->count; ++i) {
    hfta_objective objective =
        hfta_find_log_objective(invocation, &histories->list[i]);
    hfta_write_optuna(file, &histories->list[i], &objective, i);
  }
}

/// Writes a table or a journal to a file.
static hfta_status write_text(const hfta_invocation *invocation,
                              const log_arguments *arguments,
                              const hfta_histories *histories,
                              hfta_error *error) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  if (file && arguments->as_csv)
    hfta_write_csv(file, histories);
  else if (file)
    write_optuna(file, invocation, histories);
  bool is_whole = file && !ferror(file);
  is_whole = file && fclose(file) == 0 && is_whole;
  hfta_status status =
      is_whole ? hfta_write_whole(arguments->as_csv ? arguments->output
                                                    : arguments->optuna,
                                  text, bytes, error)
               : hfta_fail(error, HFTA_UNSUPPORTED,
                           "not enough memory for the table");
  free(text);
  return status;
}

//===----------------------------------------------------------------------===//
// TensorBoard
//===----------------------------------------------------------------------===//

/// Writes each job to a folder of its own if there are several.
static hfta_status write_boards(const hfta_invocation *invocation,
                                const char *folder,
                                const hfta_histories *histories,
                                hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < histories->count && status == HFTA_OK; ++i) {
    const hfta_history *history = &histories->list[i];
    // Jobs of several logs may have the same name.
    int64_t before = 0;
    for (int64_t j = 0; j < i; ++j)
      before += strcmp(histories->list[j].job, history->job) == 0;
    hfta_path path;
    status = histories->count == 1
                 ? hfta_path_format(&path, error, "%s", folder)
             : before == 0
                 ? hfta_path_format(&path, error, "%s/%s", folder, history->job)
                 : hfta_path_format(&path, error, "%s/%s-%lld", folder,
                                    history->job, (long long)before + 1);
    hfta_objective objective = hfta_find_log_objective(invocation, history);
    if (status == HFTA_OK)
      status = hfta_board_write(path.text, history, objective.series, error);
  }
  return status;
}

int hfta_command_log(const hfta_invocation *invocation) {
  log_arguments arguments = {0};
  const hfta_option options[] = {
      HFTA_OPERAND_LOGS(&arguments.logs),
      {.name = "--csv",
       .help = "print a table with a line for each step or epoch and copy",
       .flag = &arguments.as_csv},
      {.name = "-o",
       .argument = "FILE",
       .help = "write the table to a file",
       .text = &arguments.output},
      {.name = "--tensorboard",
       .argument = "DIR",
       .help = "write event files for TensorBoard, in a folder a copy",
       .text = &arguments.tensorboard},
      {.name = "--optuna",
       .argument = "FILE",
       .help = "write a journal for Optuna, with a study a job",
       .text = &arguments.optuna},
  };
  int code = hfta_parse_options(invocation,
                                "Writes what logs hold in the forms of other "
                                "tools. The logs may be those "
                                "of\nother programs.",
                                options, sizeof(options) / sizeof(*options));
  if (code < 0)
    code = check_arguments(invocation, &arguments);
  if (code >= 0)
    return code;
  hfta_histories histories;
  code = hfta_read_logs(invocation, &arguments.logs, &histories);
  hfta_error error;
  hfta_status status = HFTA_OK;
  if (code < 0 && arguments.tensorboard)
    status =
        write_boards(invocation, arguments.tensorboard, &histories, &error);
  else if (code < 0 && (arguments.output || arguments.optuna))
    status = write_text(invocation, &arguments, &histories, &error);
  else if (code < 0)
    hfta_write_csv(stdout, &histories);
  hfta_histories_free(&histories);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  return code < 0 ? HFTA_OK : code;
}
