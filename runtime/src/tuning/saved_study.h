//===- saved_study.h - A search that a folder has -----------------*- C -*-===//

#ifndef HFTA_SRC_TUNING_SAVED_STUDY_H
#define HFTA_SRC_TUNING_SAVED_STUDY_H

#include "tuning/study.h"

/// A study that is read, and never goes on.
typedef struct hfta_saved_study {
  hfta_journal *journal;
  hfta_study *study;
} hfta_saved_study;

/// Reads how a program's search stands from its folder. A search that is being
/// trained may be read. `communicator` is that of hfta_journal_read. Must be
/// closed by hfta_saved_study_close, also after a failure.
hfta_status hfta_saved_study_open(const hfta_program *const *arrays,
                                  const char *folder,
                                  hfta_communicator *communicator,
                                  hfta_saved_study *out, hfta_error *error);
void hfta_saved_study_close(hfta_saved_study *self);

#endif // HFTA_SRC_TUNING_SAVED_STUDY_H
