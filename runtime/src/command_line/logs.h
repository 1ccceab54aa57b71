//===- logs.h - Logs that commands read ---------------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_LOGS_H
#define HFTA_SRC_COMMAND_LINE_LOGS_H

#include "command_line/command.h"
#include "history/objective.h"

/// The operand of commands that read logs: one or several of them.
#define HFTA_OPERAND_LOGS(target)                                              \
  {.name = "LOG",                                                              \
   .help = "log of 'train --log', or checkpoint folder of a search",           \
   .list = (target),                                                           \
   .required = true,                                                           \
   .is_operand = true}

/// Reads the logs; with `--job`, only that job's are kept. Returns -1, or the
/// exit code after an error message; `out` must be released by
/// hfta_histories_free in any case.
int hfta_read_logs(const hfta_invocation *invocation, const hfta_list *paths,
                   hfta_histories *out);

/// Finds the numbers by which the runs of a log are compared, with the help of
/// the binary's programs.
hfta_objective hfta_find_log_objective(const hfta_invocation *invocation,
                                       const hfta_history *history);

#endif // HFTA_SRC_COMMAND_LINE_LOGS_H
