//===- window.c - Several steps, turn by turn -----------------------------===//

#include "schedule/window.h"

#include "schedule/step.h"

#include <math.h>

/// Returns the schedule that fetches the state of a turn's copies; NULL if the
/// program has no schedules for turns of several steps.
static const hfta_schedule *find_begin(const hfta_instance *instance) {
  return hfta_program_find_schedule(instance->program, "begin_turn");
}

bool hfta_instance_takes_windows(const hfta_instance *instance) {
  return instance->communicator->size == 1 && !instance->group &&
         (find_begin(instance) || hfta_instance_turn_count(instance) > 1);
}

const char *hfta_instance_window_schedule(const hfta_instance *instance) {
  return find_begin(instance) ? "turn_step" : "step";
}

/// The plan of a window's turns.
typedef struct turns {
  hfta_instance *instance;
  hfta_window *window;
  int64_t count; ///< number of turns
  int64_t most;  ///< the most copies for which there is room at a time
  int64_t begin; ///< number of steps done before the window
  bool has_ends; ///< the program has schedules that begin and end a turn
  bool overlaps; ///< while a turn runs, the next turn's copies are fetched
  uint64_t reads,
      writes; ///< queues that read and write the store, as sets like
              ///< hfta_schedule_call.queues
} turns;

static const hfta_schedule *find(const turns *self, const char *name) {
  return hfta_program_find_schedule(self->instance->program, name);
}

/// Returns the set of queues to which a schedule's commands of one kind go: bit
/// q is queue q.
static uint64_t queues_of(const hfta_schedule *schedule,
                          hfta_command_kind kind) {
  uint64_t queues = 0;
  for (uint32_t i = 0; i < schedule->command_count; ++i)
    if (schedule->commands[i].kind == (uint32_t)kind)
      queues |= (uint64_t)1 << (schedule->commands[i].queue % 64);
  return queues;
}

/// Plans the fewest turns for which there is room, all of the same width.
/// hfta_program_check has checked that the width is given.
static turns plan_turns(hfta_instance *instance, hfta_window *window) {
  turns self = {
      .instance = instance, .window = window, .begin = instance->steps};
  const hfta_schedule *begin = find_begin(instance);
  self.has_ends = begin != NULL;
  self.most =
      begin ? (int64_t)begin->commands->bytes : instance->workload.slabs;
  self.count = hfta_turn_count(instance->live_count, self.most);
  if (!begin)
    return self;
  self.reads = queues_of(begin, HFTA_COMMAND_FETCH);
  self.writes = queues_of(find(&self, "end_turn"), HFTA_COMMAND_EVICT);
  self.overlaps =
      find(&self, "begin_turn_beside") && instance->program->queue_count < 64;
  return self;
}

/// Returns the call of a schedule for a turn's copies. Every other window runs
/// its turns in reverse order, so that it begins with the turn whose copies are
/// still in memory from the window before.
static hfta_schedule_call make_call(const turns *self, int64_t number,
                                    const char *name) {
  const hfta_instance *instance = self->instance;
  hfta_turn turn = hfta_find_turn(
      instance->live_count, self->most,
      instance->begins_with_last ? self->count - 1 - number : number);
  return (hfta_schedule_call){.name = name,
                              .micro_batches = instance->program->micro_batches,
                              .copies = instance->live + turn.first,
                              .first = turn.first,
                              .copy_count = turn.copies};
}

/// Returns whether a turn's copies have the second of two places in the arena.
/// The places are a double buffer: turns alternate between them.
static bool lies_beside(const turns *self, int64_t number) {
  return self->overlaps && (self->instance->last_lies_beside + number) % 2;
}

static hfta_schedule_call make_begin(const turns *self, int64_t number) {
  return make_call(self, number,
                   lies_beside(self, number) ? "begin_turn_beside"
                                             : "begin_turn");
}

static hfta_status wait_for(const turns *self, uint64_t queues) {
  hfta_device *device = self->instance->workers->device;
  return device->functions->wait_for(device, queues, &self->instance->error);
}

/// Fetches the next turn's copies into the place that the previous turn's
/// copies are leaving, without waiting. Events order the two transfers.
static hfta_status fetch_next(const turns *self, int64_t number) {
  hfta_schedule_call call = make_begin(self, number + 1);
  call.is_posted = call.is_ahead = true;
  return hfta_instance_run(self->instance, &call);
}

static hfta_status run_turn_step(const turns *self, int64_t number,
                                 int64_t step) {
  hfta_instance *instance = self->instance;
  hfta_window *window = self->window;
  hfta_schedule_call call =
      make_call(self, number, hfta_instance_window_schedule(instance));
  if (self->overlaps)
    call.queues = ~(self->reads | self->writes);
  hfta_status status = window->take(window->argument, step, &call.inputs);
  if (status != HFTA_OK)
    return status;
  double *losses = window->losses;
  return hfta_instance_run_step(
      instance, &call,
      losses ? losses + step * instance->program->copies : NULL);
}

/// Fetches a turn's copies and waits for them; where there is room, also begins
/// to fetch the next turn's copies.
static hfta_status begin_turn(const turns *self, int64_t number) {
  if (!self->has_ends)
    return HFTA_OK;
  hfta_schedule_call begin = make_begin(self, number);
  if (number > 0 && self->overlaps)
    begin.queues = self->reads;
  hfta_status status = hfta_instance_run(self->instance, &begin);
  return status == HFTA_OK && number + 1 < self->count && self->overlaps
             ? fetch_next(self, number)
             : status;
}

static hfta_status end_turn(const turns *self, int64_t number) {
  if (!self->has_ends)
    return HFTA_OK;
  hfta_schedule_call end = make_call(self, number, "end_turn");
  end.is_posted = number + 1 < self->count && self->overlaps;
  return hfta_instance_run(self->instance, &end);
}

/// Runs all steps of the window for one turn's copies.
static hfta_status run_turn(const turns *self, int64_t number) {
  hfta_window *window = self->window;
  self->instance->steps = self->begin;
  hfta_status status = begin_turn(self, number);
  for (int64_t step = 0; step < window->steps && status == HFTA_OK; ++step) {
    status = run_turn_step(self, number, step);
    if (status == HFTA_OK && number == 0 && window->ends &&
        step + 1 < window->steps && window->ends(window->argument))
      window->steps = step + 1;
  }
  return status == HFTA_OK ? end_turn(self, number) : status;
}

hfta_status hfta_instance_run_window(hfta_instance *instance,
                                     hfta_window *window) {
  turns self = plan_turns(instance, window);
  hfta_status status = HFTA_OK;
  int64_t losses = window->losses ? window->steps : 0;
  for (int64_t i = 0; i < losses * instance->program->copies; ++i)
    window->losses[i] = NAN;
  for (int64_t i = 0; i < self.count && status == HFTA_OK; ++i)
    status = run_turn(&self, i);
  if (status != HFTA_OK) {
    hfta_error reason = instance->error;
    wait_for(&self, UINT64_MAX);
    instance->error = reason;
    hfta_spill_forget(instance->workers);
  }
  instance->last_lies_beside = lies_beside(&self, self.count - 1);
  instance->begins_with_last = !instance->begins_with_last;
  return status;
}

//===----------------------------------------------------------------------===//
// A single step
//===----------------------------------------------------------------------===//

/// Provides the batch of a window of one step, the same for each turn
/// (hfta_window.take).
static hfta_status take_inputs(void *argument, int64_t step,
                               const void *const **inputs) {
  (void)step;
  *inputs = argument;
  return HFTA_OK;
}

/// Runs one step in turns, as a window. The offered batch is withdrawn first:
/// otherwise it would be copied ahead in the first turn, and the next turn's
/// call, not the next step, would find it.
static hfta_status step_in_turns(hfta_instance *instance,
                                 const void *const *inputs, double *losses) {
  hfta_window window = {.steps = 1,
                        .take = take_inputs,
                        .argument = (void *)(uintptr_t)inputs,
                        .losses = losses};
  hfta_instance_offer(instance, NULL);
  return hfta_instance_run_window(instance, &window);
}

hfta_status hfta_instance_step(hfta_instance *instance,
                               const void *const *inputs, double *losses) {
  inputs = hfta_made_inputs_add(instance, inputs);
  if (hfta_instance_turn_count(instance) > 1)
    return step_in_turns(instance, inputs, losses);
  hfta_schedule_call call = {.name = "step",
                             .inputs = inputs,
                             .micro_batches = instance->program->micro_batches};
  hfta_instance_clear_losses(instance, losses);
  return hfta_instance_run_step(instance, &call, losses);
}
