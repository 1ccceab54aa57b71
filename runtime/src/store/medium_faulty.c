//===- medium_faulty.c - A medium that injects one fault, for tests -------===//

#include "store/media.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/// Kinds of faults. FLIP inverts a bit without reporting an error.
typedef enum fault { NO_SPACE, IO, SHORT, FLIP, FAULTS } fault;

static const char *const names[FAULTS] = {"no_space", "io", "short", "flip"};

typedef struct faulty_medium {
  hfta_medium base;
  hfta_medium *inner;
  fault kind;
  // The number of the faulty transfer (a read or a write), from 1.
  unsigned long long number;
  atomic_ullong count; // the number of transfers so far
} faulty_medium;

static void faulty_close(hfta_medium *medium) {
  hfta_medium_close(((faulty_medium *)medium)->inner);
  free(medium);
}

/// Counts a transfer. Returns whether it is the faulty one.
static bool is_due(faulty_medium *self) {
  return atomic_fetch_add(&self->count, 1) + 1 == self->number;
}

/// Reports the injected fault as an error. No byte was transferred.
static hfta_status fail(const faulty_medium *self, bool is_write,
                        uint64_t offset, uint64_t bytes, hfta_error *error) {
  if (self->kind == SHORT)
    return hfta_medium_fail(error, is_write, offset, bytes,
                            "the rest is missing");
  return hfta_medium_fail(error, is_write, offset, bytes,
                          strerror(self->kind == NO_SPACE ? ENOSPC : EIO));
}

static hfta_status faulty_read(hfta_medium *medium, uint64_t offset, void *to,
                               uint64_t bytes, hfta_error *error) {
  faulty_medium *self = (faulty_medium *)medium;
  bool fails = is_due(self);
  if (fails && self->kind != FLIP)
    return fail(self, false, offset, bytes, error);
  hfta_status status =
      self->inner->functions->read(self->inner, offset, to, bytes, error);
  if (fails)
    ((unsigned char *)to)[bytes / 2] ^= 16;
  return status;
}

/// Writes to the inner medium. If this is the faulty transfer and the kind is
/// FLIP, writes a copy with one bit inverted: the store must notice that by its
/// checksum when it reads the data back.
static hfta_status faulty_write(hfta_medium *medium, uint64_t offset,
                                const void *from, uint64_t bytes,
                                hfta_error *error) {
  faulty_medium *self = (faulty_medium *)medium;
  if (!is_due(self))
    return self->inner->functions->write(self->inner, offset, from, bytes,
                                         error);
  if (self->kind != FLIP)
    return fail(self, true, offset, bytes, error);
  unsigned char *other = aligned_alloc(4096, bytes);
  if (!other)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a store");
  memcpy(other, from, bytes);
  other[bytes / 2] ^= 16;
  hfta_status status =
      self->inner->functions->write(self->inner, offset, other, bytes, error);
  free(other);
  return status;
}

static const char *faulty_note(const hfta_medium *medium) {
  const hfta_medium *inner = ((const faulty_medium *)medium)->inner;
  return inner->functions->note(inner);
}

static const hfta_medium_functions functions = {.kind = "faulty",
                                                .close = faulty_close,
                                                .read = faulty_read,
                                                .write = faulty_write,
                                                .note = faulty_note};

hfta_status hfta_faulty_medium_open(hfta_medium *inner, const char *text,
                                    hfta_medium **out, hfta_error *error) {
  size_t length = strcspn(text, ":");
  char *end = NULL;
  unsigned long long number = 0;
  int kind = 0;
  while (kind < FAULTS && (strlen(names[kind]) != length ||
                           memcmp(names[kind], text, length) != 0))
    ++kind;
  if (text[length] == ':')
    number = strtoull(text + length + 1, &end, 10);
  if (kind == FAULTS || number == 0 || (*end != '\0' && *end != ','))
    return hfta_fail(error, HFTA_USAGE,
                     "store 'faulty=%s': expected no_space, io, short or flip, "
                     "and the number of a transfer, as in io:3",
                     text);
  faulty_medium *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a store");
  self->base.functions = &functions;
  self->inner = inner;
  self->kind = (fault)kind;
  self->number = number;
  *out = &self->base;
  return HFTA_OK;
}
