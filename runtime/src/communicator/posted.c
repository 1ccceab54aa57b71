//===- posted.c - Posts, cut into transfers -------------------------------===//

#include "communicator/posted.h"
#include "system/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Posts
//===----------------------------------------------------------------------===//

/// Returns how many of a message's bytes are sent in short pieces, eagerly (see
/// HFTA_UNASKED_BYTES).
static uint64_t find_unasked(const hfta_communicator *communicator,
                             const hfta_message *message) {
  if (!communicator->is_far || !communicator->is_far[message->peer])
    return 0;
  return message->bytes < HFTA_UNASKED_BYTES ? message->bytes
                                             : HFTA_UNASKED_BYTES;
}

static uint64_t divide_up(uint64_t bytes, uint64_t piece) {
  return bytes / piece + (bytes % piece != 0);
}

/// Counts a message's transfers. A message of 0 bytes is a transfer too, since
/// its arrival orders the two ranks.
static uint64_t count_transfers(const hfta_communicator *communicator,
                                const hfta_message *message) {
  uint64_t unasked = find_unasked(communicator, message);
  return message->bytes == 0
             ? 1
             : divide_up(message->bytes - unasked, HFTA_MAX_TRANSFER_BYTES) +
                   divide_up(unasked, HFTA_UNASKED_TRANSFER_BYTES);
}

static hfta_status check_post(const hfta_communicator *communicator,
                              const hfta_post *post, uint32_t *out_transfers,
                              hfta_error *error) {
  const hfta_label *label = &post->label;
  if (label->tag < 0 || label->tag >> HFTA_TAG_BITS != 0)
    return hfta_fail(error, HFTA_INTERNAL, "%s: tag %d, expected 0 to %d",
                     label->what, label->tag, HFTA_MAX_TAG);
  uint64_t transfers = 0;
  for (uint32_t i = 0; i < post->count; ++i) {
    int peer = post->messages[i].peer;
    if (peer < 0 || peer >= communicator->size)
      return hfta_fail(error, HFTA_INTERNAL,
                       "%s: a message with rank %d of a communicator of %d",
                       label->what, peer, communicator->size);
    transfers += count_transfers(communicator, &post->messages[i]);
  }
  if (transfers > UINT32_MAX / 2)
    return hfta_fail(error, HFTA_INTERNAL, "%s: too many messages",
                     label->what);
  *out_transfers = (uint32_t)transfers;
  return HFTA_OK;
}

/// Takes the first post of the pool that has room for `count` transfers, else
/// allocates a new one. Returns NULL if there isn't enough memory.
static hfta_posted *take(hfta_posted_pool *pool, uint32_t count) {
  for (hfta_posted **link = &pool->first; *link; link = &(*link)->next) {
    hfta_posted *posted = *link;
    if (posted->capacity < count)
      continue;
    *link = posted->next;
    return posted;
  }
  hfta_posted *posted = malloc(sizeof(*posted) + count * sizeof(hfta_transfer));
  if (posted)
    posted->capacity = count;
  return posted;
}

static void add_transfer(hfta_posted *posted, const hfta_message *message,
                         uint64_t begin, uint64_t bytes) {
  hfta_transfer *transfer = &posted->transfers[posted->count++];
  *transfer = (hfta_transfer){.message = *message, .posted = posted};
  transfer->message.memory = (char *)message->memory + begin;
  transfer->message.bytes = bytes;
  posted->remote += message->peer != posted->communicator->rank;
}

static void add_transfers(hfta_posted *posted, const hfta_message *message,
                          uint64_t begin, uint64_t end, uint64_t most) {
  for (; begin < end; begin += most)
    add_transfer(posted, message, begin,
                 end - begin < most ? end - begin : most);
}

static void cut(hfta_posted *posted, const hfta_message *message) {
  uint64_t unasked = find_unasked(posted->communicator, message);
  if (message->bytes == 0)
    add_transfer(posted, message, 0, 0);
  add_transfers(posted, message, unasked, message->bytes,
                HFTA_MAX_TRANSFER_BYTES);
  add_transfers(posted, message, 0, unasked, HFTA_UNASKED_TRANSFER_BYTES);
}

hfta_status hfta_posted_create(hfta_posted_pool *pool,
                               hfta_communicator *communicator,
                               const hfta_post *post, hfta_posted **out,
                               hfta_error *error) {
  uint32_t count;
  hfta_status status = check_post(communicator, post, &count, error);
  if (status != HFTA_OK)
    return status;
  hfta_posted *posted = take(pool, count);
  if (!posted)
    return hfta_fail(error, HFTA_UNSUPPORTED, "%s: not enough memory",
                     post->label.what);
  uint32_t capacity = posted->capacity;
  *posted = (hfta_posted){
      .communicator = communicator, .label = post->label, .capacity = capacity};
  for (uint32_t i = 0; i < post->count; ++i)
    cut(posted, &post->messages[i]);
  posted->left = posted->count;
  posted->running = posted->remote;
  *out = posted;
  return HFTA_OK;
}

void hfta_posted_destroy(hfta_posted_pool *pool, hfta_posted *posted) {
  posted->next = pool->first;
  pool->first = posted;
}

void hfta_posted_pool_free(hfta_posted_pool *pool) {
  while (pool->first) {
    hfta_posted *posted = pool->first;
    pool->first = posted->next;
    free(posted);
  }
}

hfta_micro_batch_text hfta_describe_micro_batch(const hfta_label *label) {
  hfta_micro_batch_text out = {""};
  if (label->micro_batch >= 0)
    snprintf(out.text, sizeof(out.text), " of micro-batch %lld",
             (long long)label->micro_batch);
  return out;
}

//===----------------------------------------------------------------------===//
// Transfers inside a process
//===----------------------------------------------------------------------===//

hfta_transfer *hfta_own_transfers_take(hfta_own_transfers *own, int poster,
                                       const hfta_transfer *transfer) {
  if (transfer->message.peer != poster)
    return NULL;
  const hfta_posted *posted = transfer->posted;
  for (hfta_transfer **link = &own->first; *link; link = &(*link)->next) {
    hfta_transfer *other = *link;
    if (other->message.sends == transfer->message.sends ||
        other->message.peer != posted->communicator->rank ||
        other->posted->label.tag != posted->label.tag)
      continue;
    *link = other->next;
    return other;
  }
  return NULL;
}

void hfta_own_transfers_add(hfta_own_transfers *own, hfta_transfer *transfer) {
  hfta_transfer **end = &own->first;
  while (*end)
    end = &(*end)->next;
  transfer->next = NULL;
  *end = transfer;
}

static hfta_status report_length(const hfta_transfer *from,
                                 const hfta_transfer *to, hfta_error *error) {
  const char *what = from->posted->label.what;
  unsigned long long sent = from->message.bytes, received = to->message.bytes;
  int sender = to->message.peer, receiver = from->message.peer;
  if (sender == receiver)
    return hfta_fail(error, HFTA_INTERNAL,
                     "%s: rank %d sends %llu bytes to itself and receives %llu",
                     what, sender, sent, received);
  return hfta_fail(error, HFTA_INTERNAL,
                   "%s: worker %d sends %llu bytes to worker %d, which "
                   "receives %llu",
                   what, sender, sent, receiver, received);
}

hfta_status hfta_transfer_copy(hfta_transfer *transfer, hfta_transfer *other,
                               pthread_mutex_t *mutex, hfta_error *error) {
  hfta_transfer *from = transfer->message.sends ? transfer : other;
  hfta_transfer *to = transfer->message.sends ? other : transfer;
  if (to->message.bytes != from->message.bytes)
    return report_length(from, to, error);
  ++from->posted->copies;
  ++to->posted->copies;
  pthread_mutex_unlock(mutex);
  if (to->message.bytes != 0 && to->message.memory != from->message.memory)
    memcpy(to->message.memory, from->message.memory, to->message.bytes);
  pthread_mutex_lock(mutex);
  --from->posted->copies;
  --to->posted->copies;
  --from->posted->left;
  --to->posted->left;
  return HFTA_OK;
}

hfta_status hfta_own_transfers_start(hfta_own_transfers *own,
                                     hfta_posted *posted,
                                     pthread_mutex_t *mutex,
                                     hfta_error *error) {
  hfta_status status = HFTA_OK;
  int rank = posted->communicator->rank;
  for (uint32_t i = 0; i < posted->count && status == HFTA_OK; ++i) {
    hfta_transfer *transfer = &posted->transfers[i];
    if (transfer->message.peer != rank)
      continue;
    hfta_transfer *other = hfta_own_transfers_take(own, rank, transfer);
    if (other)
      status = hfta_transfer_copy(transfer, other, mutex, error);
    else
      hfta_own_transfers_add(own, transfer);
  }
  return status;
}

void hfta_own_transfers_forget(hfta_own_transfers *own, hfta_posted *posted,
                               pthread_cond_t *ended, pthread_mutex_t *mutex) {
  for (hfta_transfer **link = &own->first; *link;)
    if ((*link)->posted == posted)
      *link = (*link)->next;
    else
      link = &(*link)->next;
  while (posted->copies != 0)
    pthread_cond_wait(ended, mutex);
}

void hfta_own_transfers_await(const hfta_posted *posted, pthread_cond_t *ended,
                              pthread_mutex_t *mutex, double timeout,
                              hfta_error *error) {
  struct timespec until = hfta_clock_after(timeout);
  while (posted->left != 0 && error->code == HFTA_OK)
    if (pthread_cond_timedwait(ended, mutex, &until) == ETIMEDOUT)
      hfta_fail(error, HFTA_LOST,
                "rank %d has waited for %g s for a message of its own: %s%s",
                posted->communicator->rank, timeout, posted->label.what,
                hfta_describe_micro_batch(&posted->label).text);
}
