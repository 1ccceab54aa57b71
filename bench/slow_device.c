//===- slow_device.c - A CPU whose uploads take longer --------------------===//
//
// For bench/upload.py: a table of devices that replaces the runtime's. It has
// `cpu` and `slow:N`, a CPU on which each copy of a queue other than 0 begins N
// times 10 microseconds late. Nothing is computed in that time, as when a
// device does the copy. Link with -Wl,--wrap=memcpy.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { PLACES = 64 };

/// The destinations of the copies that are to be late. There are fewer fields
/// times instances than PLACES.
static _Atomic(void *) places[PLACES];
static _Atomic long delay; // in nanoseconds

static bool is_late(const void *to) {
  for (int i = 0; i < PLACES && places[i]; ++i)
    if (places[i] == to)
      return true;
  return false;
}

void *__real_memcpy(void *to, const void *from, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
  if (is_late(to)) {
    struct timespec time = {delay / 1000000000, delay % 1000000000};
    nanosleep(&time, NULL);
  }
  return __real_memcpy(to, from, bytes);
}

static void slow_copy(hfta_device *device, uint32_t queue, void *to,
                      const void *from, uint64_t bytes) {
  int place = 0;
  while (queue != 0 && !is_late(to) && place < PLACES && places[place])
    ++place;
  if (queue != 0 && !is_late(to) && place < PLACES)
    places[place] = to;
  hfta_device_cpu.copy(device, queue, to, from, bytes);
}

static hfta_status slow_open(const hfta_device_options *options,
                             hfta_device **out, hfta_error *error);

static hfta_device_functions slow = {.kind = "slow", .open = slow_open};

static hfta_status slow_open(const hfta_device_options *options,
                             hfta_device **out, hfta_error *error) {
  hfta_device_options own = *options;
  delay = 10000L * options->index;
  own.index = 0;
  hfta_status status = hfta_device_cpu.open(&own, out, error);
  if (status != HFTA_OK)
    return status;
  // Except for copies it behaves like the CPU.
  slow = hfta_device_cpu;
  slow.kind = "slow";
  slow.open = slow_open;
  slow.copy = slow_copy;
  (*out)->functions = &slow;
  return HFTA_OK;
}

const hfta_device_functions *const hfta_device_kinds[] = {&hfta_device_cpu,
                                                          &slow, NULL};
