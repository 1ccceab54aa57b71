//===- slow_device.c - A CPU device with slow uploads ---------------------===//
//
// A table of devices for bench/upload.py, which replaces the runtime's table of
// devices that belong to no target. It has the device `slow:N`, on which each
// copy of a queue other than 0, which transfers a field of a batch, is delayed
// by N times 10 microseconds. The queue's thread sleeps meanwhile, so that it
// takes no processor time, as when a DMA engine copies.
//
// The CPU device copies by memcpy, so the delay is added in a wrapper of
// memcpy: link with -Wl,--wrap=memcpy.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { PLACES = 64 };

/// The destinations of delayed copies; the first NULL ends the list. A program
/// has one destination per field and instance, which must be fewer than PLACES.
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

/// Copies as the CPU device does, but notes the destination, so that the
/// wrapper of memcpy delays the copy.
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
  // All functions except the copy are those of the CPU device.
  slow = hfta_device_cpu;
  slow.kind = "slow";
  slow.open = slow_open;
  slow.copy = slow_copy;
  (*out)->functions = &slow;
  return HFTA_OK;
}

const hfta_device_functions *const hfta_device_kinds[] = {&slow, NULL};
