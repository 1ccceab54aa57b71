//===- catch_up.c - Brings a study to where its journal ends --------------===//

#include "tuning/catch_up.h"

#include "tuning/journal_line.h"
#include "tuning/study_requests.h"

/// The argument of catch_up.
typedef struct catching_up {
  hfta_study *study;
  hfta_error *error;
} catching_up;

static hfta_status enter(void *argument, const hfta_evaluated *value) {
  catching_up *self = argument;
  return hfta_study_enter(self->study, value, self->error);
}

static hfta_status catch_up(void *argument, int64_t number, const char *line) {
  catching_up *self = argument;
  const char *members;
  hfta_status status =
      hfta_journal_is_command(line, &members)
          ? hfta_study_repeat(self->study, members, number, self->error)
          : hfta_journal_parse_evaluated(line, number, enter, self,
                                         self->error);
  return status == HFTA_OK ? hfta_study_advance(self->study, self->error)
                           : status;
}

hfta_status hfta_study_catch_up(hfta_study *self, hfta_error *error) {
  catching_up catching = {self, error};
  hfta_status status = hfta_study_advance(self, error);
  return status == HFTA_OK
             ? hfta_journal_visit(self->journal, catch_up, &catching)
             : status;
}
