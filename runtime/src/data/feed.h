//===- feed.h - Batches, prefetched -----------------------------*- C -*-===//
//
// A feed's own thread gathers batch n + 2 while batch n is in use and batch n +
// 1 is on its way to the device: three buffers of one batch each, and one more
// where steps run ahead and batch n - 1 may also be in use. Training feeds
// count steps over all epochs, drop an epoch's last partial batch and shuffle;
// evaluation feeds give the samples once in order and pad the last batch with
// its last sample.
//
// A rank gathers only those parts of a batch that its workers read; the other
// parts of its buffers stay untouched.
//
// Threads: one consumer. The dataset, and `reads`, must outlive the feed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_FEED_H
#define HFTA_SRC_DATA_FEED_H

#include "data/dataset.h"
#include "hfta/device.h"
#include "schedule/ahead.h"

typedef struct hfta_feed hfta_feed;

/// Returns the number of steps of one epoch: whole batches only.
int64_t hfta_steps_per_epoch(const hfta_dataset *dataset);

/// The batches that a feed gives, and how long they are valid.
typedef struct hfta_feed_span {
  int64_t first, end; ///< batches `first` .. `end` - 1
  int64_t held;       ///< number of given batches that stay valid: 1 up to
                      ///< HFTA_MOST_POSTED_STEPS
  const hfta_observer *observer; ///< receives each HFTA_ACTIVITY_READ, on the
                                 ///< feed's thread; must outlive the feed;
                                 ///< NULL: none
} hfta_feed_span;

/// Starts a feed for training; batches are numbered by the 0-based steps of the
/// whole training. Only the micro-batches in `reads` are gathered, see
/// hfta_instance_reads.
hfta_status hfta_feed_start_training(const hfta_dataset *dataset,
                                     const bool *reads,
                                     const hfta_feed_span *span,
                                     hfta_feed **out, hfta_error *error);

hfta_status hfta_feed_start_evaluation(const hfta_dataset *dataset,
                                       const bool *reads, hfta_feed **out,
                                       hfta_error *error);

/// Waits for the next batch. `*inputs`, one pointer per field, is valid until
/// the feed has given as many more batches as it holds; NULL after the last
/// batch. Only the first `*valid` samples are real.
hfta_status hfta_feed_next(hfta_feed *feed, const void *const **inputs,
                           int64_t *valid, hfta_error *error);

/// Offers the instance the batch that the next call will take, if it has been
/// gathered already.
void hfta_feed_offer(hfta_feed *feed, hfta_instance *instance);

/// Returns the memory that holds all of its batches, in pages of their own.
void *hfta_feed_memory(const hfta_feed *feed, uint64_t *bytes);

/// Ends the thread and frees the feed. NULL is allowed.
void hfta_feed_stop(hfta_feed *feed);

#endif // HFTA_SRC_DATA_FEED_H
