//===- store_rates.c - Measures how fast a store is -----------------------===//

#include "store/store_rates.h"
#include "hfta/program.h"
#include "system/clock.h"
#include "system/thread.h"

#include <pthread.h>
#include <string.h>

/// Each time is the least of ROUNDS measurements, of at most MOST_BYTES bytes.
enum { ROUNDS = 2, MOST_BYTES = 32 << 20 };

/// A read or write of consecutive extents.
typedef struct transfer {
  hfta_store *store;
  bool is_write;
  uint64_t first, count, bytes;
  void *memory;
  hfta_status status;
  hfta_error error;
} transfer;

static void *move(void *argument) {
  transfer *self = argument;
  self->status = self->is_write
                     ? hfta_store_write(self->store, self->first, self->count,
                                        self->memory, &self->error)
                     : hfta_store_read(self->store, self->first, self->count,
                                       self->memory, &self->error);
  return NULL;
}

/// Returns a transfer of consecutive extents from `first` on: as many as fit
/// into `bytes` bytes of `memory`. Its count may be 0.
static transfer take(hfta_store *store, uint64_t first, void *memory,
                     uint64_t bytes) {
  transfer self = {.store = store, .first = first, .memory = memory};
  uint64_t all = hfta_store_extent_count(store);
  while (first + self.count < all) {
    uint64_t more = hfta_store_extent_bytes(store, first + self.count);
    if (self.bytes + more > bytes)
      break;
    self.bytes += more;
    ++self.count;
  }
  return self;
}

/// Returns the transfer's status, and its message in `error`.
static hfta_status fail(const transfer *of, hfta_error *error) {
  return of->status == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, of->status, "%s", of->error.message);
}

/// Sets `*out` to the time in seconds of transfer `one`, or of both transfers
/// at the same time if `other` isn't NULL: the least of ROUNDS measurements.
static hfta_status time_transfers(transfer *one, transfer *other, double *out,
                                  hfta_error *error) {
  hfta_status status = HFTA_OK;
  *out = 0.0;
  for (int i = 0; i < ROUNDS && status == HFTA_OK; ++i) {
    pthread_t thread;
    double begin = hfta_now();
    bool is_started =
        other && hfta_small_thread_start(&thread, move, other) == 0;
    move(one);
    if (is_started)
      pthread_join(thread, NULL);
    else if (other)
      move(other);
    double seconds = hfta_now() - begin;
    if (i == 0 || seconds < *out)
      *out = seconds;
    status = fail(one, error);
    if (status == HFTA_OK && other)
      status = fail(other, error);
  }
  return status;
}

/// Returns whether a read and a write share the bandwidth: their time together,
/// `both`, is nearer to the sum of their separate times than to the longer of
/// these.
static bool is_sum(double both, double one, double other) {
  double longer = one > other ? one : other;
  return both > (longer + one + other) / 2;
}

/// Measures a transfer's fixed time with a read of one extent, from whose time
/// the time of its bytes at the measured rate is subtracted.
static hfta_status measure_transfer(transfer *from, hfta_store_rates *out,
                                    hfta_error *error) {
  transfer small = *from;
  small.is_write = false;
  small.count = 1;
  small.bytes = hfta_store_extent_bytes(small.store, small.first);
  double seconds;
  hfta_status status = time_transfers(&small, NULL, &seconds, error);
  seconds -= (double)small.bytes / out->read;
  out->seconds = seconds > 0 ? seconds : 0.0;
  return status;
}

hfta_status hfta_store_measure(hfta_store *store, void *buffer, uint64_t bytes,
                               hfta_store_rates *out, hfta_error *error) {
  memset(out, 0, sizeof(*out));
  uint64_t half = bytes / 2 < MOST_BYTES ? bytes / 2 : MOST_BYTES;
  half -= half % HFTA_PAGE_BYTES;
  transfer first = take(store, 0, buffer, half);
  if (first.count == 0)
    first = take(store, 0, buffer, bytes);
  if (first.count == 0)
    return HFTA_OK;
  transfer second = {.count = 0};
  if (first.bytes <= half)
    second = take(store, first.count, (char *)buffer + half, half);
  // Read these extents and write them back before any time is measured: extents
  // that were never written read as zeros, without a transfer.
  hfta_status status = HFTA_OK;
  for (int is_write = 0; is_write < 2 && status == HFTA_OK; ++is_write) {
    first.is_write = second.is_write = is_write == 1;
    move(&first);
    status = fail(&first, error);
    if (status == HFTA_OK && second.count > 0) {
      move(&second);
      status = fail(&second, error);
    }
  }
  double reading, writing, both = 0.0;
  first.is_write = false;
  second.is_write = true;
  if (status == HFTA_OK)
    status = time_transfers(&first, NULL, &reading, error);
  if (status != HFTA_OK)
    return status;
  out->read = (double)first.bytes / reading;
  transfer written = second.count > 0 ? second : first;
  written.is_write = true;
  status = time_transfers(&written, NULL, &writing, error);
  if (status != HFTA_OK)
    return status;
  out->write = (double)written.bytes / writing;
  if (second.count > 0) {
    status = time_transfers(&first, &second, &both, error);
    out->is_shared = is_sum(both, reading, writing);
  }
  return status == HFTA_OK ? measure_transfer(&first, out, error) : status;
}
