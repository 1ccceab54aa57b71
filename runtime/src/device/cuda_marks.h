//===- cuda_marks.h - Points in the work of all streams ---------*- C -*-===//
//
// The marks of a device, as device.h has them: what any stream gets behind one
// begins when all streams have done what they had got before it, and the host
// waits for that alone, while they work on what came behind it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MARKS_H
#define HFTA_SRC_DEVICE_CUDA_MARKS_H

#include "device/cuda_driver.h"
#include "hfta/device.h"

typedef struct hfta_cuda_marks {
  const hfta_cuda *cuda;
  const hfta_cu_stream *streams; ///< borrowed
  uint32_t stream_count;
  hfta_cu_event *reached; ///< of each stream: what it got before the last mark
  hfta_cu_event events[HFTA_DEVICE_MARKS];
} hfta_cuda_marks;

// Each gives the first result that isn't 0; `call` is that of the driver then.
// The context is current.

/// After a failure too, hfta_cuda_marks_close frees what there is.
hfta_cu_result hfta_cuda_marks_open(hfta_cuda_marks *self,
                                    const hfta_cuda *cuda,
                                    const hfta_cu_stream *streams,
                                    uint32_t stream_count, const char **call);
void hfta_cuda_marks_close(hfta_cuda_marks *self);

hfta_cu_result hfta_cuda_marks_set(hfta_cuda_marks *self, uint32_t number,
                                   const char **call);

#endif // HFTA_SRC_DEVICE_CUDA_MARKS_H
