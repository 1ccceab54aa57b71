//===- feed.h - Batches, prefetched -----------------------------*- C -*-===//
//
// A feed's own thread gathers batch n + 2 while batch n is in use and batch n +
// 1 is on its way to the device: three buffers of one batch each, and one more
// where steps run ahead and batch n - 1 may be in use, too. Training
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
#include "schedule/ahead.h"

typedef struct hfta_feed hfta_feed;

/// Steps of one epoch: whole batches only.
int64_t hfta_steps_per_epoch(const hfta_dataset *dataset);

/// Which batches a feed gives, and how long.
typedef struct hfta_feed_span {
  int64_t first, end; ///< batches `first` .. `end` - 1
  int64_t held;       ///< how many batches that were given stay valid: 1 up to
                      ///< HFTA_MOST_POSTED_STEPS
  const hfta_observer *observer; ///< told of each HFTA_ACTIVITY_READ, on the
                                 ///< feed's thread; it must outlive the feed.
                                 ///< NULL: nobody is
} hfta_feed_span;

/// Batches of a training, in 0-based steps of all of it, of which what `reads`
/// says is gathered, as hfta_instance_reads.
hfta_status hfta_feed_start_training(const hfta_dataset *dataset,
                                     const bool *reads,
                                     const hfta_feed_span *span,
                                     hfta_feed **out, hfta_error *error);

hfta_status hfta_feed_start_evaluation(const hfta_dataset *dataset,
                                       const bool *reads, hfta_feed **out,
                                       hfta_error *error);

/// Waits for the next batch. `*inputs`, one pointer a field, is valid until
/// so many more have been given as the feed holds; NULL after the last batch.
/// `*valid` of its samples are real.
hfta_status hfta_feed_next(hfta_feed *feed, const void *const **inputs,
                           int64_t *valid, hfta_error *error);

/// Offers the batch that the next call will take, if it has been gathered
/// already.
void hfta_feed_offer(hfta_feed *feed, hfta_instance *instance);

/// Where all of its batches lie, in pages of their own.
void *hfta_feed_memory(const hfta_feed *feed, uint64_t *bytes);

/// Ends the thread and frees the feed. NULL is allowed.
void hfta_feed_stop(hfta_feed *feed);

#endif // HFTA_SRC_DATA_FEED_H
