//===- gpu_calls.c - Functions of the host that streams call --------------===//

#include "device/gpu/gpu_calls.h"

#include <stdlib.h>

void hfta_gpu_calls_open(hfta_gpu_calls *self) {
  pthread_mutex_init(&self->mutex, NULL);
}

void hfta_gpu_calls_close(hfta_gpu_calls *self) {
  hfta_gpu_calls_forget(self, UINT64_MAX);
  pthread_mutex_destroy(&self->mutex);
}

/// Runs a host function, on a thread of the driver, and keeps its error if it
/// is the first one.
static void make_call(void *argument) {
  const hfta_gpu_call *own = argument;
  hfta_gpu_calls *self = own->of;
  hfta_error error;
  if (own->call.function(own->call.argument, &error) == HFTA_OK)
    return;
  pthread_mutex_lock(&self->mutex);
  if (self->error.code == HFTA_OK) {
    self->error = error;
    self->failed = own->number;
  }
  pthread_mutex_unlock(&self->mutex);
}

hfta_gpu_result hfta_gpu_calls_give(hfta_gpu_calls *self, hfta_gpu *gpu,
                                    hfta_gpu_stream stream,
                                    const hfta_host_call *call) {
  hfta_gpu_call *own = calloc(1, sizeof(*own));
  if (!own)
    return hfta_gpu_lacks_host_memory;
  *own = (hfta_gpu_call){self, *call, self->count++, self->last};
  self->last = own;
  return gpu->driver->stream_call(gpu, stream, make_call, own);
}

void hfta_gpu_calls_forget(hfta_gpu_calls *self, uint64_t end) {
  hfta_gpu_call **link = &self->last;
  while (*link && (*link)->number >= end)
    link = &(*link)->next;
  hfta_gpu_call *done = *link;
  *link = NULL;
  while (done) {
    hfta_gpu_call *next = done->next;
    free(done);
    done = next;
  }
}

hfta_status hfta_gpu_calls_take_error(hfta_gpu_calls *self, uint64_t end,
                                      hfta_error *error) {
  pthread_mutex_lock(&self->mutex);
  hfta_status status = self->failed < end ? self->error.code : HFTA_OK;
  if (status != HFTA_OK) {
    hfta_fail(error, status, "%s", self->error.message);
    self->error.code = HFTA_OK;
  }
  pthread_mutex_unlock(&self->mutex);
  return status;
}
