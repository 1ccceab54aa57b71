//===- saved_study.c - A search that a folder has -------------------------===//

#include "tuning/saved_study.h"

#include "checkpoint/replaces.h"
#include "system/path.h"
#include "tuning/catch_up.h"

hfta_status hfta_saved_study_open(const hfta_program *const *arrays,
                                  const char *folder,
                                  hfta_communicator *communicator,
                                  hfta_saved_study *out, hfta_error *error) {
  hfta_path path;
  hfta_facts_of_run run;
  *out = (hfta_saved_study){.study = NULL};
  hfta_status status =
      hfta_path_format(&path, error, "%s/" HFTA_SEARCH_JOURNAL, folder);
  if (status == HFTA_OK)
    status = hfta_journal_read(path.text, communicator, &out->journal, error);
  if (status == HFTA_OK)
    status = hfta_facts_read(arrays, out->journal, path.text, &run, error);
  if (status == HFTA_OK)
    status = hfta_study_create(arrays, &run, out->journal, &out->study, error);
  return status == HFTA_OK ? hfta_study_catch_up(out->study, error) : status;
}

void hfta_saved_study_close(hfta_saved_study *self) {
  hfta_study_destroy(self->study);
  hfta_journal_close(self->journal);
}
