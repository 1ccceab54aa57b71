//===- posted.h - Posts, cut into transfers -----------------------*- C -*-===//
//
// The code that all kinds of communicators share. A post is cut into transfers
// of bounded length; a rank's transfers to itself are copies.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_POSTED_H
#define HFTA_SRC_COMMUNICATOR_POSTED_H

#include "hfta/communicator.h"

#include <pthread.h>

/// The most bytes of a transfer. MPI counts bytes in an int. Besides, each
/// transfer that ends shows that its sender is alive, so transfers must be
/// short enough even for a slow network: this many bytes take 3 s at 25 MB/s.
#define HFTA_MAX_TRANSFER_BYTES ((uint64_t)1 << 26)

/// The number of bytes of a message to another host that are sent eagerly, in
/// pieces of HFTA_UNASKED_TRANSFER_BYTES. Such pieces are so short that MPI
/// sends them without asking the receiver (Open MPI: up to 64 KiB with its own
/// header). MPI sends longer transfers with a handshake: the data follow once
/// the receiver has replied. The reply would queue behind all the data that the
/// receiver sends to this rank, and the network would be idle in the other
/// direction. So the long transfers of a message are posted first, and their
/// handshake overlaps with the short pieces.
#define HFTA_UNASKED_BYTES ((uint64_t)1 << 20)
#define HFTA_UNASKED_TRANSFER_BYTES ((uint64_t)60000)

/// Tags of internal messages, which are reserved: users of a communicator can't
/// use them.
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
  struct hfta_transfer *next; ///< the next transfer in a list of transfers
                              ///< without a counterpart yet
  void *request; ///< the MPI library's request; NULL before the transfer has
                 ///< started and after it has ended
} hfta_transfer;

struct hfta_posted {
  hfta_posted *next; ///< the next post in whichever list the post is in
  hfta_communicator *communicator;
  hfta_label label;
  uint32_t left;    ///< the number of transfers that haven't ended
  uint32_t remote;  ///< the number of transfers with other ranks; set to 0 once
                    ///< all of them have ended
  uint32_t running; ///< the number of transfers with other ranks that haven't
                    ///< ended; used only by the thread that tests them
  uint32_t copies;  ///< the number of copies from or to the post's memory that
                    ///< are in progress
  bool is_waited_for; ///< whether a thread waits for the post
  double began;       ///< when the wait began, by the clock of the post's owner
  uint32_t count, capacity; ///< number of transfers, and number that the array
                            ///< has room for
  hfta_transfer transfers[];
};

/// A pool of one communicator's finished posts, which later posts reuse.
typedef struct hfta_posted_pool {
  hfta_posted *first;
} hfta_posted_pool;

/// Creates a post and its transfers, without starting them. Fails with
/// HFTA_INTERNAL if a message's rank or the tag doesn't exist, and with
/// HFTA_UNSUPPORTED if there isn't enough memory.
hfta_status hfta_posted_create(hfta_posted_pool *pool,
                               hfta_communicator *communicator,
                               const hfta_post *post, hfta_posted **out,
                               hfta_error *error);
/// Returns a post to the pool.
void hfta_posted_destroy(hfta_posted_pool *pool, hfta_posted *posted);
void hfta_posted_pool_free(hfta_posted_pool *pool);

/// A description for error messages: " of micro-batch 3", or "" for a label
/// without a micro-batch.
typedef struct hfta_micro_batch_text {
  char text[48];
} hfta_micro_batch_text;
hfta_micro_batch_text hfta_describe_micro_batch(const hfta_label *label);

/// The transfers that one rank has posted to ranks of its own process, itself
/// included, and that have no counterpart yet; oldest first.
typedef struct hfta_own_transfers {
  hfta_transfer *first;
} hfta_own_transfers;

/// Removes the counterpart of `transfer` from `own`, the list of rank `poster`,
/// and returns it. If there are several, takes the oldest; returns NULL if
/// there is none.
hfta_transfer *hfta_own_transfers_take(hfta_own_transfers *own, int poster,
                                       const hfta_transfer *transfer);
/// Appends a transfer to the list.
void hfta_own_transfers_add(hfta_own_transfers *own, hfta_transfer *transfer);

/// Copies the bytes from the sending transfer to the receiving one, which ends
/// both. `transfer` and `other` may be in either order. The caller holds
/// `mutex`, which is released during the copy. Fails with HFTA_INTERNAL if the
/// lengths differ.
hfta_status hfta_transfer_copy(hfta_transfer *transfer, hfta_transfer *other,
                               pthread_mutex_t *mutex, hfta_error *error);

/// Starts the transfers of a post from the rank to itself: copies those whose
/// counterpart is in `own`, and adds the remaining ones to `own`. The caller
/// holds `mutex`, which is released during copies.
hfta_status hfta_own_transfers_start(hfta_own_transfers *own,
                                     hfta_posted *posted,
                                     pthread_mutex_t *mutex, hfta_error *error);

/// Removes a post's transfers from the list after a failure. Returns when no
/// copy from or to the post's memory is in progress, so that the owner may free
/// the memory. `ended` is the condition that is signalled when a copy ends.
void hfta_own_transfers_forget(hfta_own_transfers *own, hfta_posted *posted,
                               pthread_cond_t *ended, pthread_mutex_t *mutex);

/// Waits until all transfers of the post have ended, because another thread has
/// posted their counterparts, or until `error` is filled. After `timeout`
/// seconds, fills `error` with HFTA_LOST. `ended` must use CLOCK_MONOTONIC.
void hfta_own_transfers_await(const hfta_posted *posted, pthread_cond_t *ended,
                              pthread_mutex_t *mutex, double timeout,
                              hfta_error *error);

#endif // HFTA_SRC_COMMUNICATOR_POSTED_H
