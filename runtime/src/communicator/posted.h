//===- posted.h - Posts, cut into transfers -----------------------*- C -*-===//
//
// The code that the kinds of communicators share. A post is cut into transfers
// of bounded length; a rank's transfers to itself are copies.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_POSTED_H
#define HFTA_SRC_COMMUNICATOR_POSTED_H

#include "hfta/communicator.h"

#include <pthread.h>

/// The most bytes of a transfer. MPI counts bytes in an int; and each transfer
/// that ends shows that its sender is alive, however slow the network is: this
/// many bytes take 3 s at 25 MB/s.
#define HFTA_MAX_TRANSFER_BYTES ((uint64_t)1 << 26)

/// The number of bytes of a message through a network that are sent eagerly, in
/// pieces so short that MPI sends them without asking the receiver (Open MPI:
/// up to 64 KiB with its own header). MPI announces a longer piece and sends it
/// once the receiver has answered; that answer would queue up after all the
/// data that the receiver sends to this rank, and the network would be idle
/// meanwhile. So the announced rest is posted first: its answer comes while the
/// short pieces are in flight.
#define HFTA_UNASKED_BYTES ((uint64_t)1 << 20)
#define HFTA_UNASKED_TRANSFER_BYTES ((uint64_t)60000)

/// Tags of internal messages, which users of a communicator can't use.
enum {
  HFTA_TAG_MAX = HFTA_MAX_TAG + 1,
  HFTA_TAG_COMPARE_COUNTS,
  HFTA_TAG_COMPARE_BYTES,
  HFTA_TAG_SPLIT,
  HFTA_TAG_BITS = 20 ///< the number of bits of any tag
};

typedef struct hfta_transfer {
  hfta_message message; ///< at most HFTA_MAX_TRANSFER_BYTES long
  hfta_posted *posted;
  struct hfta_transfer *next; ///< the next transfer in a list of those that
                              ///< have no counterpart yet
  void *request; ///< the MPI library's request; NULL if it has ended or not
                 ///< started
} hfta_transfer;

struct hfta_posted {
  hfta_posted *next; ///< the next post in a list of the owner's
  hfta_communicator *communicator;
  hfta_label label;
  uint32_t left;    ///< the number of transfers that haven't ended
  uint32_t remote;  ///< the number of transfers with other ranks; 0 once all
                    ///< have ended
  uint32_t running; ///< those of `remote` that haven't ended; only their owner
                    ///< uses it
  uint32_t copies;  ///< the number of copies from or to its memory that are
                    ///< being made now
  bool is_waited_for;
  double began; ///< when the wait began, by the owner's clock
  uint32_t count, capacity;
  hfta_transfer transfers[];
};

/// A pool of one communicator's finished posts, which are used again.
typedef struct hfta_posted_pool {
  hfta_posted *first;
} hfta_posted_pool;

/// Makes a post whose transfers are counted but not started. A message with a
/// rank or tag that doesn't exist is HFTA_INTERNAL, too little memory
/// HFTA_UNSUPPORTED.
hfta_status hfta_posted_create(hfta_posted_pool *pool,
                               hfta_communicator *communicator,
                               const hfta_post *post, hfta_posted **out,
                               hfta_error *error);
void hfta_posted_destroy(hfta_posted_pool *pool, hfta_posted *posted);
void hfta_posted_pool_free(hfta_posted_pool *pool);

/// The text " of micro-batch 3", or nothing.
typedef struct hfta_micro_batch_text {
  char text[48];
} hfta_micro_batch_text;
hfta_micro_batch_text hfta_describe_micro_batch(const hfta_label *label);

/// The transfers that one rank has posted to ranks of its own process and that
/// have no counterpart yet, oldest first.
typedef struct hfta_own_transfers {
  hfta_transfer *first;
} hfta_own_transfers;

/// Takes the oldest transfer that is the other end of `transfer` out of the
/// list of rank `poster`; returns NULL if there is none.
hfta_transfer *hfta_own_transfers_take(hfta_own_transfers *own, int poster,
                                       const hfta_transfer *transfer);
void hfta_own_transfers_add(hfta_own_transfers *own, hfta_transfer *transfer);

/// Copies the bytes from one end to the other, which ends both; `mutex` is
/// released meanwhile. Lengths that differ are HFTA_INTERNAL.
hfta_status hfta_transfer_copy(hfta_transfer *transfer, hfta_transfer *other,
                               pthread_mutex_t *mutex, hfta_error *error);

/// Starts the transfers of a post that name the rank itself: copies those whose
/// counterpart is there, and adds the others to the list.
hfta_status hfta_own_transfers_start(hfta_own_transfers *own,
                                     hfta_posted *posted,
                                     pthread_mutex_t *mutex, hfta_error *error);

/// Removes a post after a failure: when this returns, none of its memory is
/// copied any more, so that its owner may have the memory back. `ended` is the
/// condition that is signalled when a copy ends.
void hfta_own_transfers_forget(hfta_own_transfers *own, hfta_posted *posted,
                               pthread_cond_t *ended, pthread_mutex_t *mutex);

/// Waits for the counterparts of the transfers that are left, which another
/// thread posts, until none is left, `error` is filled, or the timeout, in
/// seconds, fills it with HFTA_LOST. `ended` is a condition of CLOCK_MONOTONIC.
void hfta_own_transfers_await(const hfta_posted *posted, pthread_cond_t *ended,
                              pthread_mutex_t *mutex, double timeout,
                              hfta_error *error);

#endif // HFTA_SRC_COMMUNICATOR_POSTED_H
