//===- cuda_marks.h - Barriers across all streams -----------------*- C -*-===//
//
// The marks of a device (see device.h). A mark is a barrier across all streams:
// work after it begins only when all streams have done the work before it. The
// host can wait for a mark while the streams go on with later work.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MARKS_H
#define HFTA_SRC_DEVICE_CUDA_MARKS_H

#include "device/cuda_driver.h"
#include "hfta/device.h"

typedef struct hfta_cuda_marks {
  const hfta_cuda *cuda;
  const hfta_cu_stream *streams; ///< borrowed
  uint32_t stream_count;
  hfta_cu_event *reached; ///< an event for each stream: the end of its work
                          ///< before the last mark
  hfta_cu_event events[HFTA_DEVICE_MARKS];
} hfta_cuda_marks;

// Each function returns the first driver result that isn't 0; `*call` is then
// the name of the driver call. The GPU's context must be current.

/// Creates the events. Even after a failure hfta_cuda_marks_close must be
/// called, to free what was created. `streams` is borrowed.
hfta_cu_result hfta_cuda_marks_open(hfta_cuda_marks *self,
                                    const hfta_cuda *cuda,
                                    const hfta_cu_stream *streams,
                                    uint32_t stream_count, const char **call);
void hfta_cuda_marks_close(hfta_cuda_marks *self);

hfta_cu_result hfta_cuda_marks_set(hfta_cuda_marks *self, uint32_t number,
                                   const char **call);

#endif // HFTA_SRC_DEVICE_CUDA_MARKS_H
