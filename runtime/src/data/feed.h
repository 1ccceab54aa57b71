//===- feed.h - Batches, prefetched -----------------------------*- C -*-===//
//
// A feed prefetches batches: its thread gathers samples into batch n + 2 while
// batch n + 1 is on its way to the device and batch n is in use. For this it
// has three buffers of a batch each, and a fourth one where a GPU is given
// steps ahead, so that batch n - 1 may still be in use too.
//
// A training feed numbers batches over all epochs, shuffles each epoch, and
// drops its last partial batch. An evaluation feed returns the samples once and
// in order, and pads the last batch with copies of the last sample.
//
// A rank gathers only the micro-batches that its workers read. The rest of its
// buffers stays untouched.
//
// Threads: one thread takes the batches. The dataset and `reads` must outlive
// the feed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_FEED_H
#define HFTA_SRC_DATA_FEED_H

#include "data/dataset.h"
#include "hfta/device.h"
#include "hfta/instance.h"
#include "workload/memory_plan.h"

typedef struct hfta_feed hfta_feed;

/// Returns the number of steps of one epoch, which is that of whole batches.
int64_t hfta_steps_per_epoch(const hfta_dataset *dataset);

/// The range of batches that a feed returns, and for how long they stay valid.
typedef struct hfta_feed_span {
  int64_t first, end; ///< batches `first` .. `end` - 1
  int64_t held; ///< the number of returned batches that stay valid at a time,
                ///< from 1 to HFTA_MOST_POSTED_STEPS
  /// Receives each HFTA_ACTIVITY_READ on the feed's thread; must outlive the
  /// feed. NULL: no observer.
  const hfta_observer *observer;
} hfta_feed_span;

/// Starts a feed for training. Batches are numbered by the training's steps,
/// from 0. reads[field * micro_batches + m] says whether micro-batch m of a
/// field is gathered (hfta_instance_reads). On failure, `*out` is NULL.
hfta_status hfta_feed_start_training(const hfta_dataset *dataset,
                                     const bool *reads,
                                     const hfta_feed_span *span,
                                     hfta_feed **out, hfta_error *error);

/// Starts a feed that returns all samples of the dataset once.
hfta_status hfta_feed_start_evaluation(const hfta_dataset *dataset,
                                       const bool *reads, hfta_feed **out,
                                       hfta_error *error);

/// Waits for the next batch. Sets `*inputs` to one pointer per field, or to
/// NULL after the last batch. The batch stays valid until the feed has returned
/// span->held more batches. Only its first `*valid` samples are real, the
/// others are padding. Returns the error of the feed's thread, if it has
/// failed.
hfta_status hfta_feed_next(hfta_feed *feed, const void *const **inputs,
                           int64_t *valid, hfta_error *error);

/// Offers the next batch to the instance (hfta_instance_offer) if it has been
/// gathered already, so that it is transferred during the present step.
void hfta_feed_offer(hfta_feed *feed, hfta_instance *instance);

/// Returns the memory of all buffers, which begins at a page, and its size. The
/// memory belongs to the feed.
void *hfta_feed_memory(const hfta_feed *feed, uint64_t *bytes);

/// Ends the feed's thread and frees the feed. NULL is allowed.
void hfta_feed_stop(hfta_feed *feed);

#endif // HFTA_SRC_DATA_FEED_H
