//===- store.c - A store of extents, with threads for its transfers -------===//

#include "hfta/store.h"
#include "hfta/program.h"
#include "store/crc32c.h"
#include "system/pages.h"
#include "system/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  PIECE = HFTA_STORE_PIECE_BYTES,
  TRANSFER = 4 << 20, ///< the most bytes per call of the medium
  THREADS = 2         ///< the number of threads if the options don't give one
};

/// The state of a piece, a range of at most PIECE bytes with its own checksum.
typedef struct piece {
  uint32_t checksum; ///< CRC-32C of the bytes, valid if `is_written`
  bool is_written;
  bool is_lost; ///< its last write has failed, so that its contents are
                ///< undefined
} piece;

/// A read or write of consecutive extents, in the store's work queue. It is on
/// the stack of the thread that waits for its completion.
typedef struct request {
  struct request *next; ///< the next request in the queue
  bool is_write;
  uint64_t at, end; ///< the pieces that aren't assigned to a thread yet
  char *memory;     ///< the address of piece `at`
  uint64_t most;    ///< the most bytes that a thread takes at a time
  uint32_t active;  ///< the number of threads that are transferring its pieces
  hfta_status status;
  hfta_error error;
  pthread_cond_t done; ///< signaled when all pieces have been transferred
} request;

struct hfta_store {
  hfta_medium *medium;
  uint64_t extent_count;
  uint64_t *begins; ///< the offset of each extent in the medium, then the end
                    ///< of the last one
  uint64_t *firsts; ///< the number of each extent's first piece, then the
                    ///< number of pieces
  piece *pieces;

  pthread_mutex_t copying; ///< serializes the users of `buffer`
  char *buffer; ///< one piece, for reads and writes of a part of a piece

  /// Protects all members below, and the pieces' assignment.
  pthread_mutex_t mutex;
  pthread_cond_t wakes; ///< wakes threads that wait for requests
  request *requests;    ///< the work queue: requests with pieces that aren't
                        ///< assigned yet
  hfta_store_traffic traffic;
  hfta_error lost; ///< the error of the first failed write; code HFTA_OK if
                   ///< none failed
  bool stopping;
  int thread_count;
  pthread_t *threads;
};

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Returns the extent that piece `number` belongs to, by binary search.
static uint64_t find_extent(const hfta_store *self, uint64_t number) {
  uint64_t low = 0, high = self->extent_count;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (self->firsts[middle] <= number)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Returns the offset in the medium of piece `number` of the extent. For the
/// number after the extent's last piece, returns the end of the extent.
static uint64_t begin_of(const hfta_store *self, uint64_t extent,
                         uint64_t number) {
  uint64_t begin =
      self->begins[extent] + (number - self->firsts[extent]) * PIECE;
  uint64_t end = self->begins[extent + 1];
  return begin < end ? begin : end;
}

/// A range of consecutive pieces, which are contiguous in the medium and in
/// memory.
typedef struct run {
  uint64_t first, count;
  uint64_t offset, bytes; ///< the range in the medium
  char *memory;
} run;

/// Calls `function` for each piece of a run, with the piece's address and size
/// in bytes. Stops at the first failure.
static hfta_status for_pieces(hfta_store *self, const run *of,
                              hfta_status (*function)(piece *, const char *,
                                                      uint64_t, hfta_error *),
                              hfta_error *error) {
  hfta_status status = HFTA_OK;
  uint64_t extent = find_extent(self, of->first);
  const char *memory = of->memory;
  for (uint64_t i = of->first; i < of->first + of->count && status == HFTA_OK;
       ++i) {
    while (i >= self->firsts[extent + 1])
      ++extent;
    uint64_t bytes = begin_of(self, extent, i + 1) - begin_of(self, extent, i);
    status = function(&self->pieces[i], memory, bytes, error);
    memory += bytes;
  }
  return status;
}

/// Records the checksum of a piece that was written.
static hfta_status sign(piece *own, const char *memory, uint64_t bytes,
                        hfta_error *error) {
  (void)error;
  *own = (piece){.checksum = hfta_crc32c(memory, bytes), .is_written = true};
  return HFTA_OK;
}

/// Marks a piece whose write has failed as lost.
static hfta_status lose(piece *own, const char *memory, uint64_t bytes,
                        hfta_error *error) {
  (void)memory, (void)bytes, (void)error;
  *own = (piece){.is_lost = true};
  return HFTA_OK;
}

/// Compares a piece that was read with its checksum.
static hfta_status verify(piece *own, const char *memory, uint64_t bytes,
                          hfta_error *error) {
  uint32_t found = hfta_crc32c(memory, bytes);
  if (found == own->checksum)
    return HFTA_OK;
  return hfta_fail(
      error, HFTA_CANNOT_WRITE,
      "spilled data have changed: expected a checksum of %08x, got %08x",
      own->checksum, found);
}

/// Fails with the error of the store's first failed write.
static hfta_status fail_lost(hfta_store *self, hfta_error *error) {
  pthread_mutex_lock(&self->mutex);
  hfta_error reason = self->lost;
  pthread_mutex_unlock(&self->mutex);
  return hfta_fail(error, reason.code, "%s", reason.message);
}

/// Reads a run whose pieces are all in the same state: written, lost or never
/// written. Pieces that were never written read as zeros.
static hfta_status read_run(hfta_store *self, const run *of,
                            hfta_error *error) {
  const piece *first = &self->pieces[of->first];
  if (first->is_lost)
    return fail_lost(self, error);
  if (!first->is_written) {
    memset(of->memory, 0, of->bytes);
    return HFTA_OK;
  }
  hfta_status status = self->medium->functions->read(
      self->medium, of->offset, of->memory, of->bytes, error);
  return status == HFTA_OK ? for_pieces(self, of, verify, error) : status;
}

/// Writes a run and records its checksums. After a failure all its pieces are
/// lost.
static hfta_status write_run(hfta_store *self, const run *of,
                             hfta_error *error) {
  hfta_status status = self->medium->functions->write(
      self->medium, of->offset, of->memory, of->bytes, error);
  for_pieces(self, of, status == HFTA_OK ? sign : lose, NULL);
  if (status == HFTA_OK)
    return HFTA_OK;
  pthread_mutex_lock(&self->mutex);
  if (self->lost.code == HFTA_OK)
    self->lost = *error;
  pthread_mutex_unlock(&self->mutex);
  return status;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Takes the next run of a request, for one thread to transfer: at most
/// `of->most` bytes, but at least one piece. A run to be read ends before a
/// piece in another state (written, lost or never written) than its first one.
/// The caller holds the mutex.
static run take_run(const hfta_store *self, request *of) {
  uint64_t extent = find_extent(self, of->at), next = of->at;
  run own = {of->at, 0, begin_of(self, extent, of->at), 0, of->memory};
  const piece *first = &self->pieces[of->at];
  for (; next < of->end; ++next) {
    while (next >= self->firsts[extent + 1])
      ++extent;
    uint64_t bytes = begin_of(self, extent, next + 1) - own.offset;
    const piece *other = &self->pieces[next];
    bool is_alike = of->is_write || (other->is_written == first->is_written &&
                                     other->is_lost == first->is_lost);
    if (next > of->at && (bytes > of->most || !is_alike))
      break;
    own.bytes = bytes;
  }
  own.count = next - of->at;
  of->at = next;
  of->memory += own.bytes;
  return own;
}

/// Transfers one run of the queue's first request. If pieces of the request are
/// left, it goes to the end of the queue, so that requests are served
/// round-robin. The caller holds the mutex, which is released during the
/// transfer.
static void work(hfta_store *self) {
  request *own = self->requests;
  run part = take_run(self, own);
  self->requests = own->next;
  if (own->at < own->end) {
    request **last = &self->requests;
    while (*last)
      last = &(*last)->next;
    *last = own;
    own->next = NULL;
  }
  ++own->active;
  if (self->pieces[part.first].is_written || own->is_write)
    *(own->is_write ? &self->traffic.written : &self->traffic.read) +=
        part.bytes;
  pthread_mutex_unlock(&self->mutex);
  hfta_error error;
  hfta_status status = own->is_write ? write_run(self, &part, &error)
                                     : read_run(self, &part, &error);
  pthread_mutex_lock(&self->mutex);
  if (status != HFTA_OK && own->status == HFTA_OK) {
    own->status = status;
    own->error = error;
  }
  if (--own->active == 0 && own->at == own->end)
    pthread_cond_signal(&own->done);
}

static void *thread_main(void *argument) {
  hfta_store *self = argument;
  pthread_mutex_lock(&self->mutex);
  for (;;) {
    while (!self->requests && !self->stopping)
      pthread_cond_wait(&self->wakes, &self->mutex);
    if (!self->requests)
      break;
    work(self);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

/// Returns the most bytes that a thread takes at a time from a request of
/// `bytes` bytes: an equal share for each thread, up to TRANSFER.
static uint64_t share_of(const hfta_store *self, uint64_t bytes) {
  uint64_t threads = (uint64_t)self->thread_count;
  uint64_t share = (bytes + threads - 1) / threads;
  return share < TRANSFER ? share : TRANSFER;
}

/// Transfers the pieces from number `first` to `end` - 1, `bytes` bytes in all,
/// and waits for their completion.
static hfta_status move_pieces(hfta_store *self, bool is_write, uint64_t first,
                               uint64_t end, void *memory, uint64_t bytes,
                               hfta_error *error) {
  if (first == end)
    return HFTA_OK;
  request own = {.is_write = is_write,
                 .at = first,
                 .end = end,
                 .memory = memory,
                 .most = share_of(self, bytes)};
  pthread_cond_init(&own.done, NULL);
  pthread_mutex_lock(&self->mutex);
  request **last = &self->requests;
  while (*last)
    last = &(*last)->next;
  *last = &own;
  pthread_cond_broadcast(&self->wakes);
  while (own.active > 0 || own.at < own.end)
    pthread_cond_wait(&own.done, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
  pthread_cond_destroy(&own.done);
  return own.status == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, own.status, "%s", own.error.message);
}

static hfta_status move_extents(hfta_store *self, bool is_write, uint64_t first,
                                uint64_t count, void *memory,
                                hfta_error *error) {
  return move_pieces(self, is_write, self->firsts[first],
                     self->firsts[first + count], memory,
                     self->begins[first + count] - self->begins[first], error);
}

hfta_status hfta_store_read(hfta_store *self, uint64_t first, uint64_t count,
                            void *to, hfta_error *error) {
  return move_extents(self, false, first, count, to, error);
}

hfta_status hfta_store_write(hfta_store *self, uint64_t first, uint64_t count,
                             const void *from, hfta_error *error) {
  return move_extents(self, true, first, count, (void *)(uintptr_t)from, error);
}

//===----------------------------------------------------------------------===//
// Parts of extents
//===----------------------------------------------------------------------===//

/// Transfers a part of piece `number`, `bytes` bytes at `offset` in the piece,
/// through the store's buffer. The piece, of `size` bytes, is read into the
/// buffer first, unless it is overwritten as a whole. The caller holds the
/// mutex `copying`.
static hfta_status move_part(hfta_store *self, bool is_write, uint64_t number,
                             uint64_t size, uint64_t offset, char *memory,
                             uint64_t bytes, hfta_error *error) {
  hfta_status status = HFTA_OK;
  if (!is_write || bytes < size)
    status =
        move_pieces(self, false, number, number + 1, self->buffer, size, error);
  if (status != HFTA_OK)
    return status;
  memcpy(is_write ? self->buffer + offset : memory,
         is_write ? memory : self->buffer + offset, bytes);
  return is_write ? move_pieces(self, true, number, number + 1, self->buffer,
                                size, error)
                  : HFTA_OK;
}

static hfta_status move_bytes(hfta_store *self, bool is_write, uint64_t extent,
                              uint64_t offset, char *memory, uint64_t bytes,
                              hfta_error *error) {
  hfta_status status = HFTA_OK;
  pthread_mutex_lock(&self->copying);
  while (bytes > 0 && status == HFTA_OK) {
    uint64_t number = self->firsts[extent] + offset / PIECE;
    uint64_t size =
        begin_of(self, extent, number + 1) - begin_of(self, extent, number);
    uint64_t within = offset % PIECE;
    uint64_t part = size - within < bytes ? size - within : bytes;
    status =
        move_part(self, is_write, number, size, within, memory, part, error);
    offset += part;
    memory += part;
    bytes -= part;
  }
  pthread_mutex_unlock(&self->copying);
  return status;
}

hfta_status hfta_store_read_bytes(hfta_store *self, uint64_t extent,
                                  uint64_t offset, void *to, uint64_t bytes,
                                  hfta_error *error) {
  return move_bytes(self, false, extent, offset, to, bytes, error);
}

hfta_status hfta_store_write_bytes(hfta_store *self, uint64_t extent,
                                   uint64_t offset, const void *from,
                                   uint64_t bytes, hfta_error *error) {
  return move_bytes(self, true, extent, offset, (char *)(uintptr_t)from, bytes,
                    error);
}

void hfta_store_forget(hfta_store *self) {
  pthread_mutex_lock(&self->mutex);
  memset(self->pieces, 0,
         sizeof(*self->pieces) * self->firsts[self->extent_count]);
  self->lost.code = HFTA_OK;
  pthread_mutex_unlock(&self->mutex);
}

hfta_store_traffic hfta_store_count(hfta_store *self) {
  pthread_mutex_lock(&self->mutex);
  hfta_store_traffic traffic = self->traffic;
  pthread_mutex_unlock(&self->mutex);
  return traffic;
}

const char *hfta_store_note(const hfta_store *self) {
  return self->medium->functions->note(self->medium);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static uint64_t count_pieces(uint64_t bytes) {
  return bytes / PIECE + (bytes % PIECE != 0);
}

static hfta_status allocate(hfta_store *self, const hfta_store_options *options,
                            hfta_error *error) {
  uint64_t count = self->extent_count = options->extent_count;
  uint64_t bytes = 0, pieces = 0;
  self->begins = calloc(count + 1, sizeof(*self->begins));
  self->firsts = calloc(count + 1, sizeof(*self->firsts));
  self->threads = calloc((size_t)self->thread_count, sizeof(pthread_t));
  self->buffer = hfta_pages_map(PIECE, 1);
  for (uint64_t i = 0; i < count && self->begins && self->firsts; ++i) {
    self->begins[i + 1] = bytes += options->extents[i];
    self->firsts[i + 1] = pieces += count_pieces(options->extents[i]);
  }
  self->pieces = calloc(pieces + 1, sizeof(*self->pieces));
  bool has_all = self->begins && self->firsts && self->threads &&
                 self->buffer && self->pieces;
  return has_all ? HFTA_OK
                 : hfta_fail(error, HFTA_UNSUPPORTED,
                             "not enough memory for a store");
}

/// Starts the threads; after a failure thread_count is the number of those that
/// run.
static hfta_status start_threads(hfta_store *self, hfta_error *error) {
  int wanted = self->thread_count, code = 0;
  for (self->thread_count = 0; self->thread_count < wanted && code == 0;)
    if ((code = hfta_small_thread_start(&self->threads[self->thread_count],
                                        thread_main, self)) == 0)
      ++self->thread_count;
  return code == 0
             ? HFTA_OK
             : hfta_fail(error, HFTA_UNSUPPORTED,
                         "cannot start a store's thread: %s", strerror(code));
}

hfta_status hfta_store_open(const hfta_store_options *options, hfta_store **out,
                            hfta_error *error) {
  *out = NULL;
  hfta_store *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a store");
  int threads = options->threads > 0 ? options->threads : THREADS;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_mutex_init(&self->copying, NULL);
  pthread_cond_init(&self->wakes, NULL);
  self->thread_count = threads;
  hfta_status status = allocate(self, options, error);
  self->thread_count = 0;
  hfta_medium_options medium = options->medium;
  if (status == HFTA_OK) {
    medium.bytes = self->begins[self->extent_count];
    status = hfta_medium_open(&medium, &self->medium, error);
  }
  if (status == HFTA_OK) {
    self->thread_count = threads;
    status = start_threads(self, error);
  }
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_store_close(self);
  return status;
}

uint64_t hfta_store_extent_count(const hfta_store *self) {
  return self->extent_count;
}

uint64_t hfta_store_extent_bytes(const hfta_store *self, uint64_t extent) {
  return self->begins[extent + 1] - self->begins[extent];
}

void hfta_store_close(hfta_store *self) {
  if (!self)
    return;
  pthread_mutex_lock(&self->mutex);
  self->stopping = true;
  pthread_cond_broadcast(&self->wakes);
  pthread_mutex_unlock(&self->mutex);
  for (int i = 0; i < self->thread_count; ++i)
    pthread_join(self->threads[i], NULL);
  hfta_medium_close(self->medium);
  pthread_cond_destroy(&self->wakes);
  pthread_mutex_destroy(&self->copying);
  pthread_mutex_destroy(&self->mutex);
  hfta_pages_unmap(self->buffer, PIECE);
  free(self->threads);
  free(self->begins);
  free(self->firsts);
  free(self->pieces);
  free(self);
}
