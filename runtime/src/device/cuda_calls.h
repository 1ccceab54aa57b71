//===- cuda_calls.h - Host functions that streams call ----------*- C -*-===//
//
// A stream calls host functions on a thread of the driver, so that functions of
// several streams may run at the same time. The first error is kept until the
// owner of the device takes it.
//
// Threads: all functions are called on the thread of the device; the host
// functions themselves run on threads of the driver.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_CALLS_H
#define HFTA_SRC_DEVICE_CUDA_CALLS_H

#include "device/cuda_driver.h"
#include "hfta/device.h"

#include <pthread.h>

/// The record of a host function that a stream was given.
typedef struct hfta_cuda_call {
  struct hfta_cuda_calls *of;
  hfta_host_call call;
  uint64_t number; ///< its position among all calls, counted from 0
  struct hfta_cuda_call *next;
} hfta_cuda_call;

typedef struct hfta_cuda_calls {
  hfta_cuda_call *last;  ///< the last call that may be unfinished; each record
                         ///< links to the call before it
  uint64_t count;        ///< number of all calls that were given to streams
  pthread_mutex_t mutex; ///< protects `failed` and `error`
  uint64_t failed;       ///< number of the call that `error` is of
  hfta_error error;      ///< the first error; code HFTA_OK: no call has failed
} hfta_cuda_calls;

void hfta_cuda_calls_open(hfta_cuda_calls *self);

/// Frees all records; the streams must have made all of their calls.
void hfta_cuda_calls_close(hfta_cuda_calls *self);

/// Gives a stream a call, which is copied, to make after its earlier work.
/// Returns HFTA_CU_OUT_OF_MEMORY if the host has no memory for the record, else
/// the driver's result.
hfta_cu_result hfta_cuda_calls_give(hfta_cuda_calls *self,
                                    const hfta_cuda *cuda,
                                    hfta_cu_stream stream,
                                    const hfta_host_call *call);

/// Frees the records of the calls with numbers below `end`, which must all be
/// done.
void hfta_cuda_calls_forget(hfta_cuda_calls *self, uint64_t end);

/// Returns and clears the first error since one was last taken, if its call has
/// a number below `end`. Otherwise keeps it and returns HFTA_OK.
hfta_status hfta_cuda_calls_take_error(hfta_cuda_calls *self, uint64_t end,
                                       hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_CALLS_H
