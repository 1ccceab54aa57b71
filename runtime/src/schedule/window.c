//===- window.c - Several steps, turn by turn -----------------------------===//

#include "schedule/window.h"

#include "schedule/instance_impl.h"

#include <math.h>

bool hfta_instance_takes_windows(const hfta_instance *instance) {
  return instance->communicator->size == 1 && !instance->group &&
         hfta_program_find_schedule(instance->program, "turn_step");
}

/// How many copies there is room for, which hfta_program_check has seen.
static int64_t copies_of_turn(const hfta_instance *instance) {
  const hfta_schedule *schedule =
      hfta_program_find_schedule(instance->program, "begin_turn");
  return (int64_t)schedule->commands->bytes;
}

static hfta_status run_turn_step(hfta_instance *instance,
                                 const hfta_window *window,
                                 hfta_schedule_call *call, int64_t step) {
  hfta_status status = window->take(window->argument, step, &call->inputs);
  call->name = "turn_step";
  if (status != HFTA_OK)
    return status;
  return hfta_instance_run_step(
      instance, call, &window->losses[step * instance->program->copies]);
}

/// One turn's copies go through all steps.
static hfta_status run_turn(hfta_instance *instance, hfta_window *window,
                            hfta_schedule_call *call, bool is_first) {
  call->name = "begin_turn";
  hfta_status status = hfta_instance_run(instance, call);
  for (int64_t step = 0; step < window->steps && status == HFTA_OK; ++step) {
    status = run_turn_step(instance, window, call, step);
    if (status == HFTA_OK && is_first && window->ends &&
        step + 1 < window->steps && window->ends(window->argument))
      window->steps = step + 1;
  }
  call->name = "end_turn";
  return status == HFTA_OK ? hfta_instance_run(instance, call) : status;
}

hfta_status hfta_instance_run_window(hfta_instance *instance,
                                     hfta_window *window) {
  const hfta_program *program = instance->program;
  int64_t begin = instance->steps, most = copies_of_turn(instance);
  int64_t turns = (instance->live_count + most - 1) / most;
  int64_t each = (instance->live_count + turns - 1) / turns;
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < window->steps * program->copies; ++i)
    window->losses[i] = NAN;
  for (int64_t i = 0; i < turns && status == HFTA_OK; ++i) {
    // What came last is still there.
    int64_t turn = instance->begins_with_last ? turns - 1 - i : i;
    int64_t left = instance->live_count - turn * each;
    hfta_schedule_call call = {.micro_batches = program->micro_batches,
                               .copies = instance->live + turn * each,
                               .first = turn * each,
                               .copy_count = left < each ? left : each};
    instance->steps = begin;
    status = run_turn(instance, window, &call, i == 0);
  }
  instance->begins_with_last = !instance->begins_with_last;
  return status;
}
