//===- feed.h - Batches, prefetched -----------------------------*- C -*-===//
//
// A feed's own thread gathers batch n + 2 while batch n is in use and batch n +
// 1 is on its way to the device: three buffers of one batch each. Training
// feeds count steps over all epochs, drop an epoch's last partial batch and
// shuffle; evaluation feeds go once through the samples in order and pad the
// last batch with its last sample.
//
// Of each batch a rank gathers what its workers read alone; what it has memory
// for besides stays untouched.
//
// Threads: one consumer. The dataset, and what is read, must outlive the feed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_FEED_H
#define HFTA_SRC_DATA_FEED_H

#include "data/dataset.h"
#include "hfta/device.h"
#include "hfta/instance.h"

typedef struct hfta_feed hfta_feed;

/// Steps of one epoch: whole batches only.
int64_t hfta_steps_per_epoch(const hfta_dataset *dataset);

/// Batches `first` .. `end` - 1 (0-based steps of the whole training), of which
/// what `reads` says is gathered, as hfta_instance_reads. The
/// observer is told of each HFTA_ACTIVITY_READ, on the feed's thread; it must
/// outlive the feed. NULL: nobody is.
hfta_status hfta_feed_start_training(const hfta_dataset *dataset,
                                     const bool *reads, int64_t first,
                                     int64_t end, const hfta_observer *observer,
                                     hfta_feed **out, hfta_error *error);

hfta_status hfta_feed_start_evaluation(const hfta_dataset *dataset,
                                       const bool *reads, hfta_feed **out,
                                       hfta_error *error);

/// Waits for the next batch. `*inputs`, one pointer a field, is valid until
/// the next call; NULL after the last batch. `*valid` of its samples are real.
hfta_status hfta_feed_next(hfta_feed *feed, const void *const **inputs,
                           int64_t *valid, hfta_error *error);

/// Offers the batch that the next call will take, if it has been gathered
/// already.
void hfta_feed_offer(hfta_feed *feed, hfta_instance *instance);

/// Ends the thread and frees the feed. NULL is allowed.
void hfta_feed_stop(hfta_feed *feed);

#endif // HFTA_SRC_DATA_FEED_H
