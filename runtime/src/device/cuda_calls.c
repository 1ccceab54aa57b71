//===- cuda_calls.c - Functions of the host that streams call -------------===//

#include "device/cuda_calls.h"

#include <stdlib.h>

void hfta_cuda_calls_open(hfta_cuda_calls *self) {
  pthread_mutex_init(&self->mutex, NULL);
}

void hfta_cuda_calls_close(hfta_cuda_calls *self) {
  hfta_cuda_calls_forget(self, UINT64_MAX);
  pthread_mutex_destroy(&self->mutex);
}

/// Runs a host function, on a thread of the driver, and keeps its error if it
/// is the first one.
static void make_call(void *argument) {
  const hfta_cuda_call *own = argument;
  hfta_cuda_calls *self = own->of;
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

hfta_cu_result hfta_cuda_calls_give(hfta_cuda_calls *self,
                                    const hfta_cuda *cuda,
                                    hfta_cu_stream stream,
                                    const hfta_host_call *call) {
  hfta_cuda_call *own = calloc(1, sizeof(*own));
  if (!own)
    return HFTA_CU_OUT_OF_MEMORY;
  *own = (hfta_cuda_call){self, *call, self->count++, self->last};
  self->last = own;
  return cuda->launch_host(stream, make_call, own);
}

void hfta_cuda_calls_forget(hfta_cuda_calls *self, uint64_t end) {
  hfta_cuda_call **link = &self->last;
  while (*link && (*link)->number >= end)
    link = &(*link)->next;
  hfta_cuda_call *done = *link;
  *link = NULL;
  while (done) {
    hfta_cuda_call *next = done->next;
    free(done);
    done = next;
  }
}

hfta_status hfta_cuda_calls_take_error(hfta_cuda_calls *self, uint64_t end,
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
