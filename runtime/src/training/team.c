//===- team.c - A training on several ranks -------------------------------===//

#include "training/team.h"

#include "communicator/tags.h"
#include "instance/share_state.h"

#include <string.h>

bool hfta_team_is_alone(const hfta_team *self) {
  return self->communicator->size == 1;
}

bool hfta_team_leads(const hfta_team *self) {
  return self->communicator->rank == 0;
}

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

hfta_status hfta_team_compare(hfta_team *self,
                              const hfta_train_options *options,
                              const hfta_instance *instance,
                              int64_t total_steps, hfta_error *error) {
  if (hfta_team_is_alone(self))
    return HFTA_OK;
  int64_t numbers[] = {
      total_steps,           options->log_every,    options->every,
      options->keep,         options->resume,       options->overwrite,
      !!options->checkpoint, !!options->trace_path, options->trace_steps};
  int other = -1;
  hfta_status status = hfta_communicator_compare(
      self->communicator, "options", numbers, sizeof(numbers), &other, error);
  if (status == HFTA_OK && other < 0)
    status = hfta_communicator_compare(
        self->communicator, "copies that run", hfta_instance_live(instance),
        sizeof(bool) * (size_t)hfta_instance_copies(instance), &other, error);
  if (status != HFTA_OK || other < 0)
    return status;
  return hfta_fail(error, HFTA_USAGE,
                   "rank %d was started with other options than rank 0: give "
                   "all ranks the same",
                   other);
}

hfta_status hfta_compare_samples(hfta_communicator *communicator,
                                 const hfta_dataset *dataset,
                                 hfta_error *error) {
  int other = -1;
  hfta_status status =
      hfta_communicator_compare(communicator, "samples", &dataset->samples,
                                sizeof(dataset->samples), &other, error);
  if (status != HFTA_OK || other < 0)
    return status;
  return hfta_fail(error, HFTA_USAGE,
                   "rank %d has more or fewer samples than rank 0: give all "
                   "ranks the same data",
                   other);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

hfta_status hfta_team_ask(hfta_team *self, bool wish, hfta_error *error) {
  if (hfta_team_is_alone(self))
    return HFTA_OK;
  for (int i = 0; i <= self->communicator->size; ++i)
    self->offsets[i] = sizeof(int64_t) * (uint64_t)i;
  self->wishes[self->communicator->rank] = wish;
  hfta_label label = {"wishes to stop", -1, HFTA_TAG_WISH};
  return hfta_communicator_post_gather(self->communicator, &label, self->wishes,
                                       self->offsets, &self->asked, error);
}

hfta_status hfta_team_hear(hfta_team *self, hfta_status status,
                           hfta_error *error) {
  if (hfta_team_is_alone(self))
    return status;
  hfta_posted *asked = self->asked;
  hfta_error reason;
  self->asked = NULL;
  hfta_status heard =
      hfta_communicator_wait(self->communicator, asked, &reason);
  if (status == HFTA_OK && heard != HFTA_OK) {
    status = heard;
    *error = reason;
  }
  for (int i = 0; i < self->communicator->size; ++i)
    self->stops |= self->wishes[i] != 0;
  return status;
}

hfta_status hfta_team_meet(hfta_team *self, hfta_error *error) {
  int64_t nothing = 0;
  if (hfta_team_is_alone(self))
    return HFTA_OK;
  return hfta_communicator_max(self->communicator, "end of the training",
                               &nothing, error);
}
