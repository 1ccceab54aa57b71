//===- collectives.c - Operations of all ranks of a communicator ----------===//
//
// Each operation is one post of messages that go directly from their sender to
// their receiver, so that the algorithm is the same for every kind of
// communicator and no rank forwards bytes.
//===----------------------------------------------------------------------===//

#include "communicator/posted.h"

#include <stdlib.h>
#include <string.h>

/// A list of messages, with room for one to each rank and one from each rank.
typedef struct message_list {
  hfta_message messages[2 * HFTA_MAX_RANKS];
  uint32_t count;
} message_list;

static void add(message_list *list, int peer, bool sends, const void *memory,
                uint64_t offset, uint64_t bytes) {
  list->messages[list->count++] =
      (hfta_message){peer, sends, (char *)(uintptr_t)memory + offset, bytes};
}

static hfta_status post(hfta_communicator *communicator,
                        const hfta_label *label, const message_list *list,
                        hfta_posted **out, hfta_error *error) {
  hfta_post all = {*label, list->messages, list->count};
  return hfta_communicator_post(communicator, &all, out, error);
}

hfta_status hfta_communicator_post_gather(hfta_communicator *communicator,
                                          const hfta_label *label, void *memory,
                                          const uint64_t *offsets,
                                          hfta_posted **out,
                                          hfta_error *error) {
  message_list list;
  list.count = 0;
  int own = communicator->rank;
  // Each rank sends to its successor first, so that the ranks don't all send to
  // rank 0 at the same time.
  for (int i = 1; i < communicator->size; ++i) {
    int to = (own + i) % communicator->size;
    int from = (own - i + communicator->size) % communicator->size;
    add(&list, from, false, memory, offsets[from],
        offsets[from + 1] - offsets[from]);
    add(&list, to, true, memory, offsets[own], offsets[own + 1] - offsets[own]);
  }
  return post(communicator, label, &list, out, error);
}

hfta_status hfta_communicator_post_broadcast(hfta_communicator *communicator,
                                             const hfta_label *label, int root,
                                             void *memory, uint64_t bytes,
                                             hfta_posted **out,
                                             hfta_error *error) {
  message_list list;
  list.count = 0;
  if (communicator->rank != root)
    add(&list, root, false, memory, 0, bytes);
  else
    for (int i = 1; i < communicator->size; ++i)
      add(&list, (root + i) % communicator->size, true, memory, 0, bytes);
  return post(communicator, label, &list, out, error);
}

hfta_status hfta_communicator_post_exchange(hfta_communicator *communicator,
                                            const hfta_label *label,
                                            const void *memory,
                                            const uint64_t *offsets,
                                            void *received, hfta_posted **out,
                                            hfta_error *error) {
  message_list list;
  list.count = 0;
  int own = communicator->rank;
  uint64_t bytes = offsets[own + 1] - offsets[own];
  for (int i = 0; i < communicator->size; ++i) {
    int to = (own + i) % communicator->size;
    int from = (own - i + communicator->size) % communicator->size;
    add(&list, from, false, received, (uint64_t)from * bytes, bytes);
    add(&list, to, true, memory, offsets[to], offsets[to + 1] - offsets[to]);
  }
  return post(communicator, label, &list, out, error);
}

//===----------------------------------------------------------------------===//
// Agreement of all ranks
//===----------------------------------------------------------------------===//

/// Gathers `bytes` bytes of each rank into `memory`, in the order of the ranks.
/// This rank's own bytes must already be in their place.
static hfta_status gather_equal(hfta_communicator *communicator,
                                const char *what, int tag, void *memory,
                                uint64_t bytes, hfta_error *error) {
  uint64_t offsets[HFTA_MAX_RANKS + 1];
  for (int i = 0; i <= communicator->size; ++i)
    offsets[i] = (uint64_t)i * bytes;
  hfta_label label = {what, -1, tag};
  hfta_posted *posted;
  hfta_status status = hfta_communicator_post_gather(
      communicator, &label, memory, offsets, &posted, error);
  return status == HFTA_OK ? hfta_communicator_wait(communicator, posted, error)
                           : status;
}

hfta_status hfta_communicator_max(hfta_communicator *communicator,
                                  const char *what, int64_t *value,
                                  hfta_error *error) {
  int64_t all[HFTA_MAX_RANKS];
  all[communicator->rank] = *value;
  hfta_status status =
      gather_equal(communicator, what, HFTA_TAG_MAX, all, sizeof(*all), error);
  for (int i = 0; i < communicator->size && status == HFTA_OK; ++i)
    *value = all[i] > *value ? all[i] : *value;
  return status;
}

/// Returns the lowest rank whose piece of `all` differs from rank 0's piece; -1
/// if all pieces are equal. Each rank has a piece of `bytes` bytes, in the
/// order of the ranks.
static int find_different(const hfta_communicator *communicator,
                          const void *all, uint64_t bytes) {
  for (int i = 1; i < communicator->size; ++i)
    if (memcmp((const char *)all + (uint64_t)i * bytes, all, bytes) != 0)
      return i;
  return -1;
}

hfta_status hfta_communicator_compare(hfta_communicator *communicator,
                                      const char *what, const void *bytes,
                                      uint64_t count, int *out_rank,
                                      hfta_error *error) {
  uint64_t counts[HFTA_MAX_RANKS];
  counts[communicator->rank] = count;
  hfta_status status = gather_equal(communicator, what, HFTA_TAG_COMPARE_COUNTS,
                                    counts, sizeof(*counts), error);
  if (status != HFTA_OK)
    return status;
  *out_rank = find_different(communicator, counts, sizeof(*counts));
  if (*out_rank >= 0 || count == 0)
    return HFTA_OK;
  char *all = count <= SIZE_MAX / HFTA_MAX_RANKS
                  ? malloc((size_t)count * (size_t)communicator->size)
                  : NULL;
  if (!all)
    return hfta_fail(error, HFTA_UNSUPPORTED, "%s: not enough memory", what);
  memcpy(all + (uint64_t)communicator->rank * count, bytes, count);
  status = gather_equal(communicator, what, HFTA_TAG_COMPARE_BYTES, all, count,
                        error);
  if (status == HFTA_OK)
    *out_rank = find_different(communicator, all, count);
  hfta_communicator_free(communicator, all);
  return status;
}
