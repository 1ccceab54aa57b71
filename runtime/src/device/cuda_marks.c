//===- cuda_marks.c - Barriers across all streams -------------------------===//

#include "device/cuda_marks.h"

#include <stdlib.h>

hfta_cu_result hfta_cuda_marks_open(hfta_cuda_marks *self,
                                    const hfta_cuda *cuda,
                                    const hfta_cu_stream *streams,
                                    uint32_t stream_count, const char **call) {
  self->cuda = cuda;
  self->streams = streams;
  self->stream_count = stream_count;
  self->reached = calloc(stream_count, sizeof(*self->reached));
  *call = "cuEventCreate";
  hfta_cu_result result = self->reached ? 0 : HFTA_CU_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < stream_count && result == 0; ++i)
    result =
        cuda->event_create(&self->reached[i], HFTA_CU_EVENT_DISABLE_TIMING);
  for (uint32_t i = 0; i < HFTA_DEVICE_MARKS && result == 0; ++i)
    result = cuda->event_create(&self->events[i], HFTA_CU_EVENT_DISABLE_TIMING);
  return result;
}

void hfta_cuda_marks_close(hfta_cuda_marks *self) {
  for (uint32_t i = 0; self->reached && i < self->stream_count; ++i)
    if (self->reached[i])
      self->cuda->event_destroy(self->reached[i]);
  for (uint32_t i = 0; i < HFTA_DEVICE_MARKS; ++i)
    if (self->events[i])
      self->cuda->event_destroy(self->events[i]);
  free(self->reached);
}

/// Implements the barrier: the first stream waits for all others and records
/// the mark's event, then the others wait for that event.
hfta_cu_result hfta_cuda_marks_set(hfta_cuda_marks *self, uint32_t number,
                                   const char **call) {
  const hfta_cuda *cuda = self->cuda;
  const hfta_cu_stream *streams = self->streams;
  hfta_cu_event event = self->events[number];
  hfta_cu_result result = 0;
#define HFTA_CU_TRY(name, value)                                               \
  if (result == 0) {                                                           \
    *call = name;                                                              \
    result = (value);                                                          \
  }
  for (uint32_t i = 1; i < self->stream_count; ++i) {
    HFTA_CU_TRY("cuEventRecord",
                cuda->event_record(self->reached[i], streams[i]))
    HFTA_CU_TRY("cuStreamWaitEvent",
                cuda->stream_wait(streams[0], self->reached[i], 0))
  }
  HFTA_CU_TRY("cuEventRecord", cuda->event_record(event, streams[0]))
  for (uint32_t i = 1; i < self->stream_count; ++i)
    HFTA_CU_TRY("cuStreamWaitEvent", cuda->stream_wait(streams[i], event, 0))
#undef HFTA_CU_TRY
  return result;
}
