//===- exchange.h - Messages in the turn of a queue -------------*- C -*-===//

#ifndef HFTA_SRC_INSTANCE_EXCHANGE_H
#define HFTA_SRC_INSTANCE_EXCHANGE_H

#include "hfta/device.h"

/// The messages of one post, which a queue of a device posts and waits for.
typedef struct hfta_exchange {
  hfta_communicator *communicator;
  hfta_post post;
} hfta_exchange;

/// Adds a message, for which `self->post.messages` must have room. A message of
/// 0 bytes is left out.
void hfta_exchange_add(hfta_exchange *self, int peer, bool sends, char *memory,
                       uint64_t bytes);

/// Makes the queue post the messages when its earlier work is done, and wait
/// for their end. Does nothing if there are no messages. The exchange must live
/// as long as the device.
void hfta_exchange_give(const hfta_exchange *self, hfta_device *device,
                        uint32_t queue);

#endif // HFTA_SRC_INSTANCE_EXCHANGE_H
