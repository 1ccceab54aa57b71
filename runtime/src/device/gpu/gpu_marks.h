//===- gpu_marks.h - Barriers across all streams -----------------*- C -*-===//
//
// The marks of a device (see device.h). A mark is a barrier across all streams:
// work after it begins only when all streams have done the work before it. The
// host can wait for a mark while the streams go on with later work.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_MARKS_H
#define HFTA_SRC_DEVICE_GPU_GPU_MARKS_H

#include "device/gpu/gpu_driver.h"
#include "hfta/device.h"

typedef struct hfta_gpu_marks {
  hfta_gpu *gpu;                  ///< borrowed
  const hfta_gpu_stream *streams; ///< borrowed
  uint32_t stream_count;
  hfta_gpu_event *reached; ///< an event for each stream: the end of its work
                           ///< before the last mark
  hfta_gpu_event events[HFTA_DEVICE_MARKS];
} hfta_gpu_marks;

// Each function returns the result of the first call that fails.

/// Creates the events. Even after a failure hfta_gpu_marks_close must be
/// called, to free what was created. `streams` is borrowed.
hfta_gpu_result hfta_gpu_marks_open(hfta_gpu_marks *self, hfta_gpu *gpu,
                                    const hfta_gpu_stream *streams,
                                    uint32_t stream_count);
void hfta_gpu_marks_close(hfta_gpu_marks *self);

hfta_gpu_result hfta_gpu_marks_set(hfta_gpu_marks *self, uint32_t number);

#endif // HFTA_SRC_DEVICE_GPU_GPU_MARKS_H
