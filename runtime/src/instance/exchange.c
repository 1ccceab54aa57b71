//===- exchange.c - Messages in the turn of a queue -----------------------===//

#include "instance/exchange.h"

void hfta_exchange_add(hfta_exchange *self, int peer, bool sends, char *memory,
                       uint64_t bytes) {
  hfta_message *messages = (hfta_message *)(uintptr_t)self->post.messages;
  if (bytes > 0)
    messages[self->post.count++] = (hfta_message){peer, sends, memory, bytes};
}

static hfta_status post_and_wait(void *argument, hfta_error *error) {
  const hfta_exchange *self = argument;
  return hfta_communicator_complete(self->communicator, &self->post, error);
}

void hfta_exchange_give(const hfta_exchange *self, hfta_device *device,
                        uint32_t queue) {
  hfta_host_call call = {post_and_wait, (void *)(uintptr_t)self, &self->post};
  if (self->post.count > 0)
    device->functions->call(device, queue, &call);
}
