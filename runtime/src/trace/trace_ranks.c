//===- trace_ranks.c - Clocks and events of several ranks -----------------===//

#include "trace/trace_ranks.h"

#include "communicator/tags.h"
#include "system/clock.h"

#include <math.h>
#include <stdlib.h>

/// The number of round trips by which two clocks are compared.
enum { EXCHANGES = 24 };

static hfta_status exchange(hfta_communicator *communicator, int tag,
                            const hfta_message *messages, uint32_t count,
                            hfta_error *error) {
  hfta_post post = {
      {tag == HFTA_TAG_CLOCK ? "clocks for a trace" : "events for a trace", -1,
       tag},
      messages,
      count};
  return hfta_communicator_complete(communicator, &post, error);
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

/// Sets `*ahead` to the seconds by which the peer's clock is ahead of rank 0's.
/// In each round trip the peer reads its clock between two readings of rank 0's
/// clock, which bounds the difference. The result is in the intersection of
/// these ranges: 0 if that is possible, else the middle.
static hfta_status compare_clocks(hfta_communicator *communicator, int peer,
                                  double *ahead, hfta_error *error) {
  double low = -INFINITY, high = INFINITY;
  for (int i = 0; i < EXCHANGES; ++i) {
    double theirs = 0.0, before = hfta_now();
    hfta_message messages[] = {{peer, true, &before, sizeof(before)},
                               {peer, false, &theirs, sizeof(theirs)}};
    hfta_status status =
        exchange(communicator, HFTA_TAG_CLOCK, messages, 2, error);
    if (status != HFTA_OK)
      return status;
    low = fmax(low, theirs - hfta_now());
    high = fmin(high, theirs - before);
  }
  *ahead = low <= 0.0 && high >= 0.0 ? 0.0 : (low + high) / 2.0;
  return HFTA_OK;
}

/// Answers rank 0's messages with this rank's clock.
static hfta_status answer(hfta_communicator *communicator, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int i = 0; i < EXCHANGES && status == HFTA_OK; ++i) {
    double theirs;
    hfta_message receive = {0, false, &theirs, sizeof(theirs)};
    status = exchange(communicator, HFTA_TAG_CLOCK, &receive, 1, error);
    double now = hfta_now();
    hfta_message send = {0, true, &now, sizeof(now)};
    if (status == HFTA_OK)
      status = exchange(communicator, HFTA_TAG_CLOCK, &send, 1, error);
  }
  return status;
}

hfta_status hfta_trace_align(hfta_communicator *communicator, double *time,
                             hfta_error *error) {
  if (communicator->rank > 0) {
    hfta_status status = answer(communicator, error);
    hfta_message receive = {0, false, time, sizeof(*time)};
    return status == HFTA_OK
               ? exchange(communicator, HFTA_TAG_CLOCK, &receive, 1, error)
               : status;
  }
  for (int peer = 1; peer < communicator->size; ++peer) {
    double ahead;
    hfta_status status = compare_clocks(communicator, peer, &ahead, error);
    double theirs = *time + ahead;
    hfta_message send = {peer, true, &theirs, sizeof(theirs)};
    if (status == HFTA_OK)
      status = exchange(communicator, HFTA_TAG_CLOCK, &send, 1, error);
    if (status != HFTA_OK)
      return status;
  }
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Sends a piece of text to rank 0: its length, then the text. Length 0 ends
/// the rank's part.
static hfta_status send_text(void *argument, const char *text, uint64_t bytes,
                             hfta_error *error) {
  hfta_message length = {0, true, &bytes, sizeof(bytes)};
  hfta_status status = exchange(argument, HFTA_TAG_EVENTS, &length, 1, error);
  hfta_message send = {0, true, (char *)(uintptr_t)text, bytes};
  if (status == HFTA_OK && bytes > 0)
    status = exchange(argument, HFTA_TAG_EVENTS, &send, 1, error);
  return status;
}

/// Receives a piece of text of known length and passes it to the sink.
static hfta_status receive_text(hfta_communicator *communicator, int peer,
                                uint64_t bytes, const hfta_trace_sink *sink,
                                hfta_error *error) {
  char *text = malloc(bytes);
  if (!text)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
  hfta_message receive = {peer, false, text, bytes};
  hfta_status status =
      exchange(communicator, HFTA_TAG_EVENTS, &receive, 1, error);
  if (status == HFTA_OK)
    status = sink->take(sink->argument, text, bytes, error);
  hfta_communicator_free(communicator, text);
  return status;
}

/// Receives a rank's part, with a separator before it, and passes it to the
/// sink.
static hfta_status receive_part(hfta_communicator *communicator, int peer,
                                const hfta_trace_sink *sink,
                                hfta_error *error) {
  hfta_status status = hfta_trace_write_comma(sink, error);
  while (status == HFTA_OK) {
    uint64_t bytes = 0;
    hfta_message length = {peer, false, &bytes, sizeof(bytes)};
    status = exchange(communicator, HFTA_TAG_EVENTS, &length, 1, error);
    if (status != HFTA_OK || bytes == 0)
      return status;
    status = receive_text(communicator, peer, bytes, sink, error);
  }
  return status;
}

hfta_status hfta_trace_gather(hfta_communicator *communicator,
                              const hfta_trace_part *part,
                              const hfta_trace_sink *sink, hfta_error *error) {
  hfta_trace_sink to_first = {send_text, communicator};
  bool is_first = communicator->rank == 0;
  hfta_status status =
      hfta_trace_write_part(part, is_first ? sink : &to_first, error);
  if (!is_first)
    return status == HFTA_OK ? send_text(communicator, NULL, 0, error) : status;
  for (int peer = 1; peer < communicator->size && status == HFTA_OK; ++peer)
    status = receive_part(communicator, peer, sink, error);
  return status;
}
