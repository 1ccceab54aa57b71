//===- logs.c - Logs that commands read -----------------------------------===//

#include "command_line/logs.h"

#include <string.h>

int hfta_read_logs(const hfta_invocation *invocation, const hfta_list *paths,
                   hfta_histories *out) {
  *out = (hfta_histories){0};
  hfta_error error;
  for (int i = 0; i < paths->count; ++i) {
    hfta_status status = hfta_histories_read(paths->values[i], out, &error);
    if (status != HFTA_OK)
      return hfta_report(invocation, status, error.message);
  }
  if (!invocation->job || invocation->program_count == 1)
    return -1;
  int64_t kept = 0;
  for (int64_t i = 0; i < out->count; ++i)
    if (strcmp(out->list[i].job, invocation->job) == 0) {
      hfta_history moved = out->list[kept];
      out->list[kept++] = out->list[i];
      out->list[i] = moved;
    }
  hfta_histories rest = {out->list + kept, out->count - kept};
  hfta_histories_drop(&rest);
  out->count = kept;
  if (kept > 0)
    return -1;
  hfta_fail(&error, HFTA_INVALID_INPUT, "the logs have no job '%s'",
            invocation->job);
  return hfta_report(invocation, HFTA_INVALID_INPUT, error.message);
}

hfta_objective hfta_find_log_objective(const hfta_invocation *invocation,
                                       const hfta_history *history) {
  return hfta_find_objective(history, invocation->programs,
                             invocation->program_count);
}
