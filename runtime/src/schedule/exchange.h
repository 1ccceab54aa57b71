//===- exchange.h - Messages in the turn of a queue -------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_EXCHANGE_H
#define HFTA_SRC_SCHEDULE_EXCHANGE_H

#include "hfta/device.h"

/// Messages that start and end together.
typedef struct hfta_exchange {
  hfta_communicator *communicator;
  hfta_post post;
} hfta_exchange;

/// The next of the messages, for which there is room. None of 0 bytes.
void hfta_exchange_add(hfta_exchange *self, int peer, bool sends, char *memory,
                       uint64_t bytes);

/// Posts and waits when the queue's work before it is done; nothing if there
/// are no messages. The exchange stays as long as the device.
void hfta_exchange_give(const hfta_exchange *self, hfta_device *device,
                        uint32_t queue);

#endif // HFTA_SRC_SCHEDULE_EXCHANGE_H
