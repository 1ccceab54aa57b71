//===- gpu_marks.c - Barriers across all streams --------------------------===//

#include "device/gpu/gpu_marks.h"

#include <stdlib.h>

hfta_gpu_result hfta_gpu_marks_open(hfta_gpu_marks *self, hfta_gpu *gpu,
                                    const hfta_gpu_stream *streams,
                                    uint32_t stream_count) {
  const hfta_gpu_driver *driver = gpu->driver;
  self->gpu = gpu;
  self->streams = streams;
  self->stream_count = stream_count;
  self->reached = calloc(stream_count, sizeof(*self->reached));
  if (!self->reached)
    return hfta_gpu_lacks_host_memory;
  hfta_gpu_result result = hfta_gpu_success;
  for (uint32_t i = 0; i < stream_count && result.code == 0; ++i)
    result = driver->event_create(gpu, &self->reached[i]);
  for (uint32_t i = 0; i < HFTA_DEVICE_MARKS && result.code == 0; ++i)
    result = driver->event_create(gpu, &self->events[i]);
  return result;
}

void hfta_gpu_marks_close(hfta_gpu_marks *self) {
  for (uint32_t i = 0; self->reached && i < self->stream_count; ++i)
    if (self->reached[i])
      self->gpu->driver->event_destroy(self->gpu, self->reached[i]);
  for (uint32_t i = 0; i < HFTA_DEVICE_MARKS; ++i)
    if (self->events[i])
      self->gpu->driver->event_destroy(self->gpu, self->events[i]);
  free(self->reached);
}

/// Implements the barrier: the first stream waits for all others and records
/// the mark's event, then the others wait for that event.
hfta_gpu_result hfta_gpu_marks_set(hfta_gpu_marks *self, uint32_t number) {
  hfta_gpu *gpu = self->gpu;
  const hfta_gpu_driver *driver = gpu->driver;
  const hfta_gpu_stream *streams = self->streams;
  hfta_gpu_event event = self->events[number];
  hfta_gpu_result result = hfta_gpu_success;
  for (uint32_t i = 1; i < self->stream_count && result.code == 0; ++i) {
    result = driver->event_record(gpu, self->reached[i], streams[i]);
    if (result.code == 0)
      result = driver->stream_wait(gpu, streams[0], self->reached[i]);
  }
  if (result.code == 0)
    result = driver->event_record(gpu, event, streams[0]);
  for (uint32_t i = 1; i < self->stream_count && result.code == 0; ++i)
    result = driver->stream_wait(gpu, streams[i], event);
  return result;
}
