//===- trainer_ahead.c - Steps posted to a device ahead of time -----------===//

#include "schedule/ahead.h"
#include "training/trainer_impl.h"

/// Posts a step to the device. The learning rates that are logged are those of
/// the last posted step; this is right, since only the last step that
/// hfta_trainer_run_ahead runs may be logged.
static hfta_status post(hfta_trainer *self, int64_t step) {
  const void *const *inputs;
  hfta_status status = hfta_trainer_begin_step(self, step, &inputs);
  return status == HFTA_OK ? hfta_instance_post_step(self->instance, inputs)
                           : status;
}

/// Settles the step after step number `*step`, and increments `*step`. `posted`
/// is the last posted step. `finishing` receives the failure of finishing a
/// step. After such a failure, later steps' losses are still added to the sums,
/// but not logged.
static hfta_status settle(hfta_trainer *self, int64_t posted, int64_t *step,
                          hfta_error *finishing) {
  hfta_status status = hfta_instance_settle_step(self->instance, self->losses);
  if (status != HFTA_OK)
    return status;
  ++*step;
  self->can_save = *step == posted;
  if (finishing->code != HFTA_OK)
    hfta_trainer_add_losses(self, *step, self->losses);
  else if (hfta_trainer_finish_step(self, *step, self->losses) != HFTA_OK)
    *finishing = *self->error;
  return HFTA_OK;
}

/// Runs steps ahead. Settles all posted steps, even if posting or finishing a
/// step has failed, so that no step is in flight at the end. If there are
/// several failures, returns that of the earliest step.
hfta_status hfta_trainer_run_ahead(hfta_trainer *self, int64_t steps,
                                   int64_t *step) {
  int64_t posted = *step, end = *step + steps;
  hfta_status status = HFTA_OK;
  hfta_error posting = {.code = HFTA_OK}, finishing = {.code = HFTA_OK};
  while (status == HFTA_OK && (posted < end || *step < posted)) {
    if (posted < end) {
      if (post(self, posted + 1) == HFTA_OK)
        ++posted;
      else
        posting = *self->error;
    }
    if (posting.code != HFTA_OK || !hfta_instance_runs_ahead(self->instance) ||
        hfta_trainer_should_stop(self))
      end = posted;
    bool has_room = posted - *step < HFTA_MOST_POSTED_STEPS;
    if (*step < posted && !(posted < end && has_room))
      status = settle(self, posted, step, &finishing);
    if (finishing.code != HFTA_OK)
      end = posted;
  }
  if (finishing.code == HFTA_OK && status != HFTA_OK)
    return status;
  const hfta_error *first = finishing.code == HFTA_OK ? &posting : &finishing;
  if (first->code != HFTA_OK)
    *self->error = *first;
  return first->code;
}
