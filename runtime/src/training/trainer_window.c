//===- trainer_window.c - Windows of several steps ------------------------===//

#include "schedule/ahead.h"
#include "schedule/window.h"
#include "training/trainer_parts.h"

/// Returns the number of steps from `step` to the next multiple of `every`, at
/// most `most`. If `every` isn't positive, returns `most`.
static int64_t up_to(int64_t step, int64_t every, int64_t most) {
  int64_t left = every > 0 ? every - step % every : most;
  return left < most ? left : most;
}

/// Steps run one by one if records are needed for each step: while there is a
/// trace or a preconditioner, and for the first step, which is always logged.
int64_t hfta_trainer_window_steps(const hfta_trainer *self, int64_t step) {
  bool is_traced = self->trace && !hfta_trace_is_complete(self->trace);
  bool takes_windows = hfta_instance_takes_windows(self->instance) ||
                       hfta_instance_runs_ahead(self->instance) || self->parts;
  if (step == 0 || is_traced || !takes_windows ||
      hfta_trainer_preconditions(self))
    return 1;
  int64_t steps = self->total_steps - step;
  steps = up_to(step, hfta_trainer_log_every(self), steps);
  steps = up_to(step, self->steps_per_epoch, steps);
  steps = up_to(step, self->options->every, steps);
  // If the steps don't fit into one window, they are divided into windows of
  // similar length.
  int64_t windows =
      (steps + HFTA_MOST_WINDOW_STEPS - 1) / HFTA_MOST_WINDOW_STEPS;
  return (steps + windows - 1) / windows;
}

/// The window that is being run.
typedef struct position {
  hfta_trainer *trainer;
  int64_t first; ///< number of the window's first step
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
  // After the window's last step, the next turn begins with the batch of the
  // first step, so there is nothing to offer.
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
