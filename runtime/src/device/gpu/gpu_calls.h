//===- gpu_calls.h - Host functions that streams call -----------*- C -*-===//
//
// A stream calls host functions on a thread of the driver, so functions of
// several streams may run at the same time. The first error is kept until the
// owner of the device takes it.
//
// Threads: only the device's thread calls the functions of this file; the host
// functions themselves run on threads of the driver.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_CALLS_H
#define HFTA_SRC_DEVICE_GPU_GPU_CALLS_H

#include "device/gpu/gpu_driver.h"
#include "hfta/device.h"

#include <pthread.h>

/// The record of a host function that was given to a stream.
typedef struct hfta_gpu_call {
  struct hfta_gpu_calls *of;
  hfta_host_call call;
  uint64_t number; ///< the call's position among all calls, counted from 0
  struct hfta_gpu_call *next;
} hfta_gpu_call;

typedef struct hfta_gpu_calls {
  hfta_gpu_call *last; ///< the most recent call whose record wasn't freed yet;
                       ///< each record links to the call before it
  uint64_t count; ///< the number of calls that were given to streams so far
  pthread_mutex_t mutex; ///< protects `failed` and `error`
  uint64_t failed;       ///< the number of the call that failed with `error`
  hfta_error error; ///< the first error; its code is HFTA_OK if no call has
                    ///< failed
} hfta_gpu_calls;

void hfta_gpu_calls_open(hfta_gpu_calls *self);

/// Frees all records. The streams must have run all calls.
void hfta_gpu_calls_close(hfta_gpu_calls *self);

/// Gives a stream a host function to call after its earlier work; `call` is
/// copied. Returns the driver's result, or hfta_gpu_lacks_host_memory if there
/// is no memory for the record.
hfta_gpu_result hfta_gpu_calls_give(hfta_gpu_calls *self, hfta_gpu *gpu,
                                    hfta_gpu_stream stream,
                                    const hfta_host_call *call);

/// Frees the records of the calls with numbers below `end`, all of which must
/// have run.
void hfta_gpu_calls_forget(hfta_gpu_calls *self, uint64_t end);

/// Returns and clears the kept error, if the number of its call is below `end`.
/// Otherwise returns HFTA_OK and keeps the error, if there is one.
hfta_status hfta_gpu_calls_take_error(hfta_gpu_calls *self, uint64_t end,
                                      hfta_error *error);

#endif // HFTA_SRC_DEVICE_GPU_GPU_CALLS_H
