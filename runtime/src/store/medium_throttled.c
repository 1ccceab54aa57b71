//===- medium_throttled.c - A medium with a limited data rate -------------===//
//
// It emulates a disk with a given speed, so that measurements of schedules
// don't depend on the machine's disk.
//===----------------------------------------------------------------------===//

#include "store/media.h"
#include "system/clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/// A channel with a limited data rate, which carries one transfer at a time.
typedef struct channel {
  double rate; // bytes per second
  double free; // the end of the last booked transfer, by hfta_now
} channel;

typedef struct throttled_medium {
  hfta_medium base;
  hfta_medium *inner;
  pthread_mutex_t mutex; // protects the channels
  channel channels[2];
  channel *in, *out; // for reads and writes; equal if both share one channel
} throttled_medium;

static void throttled_close(hfta_medium *medium) {
  throttled_medium *self = (throttled_medium *)medium;
  hfta_medium_close(self->inner);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

/// Books the channel for a transfer, after those already booked. Returns the
/// time when it ends, in seconds of hfta_now.
static double book(throttled_medium *self, channel *through, uint64_t bytes) {
  double now = hfta_now();
  pthread_mutex_lock(&self->mutex);
  double begin = through->free > now ? through->free : now;
  double end = through->free = begin + (double)bytes / through->rate;
  pthread_mutex_unlock(&self->mutex);
  return end;
}

static void sleep_until(double time) {
  struct timespec end = hfta_clock_after(time - hfta_now());
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
    ;
}

static hfta_status throttled_read(hfta_medium *medium, uint64_t offset,
                                  void *to, uint64_t bytes, hfta_error *error) {
  throttled_medium *self = (throttled_medium *)medium;
  double end = book(self, self->in, bytes);
  hfta_status status =
      self->inner->functions->read(self->inner, offset, to, bytes, error);
  sleep_until(end);
  return status;
}

static hfta_status throttled_write(hfta_medium *medium, uint64_t offset,
                                   const void *from, uint64_t bytes,
                                   hfta_error *error) {
  throttled_medium *self = (throttled_medium *)medium;
  double end = book(self, self->out, bytes);
  hfta_status status =
      self->inner->functions->write(self->inner, offset, from, bytes, error);
  sleep_until(end);
  return status;
}

static const char *throttled_note(const hfta_medium *medium) {
  const hfta_medium *inner = ((const throttled_medium *)medium)->inner;
  return inner->functions->note(inner);
}

static const hfta_medium_functions functions = {.kind = "throttled",
                                                .close = throttled_close,
                                                .read = throttled_read,
                                                .write = throttled_write,
                                                .note = throttled_note};

/// Parses a positive number. Returns a pointer to the character after it, or
/// NULL if there is none.
static const char *read_rate(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end != text && isfinite(*out) && *out > 0 ? end : NULL;
}

hfta_status hfta_throttled_medium_open(hfta_medium *inner, const char *text,
                                       hfta_medium **out, hfta_error *error) {
  double rates[2] = {0, 0};
  const char *end = read_rate(text, &rates[0]);
  bool is_shared = end && *end != ':';
  if (end && *end == ':')
    end = read_rate(end + 1, &rates[1]);
  if (!end || (*end != '\0' && *end != ','))
    return hfta_fail(error, HFTA_USAGE,
                     "store 'throttled=%s': expected bytes a second, of both "
                     "ways together or READ:WRITE",
                     text);
  throttled_medium *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a store");
  self->base.functions = &functions;
  self->inner = inner;
  pthread_mutex_init(&self->mutex, NULL);
  for (int i = 0; i < 2; ++i)
    self->channels[i].rate = rates[i];
  self->in = &self->channels[0];
  self->out = &self->channels[is_shared ? 0 : 1];
  *out = &self->base;
  return HFTA_OK;
}
