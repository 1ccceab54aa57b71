//===- posted.h - What was posted, in pieces --------------------*- C -*-===//
//
// What the kinds of communicators share: a post becomes transfers of a bounded
// length; those of a rank to itself are copies.
//
// Threads: the functions are called with the communicator's mutex held.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_POSTED_H
#define HFTA_SRC_COMMUNICATOR_POSTED_H

#include "hfta/communicator.h"

#include <pthread.h>

/// MPI counts in an int; and of a rank whose transfers end one knows that it
/// works, however slow the network is: this is 3 s at 25 MB/s.
#define HFTA_MAX_TRANSFER_BYTES ((uint64_t)1 << 26)

/// Of a message through a network so much goes at once, in pieces so short that
/// MPI sends them unasked (Open MPI: up to 64 KiB with its own header). What is
/// longer MPI announces, and sends when the receiver has answered; the answer
/// would wait behind all that goes the other way, and the network do nothing
/// meanwhile. The announced rest is posted first, so that its answer comes
/// while the pieces go.
#define HFTA_UNASKED_BYTES ((uint64_t)1 << 20)
#define HFTA_UNASKED_TRANSFER_BYTES ((uint64_t)60000)

/// Tags that users of a communicator don't have.
enum {
  HFTA_TAG_MAX = HFTA_MAX_TAG + 1,
  HFTA_TAG_COMPARE_COUNTS,
  HFTA_TAG_COMPARE_BYTES,
  HFTA_TAG_SPLIT,
  HFTA_TAG_BITS = 20 ///< of all tags
};

typedef struct hfta_transfer {
  hfta_message message; ///< of at most HFTA_MAX_TRANSFER_BYTES
  hfta_posted *posted;
  struct hfta_transfer *next; ///< of those to itself that have no counterpart
  void *request;              ///< the library's; NULL: ended, or not started
} hfta_transfer;

struct hfta_posted {
  hfta_posted *next; ///< in a list of the owner's
  hfta_communicator *communicator;
  hfta_label label;
  uint32_t left;    ///< transfers that haven't ended
  uint32_t remote;  ///< transfers with other ranks; 0 once all have ended
  uint32_t running; ///< of these, those that haven't ended; their owner's own
  uint32_t copies;  ///< of its memory that a thread makes just now
  bool is_waited_for;
  double began; ///< when the wait did, by the owner's clock
  uint32_t count, capacity;
  hfta_transfer transfers[];
};

/// Posts of one communicator that wait to be used again.
typedef struct hfta_posted_pool {
  hfta_posted *first;
} hfta_posted_pool;

/// Transfers are counted, nothing has started. A message of a rank or
/// tag that there isn't is HFTA_INTERNAL, not enough memory HFTA_UNSUPPORTED.
hfta_status hfta_posted_create(hfta_posted_pool *pool,
                               hfta_communicator *communicator,
                               const hfta_post *post, hfta_posted **out,
                               hfta_error *error);
void hfta_posted_destroy(hfta_posted_pool *pool, hfta_posted *posted);
void hfta_posted_pool_free(hfta_posted_pool *pool);

/// " of micro-batch 3", or nothing.
typedef struct hfta_micro_batch_text {
  char text[48];
} hfta_micro_batch_text;
hfta_micro_batch_text hfta_describe_micro_batch(const hfta_label *label);

/// Transfers between ranks of one process that have no counterpart yet, oldest
/// first: those that one of them has posted.
typedef struct hfta_own_transfers {
  hfta_transfer *first;
} hfta_own_transfers;

/// Of transfers that rank `poster` has posted, takes out the oldest one that is
/// the other end of `transfer`; NULL: there is none.
hfta_transfer *hfta_own_transfers_take(hfta_own_transfers *own, int poster,
                                       const hfta_transfer *transfer);
void hfta_own_transfers_add(hfta_own_transfers *own, hfta_transfer *transfer);

/// Copies the bytes of two ends, which have then ended; `mutex` is released
/// meanwhile. Lengths that differ are HFTA_INTERNAL.
hfta_status hfta_transfer_copy(hfta_transfer *transfer, hfta_transfer *other,
                               pthread_mutex_t *mutex, hfta_error *error);

/// Starts those of a post that name the rank itself: copies those whose
/// counterpart is there, keeps the others.
hfta_status hfta_own_transfers_start(hfta_own_transfers *own,
                                     hfta_posted *posted,
                                     pthread_mutex_t *mutex, hfta_error *error);

/// After a failure, before the owner of the memory may have it back: nothing of
/// the post is copied any more. `ended` is told of copies that end.
void hfta_own_transfers_forget(hfta_own_transfers *own, hfta_posted *posted,
                               pthread_cond_t *ended, pthread_mutex_t *mutex);

/// Waits for the counterparts of the transfers that are left, which another
/// thread posts, until one comes, `error` is filled or the timeout, in seconds,
/// fills it: HFTA_LOST. `ended` is a condition of CLOCK_MONOTONIC.
void hfta_own_transfers_await(const hfta_posted *posted, pthread_cond_t *ended,
                              pthread_mutex_t *mutex, double timeout,
                              hfta_error *error);

#endif // HFTA_SRC_COMMUNICATOR_POSTED_H
