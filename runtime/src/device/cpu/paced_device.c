//===- paced_device.c - A CPU whose tasks take the times in a file --------===//
//
// Schedules, transfers and messages are executed as on the CPU, but tasks only
// sleep, for times from a file. So schedules of many ranks can be measured on
// few processors. If a sleep takes too long, the next task of the queue sleeps
// less, provided that it follows immediately.
//===----------------------------------------------------------------------===//

#include "device/cpu/costs.h"
#include "device/cpu/cpu_device.h"
#include "system/clock.h"

#include <errno.h>
#include <stdlib.h>

/// The longest gap, in seconds, between two tasks of a queue of which the
/// second counts as following immediately.
static const double at_once = 100e-6;

/// The times at which the last task of a queue should have ended, and did end.
typedef struct pace {
  double planned, ended;
} pace;

typedef struct paced_device {
  hfta_cpu_device cpu;
  hfta_device_functions functions;
  double *seconds; ///< for each task, the duration of one run
  pace *paces;     ///< for each queue; used only by the queue's thread
} paced_device;

static void sleep_until(double time) {
  struct timespec end = hfta_clock_after(time - hfta_now());
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
    ;
}

static hfta_status run(void *argument, uint32_t queue, uint32_t task,
                       const hfta_task_call *call, hfta_error *error) {
  (void)call;
  (void)error;
  paced_device *self = argument;
  pace *own = &self->paces[queue];
  double now = hfta_now();
  bool follows = now - own->ended < at_once;
  own->planned = (follows ? own->planned : now) + self->seconds[task];
  if (own->planned > now)
    sleep_until(own->planned);
  own->ended = hfta_now();
  return HFTA_OK;
}

static void paced_close(hfta_device *device) {
  paced_device *self = (paced_device *)device;
  hfta_cpu_device_end(&self->cpu);
  free(self->seconds);
  free(self->paces);
  free(self);
}

static hfta_status begin(paced_device *self, const hfta_device_options *options,
                         hfta_error *error) {
  const hfta_program *program = options->program;
  self->functions = hfta_device_cpu;
  self->functions.kind = hfta_device_paced.kind;
  self->functions.takes_file = true;
  self->functions.close = paced_close;
  self->cpu.base.functions = &self->functions;
  self->seconds =
      calloc((size_t)program->task_count + 1, sizeof(*self->seconds));
  self->paces = calloc((size_t)options->queues + 1, sizeof(*self->paces));
  if (!self->seconds || !self->paces)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status =
      hfta_costs_read(options->file, program, self->seconds, error);
  if (status == HFTA_OK)
    status = hfta_cpu_device_begin(&self->cpu, options, error);
  if (status == HFTA_OK)
    hfta_queues_run_by(self->cpu.queues, &(hfta_task_runner){run, self});
  return status;
}

static hfta_status paced_open(const hfta_device_options *options,
                              hfta_device **out, hfta_error *error) {
  *out = NULL;
  paced_device *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = begin(self, options, error);
  if (status == HFTA_OK)
    *out = &self->cpu.base;
  else
    paced_close(&self->cpu.base);
  return status;
}

const hfta_device_functions hfta_device_paced = {
    .kind = "paced", .takes_file = true, .open = paced_open};
