//===- trainer_window.c - Steps that copies go through turn by turn -------===//

#include "schedule/ahead.h"
#include "schedule/window.h"
#include "training/trainer_parts.h"

int64_t hfta_trainer_epoch(const hfta_trainer *self, int64_t step) {
  return (step - 1) / self->steps_per_epoch + 1;
}

int64_t hfta_trainer_log_every(const hfta_trainer *self) {
  int64_t every = self->options->log_every;
  return every ? every : HFTA_DEFAULT_LOG_EVERY;
}

/// `most`, or fewer up to the next multiple of `every`, if there is one.
static int64_t up_to(int64_t step, int64_t every, int64_t most) {
  int64_t left = every > 0 ? every - step % every : most;
  return left < most ? left : most;
}

/// The first step is logged by itself. A trace tells of steps one by one, and
/// so does what a preconditioner has done.
int64_t hfta_trainer_window_steps(const hfta_trainer *self, int64_t step) {
  bool is_traced = self->trace && !hfta_trace_is_complete(self->trace);
  bool takes_windows = hfta_instance_takes_windows(self->instance) ||
                       hfta_instance_runs_ahead(self->instance) || self->parts;
  if (step == 0 || is_traced || !takes_windows || self->dampings)
    return 1;
  int64_t steps = self->total_steps - step;
  steps = up_to(step, hfta_trainer_log_every(self), steps);
  steps = up_to(step, self->steps_per_epoch, steps);
  steps = up_to(step, self->options->every, steps);
  // Those that are too many for a window are several of much the same length.
  int64_t windows =
      (steps + HFTA_MOST_WINDOW_STEPS - 1) / HFTA_MOST_WINDOW_STEPS;
  return (steps + windows - 1) / windows;
}

/// The window that runs: which step number its first one has.
typedef struct position {
  hfta_trainer *trainer;
  int64_t first;
  int64_t steps;
} position;

static hfta_status take(void *argument, int64_t step,
                        const void *const **inputs) {
  const position *self = argument;
  hfta_trainer *trainer = self->trainer;
  hfta_status status = hfta_trainer_take_batch(trainer, &trainer->feeding,
                                               self->first + step, inputs);
  if (status == HFTA_OK)
    status = hfta_trainer_take_rates(trainer, trainer->instance);
  // The next turn goes back to the first one's.
  if (status == HFTA_OK && step + 1 < self->steps)
    hfta_feed_offer(trainer->feeding.feed, trainer->instance);
  return status;
}

static bool ends(void *argument) {
  const position *self = argument;
  return hfta_trainer_should_stop(self->trainer);
}

hfta_status hfta_trainer_run_window(hfta_trainer *self, int64_t *steps) {
  if (self->parts)
    return hfta_trainer_run_parts(self, steps);
  position here = {.trainer = self,
                   .first = hfta_instance_steps(self->instance) + 1,
                   .steps = *steps};
  hfta_window window = {.steps = *steps,
                        .take = take,
                        .ends = ends,
                        .argument = &here,
                        .losses = self->losses};
  hfta_status status = hfta_instance_run_window(self->instance, &window);
  *steps = window.steps;
  return status;
}
