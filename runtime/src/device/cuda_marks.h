//===- cuda_marks.h - Points in the work of all streams ---------*- C -*-===//
//
// The marks of a device (see device.h). Work that any stream gets after a mark
// begins only when all streams have done the work that they got before it. The
// host can wait for a mark alone while the streams go on with later work.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MARKS_H
#define HFTA_SRC_DEVICE_CUDA_MARKS_H

#include "device/cuda_driver.h"
#include "hfta/device.h"

typedef struct hfta_cuda_marks {
  const hfta_cuda *cuda;
  const hfta_cu_stream *streams; ///< borrowed
  uint32_t stream_count;
  hfta_cu_event *reached; ///< one for each stream: the end of its work before
                          ///< the last mark
  hfta_cu_event events[HFTA_DEVICE_MARKS];
} hfta_cuda_marks;

// Each function returns the first driver result that isn't 0; `call` then names
// the driver's call. The GPU's context must be current.

/// hfta_cuda_marks_close must be called even after a failure: it frees whatever
/// was made.
hfta_cu_result hfta_cuda_marks_open(hfta_cuda_marks *self,
                                    const hfta_cuda *cuda,
                                    const hfta_cu_stream *streams,
                                    uint32_t stream_count, const char **call);
void hfta_cuda_marks_close(hfta_cuda_marks *self);

hfta_cu_result hfta_cuda_marks_set(hfta_cuda_marks *self, uint32_t number,
                                   const char **call);

#endif // HFTA_SRC_DEVICE_CUDA_MARKS_H
