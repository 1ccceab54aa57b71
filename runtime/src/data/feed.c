//===- feed.c - Prefetched batches ----------------------------------------===//

#include "data/feed.h"

#include "data/class_draw.h"
#include "data/shuffle.h"
#include "hfta/program_queries.h"
#include "system/clock.h"
#include "system/thread.h"
#include "workload/made_fields.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/// A buffer for one batch.
typedef struct slot {
  void **inputs; ///< one buffer per field, in the feed's memory
  int64_t valid; ///< the number of samples that aren't padding
  bool filled;   ///< holds a batch that the consumer hasn't released
} slot;

/// The most slots of a feed: for the batches that the consumer uses, for the
/// next batch, and for the one that is being gathered.
enum { MOST_SLOTS = HFTA_BATCHES_OF_DATA - 1 + HFTA_MOST_POSTED_STEPS };

struct hfta_feed {
  const hfta_dataset *dataset;
  const hfta_program *program;
  const hfta_observer *observer; ///< may be NULL
  const bool *reads; ///< for each field and micro-batch, whether it is gathered
  bool training;
  hfta_class_draw draw; ///< for training; empty if each sample occurs once
  int64_t end;          ///< the number after the last batch
  int64_t taken; ///< the number of the batch that the consumer takes next
  int64_t held;  ///< the number of batches that the consumer has taken and may
                 ///< still use
  int64_t most_held; ///< the limit of `held`: when it is reached, the oldest
                     ///< batch is released
  int64_t *indices;  ///< the samples of the batch that is being gathered
  /// For each of these, the number by which it is augmented: its own, or its
  /// position in the epoch if samples may occur several times.
  int64_t *keys;
  int64_t epoch; ///< the epoch of that batch, from 0
  int64_t slot_count;
  slot slots[MOST_SLOTS];
  char *memory; ///< the buffers of all slots: mapped, so that the memory is
                ///< returned to the system, which malloc may not do
  uint64_t memory_bytes;

  pthread_t thread;
  bool thread_started;
  /// Protects the members below, and `filled` of the slots.
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool stopping;
  hfta_status status;
  hfta_error error;
};

static slot *slot_of(hfta_feed *feed, int64_t number) {
  return &feed->slots[number % feed->slot_count];
}

int64_t hfta_steps_per_epoch(const hfta_dataset *dataset) {
  return dataset->samples / dataset->program->batch;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Lists the samples of training batch `number` in feed->indices.
static void choose_training(hfta_feed *feed, int64_t number, slot *target) {
  const hfta_program *program = feed->program;
  int64_t per_epoch = hfta_steps_per_epoch(feed->dataset);
  int64_t begin = number % per_epoch * program->batch;
  hfta_order order = hfta_order_of_epoch(
      (uint64_t)feed->dataset->samples, (uint64_t)(number / per_epoch),
      (uint64_t)program->order_seed, (int)program->shuffle);
  for (int64_t i = 0; i < program->batch; ++i) {
    uint64_t place = (uint64_t)(begin + i);
    int64_t position =
        feed->draw.classes > 0
            ? hfta_class_draw_sample(&feed->draw, (uint64_t)program->order_seed,
                                     order.epoch, place)
            : (int64_t)hfta_order_sample(&order, place);
    feed->indices[i] = hfta_dataset_sample(feed->dataset, position);
    feed->keys[i] = feed->draw.classes > 0 ? (int64_t)place : feed->indices[i];
  }
  feed->epoch = (int64_t)order.epoch;
  target->valid = program->batch;
}

/// Lists the samples of evaluation batch `number` in feed->indices; pads the
/// last batch with the last sample.
static void choose_evaluation(hfta_feed *feed, int64_t number, slot *target) {
  int64_t batch = feed->program->batch, samples = feed->dataset->samples;
  int64_t begin = number * batch;
  target->valid = samples - begin < batch ? samples - begin : batch;
  for (int64_t i = 0; i < batch; ++i)
    feed->indices[i] = hfta_dataset_sample(
        feed->dataset, begin + i < samples ? begin + i : samples - 1);
}

/// Gathers one field's samples of the micro-batches that this rank reads. Each
/// micro-batch has its place in the whole batch.
static hfta_status gather(hfta_feed *feed, uint32_t field, char *batch) {
  int64_t samples = hfta_program_micro_batch(feed->program);
  uint64_t bytes = hfta_batch_bytes(feed->program, field) /
                   (uint64_t)feed->program->micro_batches;
  hfta_status status = HFTA_OK;
  const bool *reads = feed->reads + field * feed->program->micro_batches;
  for (int64_t i = 0; i < feed->program->micro_batches && status == HFTA_OK;
       ++i)
    if (reads[i])
      status = hfta_data_gather(feed->dataset->sources[field],
                                feed->indices + i * samples, samples,
                                batch + bytes * (uint64_t)i, &feed->error);
  return status;
}

/// Gathers the partners of the micro-batches that this rank reads. A partner
/// that is in a micro-batch whose own values were gathered is copied.
static hfta_status gather_partners(hfta_feed *feed, uint32_t index,
                                   const slot *target) {
  const hfta_program *program = feed->program;
  uint32_t of = program->data_fields[index].of;
  int64_t samples = hfta_program_micro_batch(program);
  uint64_t bytes = hfta_batch_bytes(program, of) / (uint64_t)program->batch;
  const bool *reads = feed->reads + index * program->micro_batches,
             *has = feed->reads + of * program->micro_batches;
  char *out = target->inputs[index];
  const char *values = target->inputs[of];
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < program->batch && status == HFTA_OK; ++i) {
    int64_t partner = hfta_partner_of(program, i);
    if (!reads[i / samples])
      continue;
    if (has[partner / samples])
      memcpy(out + bytes * (uint64_t)i, values + bytes * (uint64_t)partner,
             bytes);
    else
      status =
          hfta_data_gather(feed->dataset->sources[of], &feed->indices[partner],
                           1, out + bytes * (uint64_t)i, &feed->error);
  }
  return status;
}

/// Makes the fields that no file holds. An evaluation doesn't use them.
static hfta_status make_fields(hfta_feed *feed, const slot *target) {
  const hfta_program *program = feed->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = program->data_field_count;
       i < hfta_program_field_count(program) && status == HFTA_OK; ++i) {
    if (program->data_fields[i].kind == HFTA_DATA_FIELD_KEYS)
      hfta_write_keys(program, i, feed->keys, feed->epoch, target->inputs[i]);
    else
      status = gather_partners(feed, i, target);
  }
  return status;
}

static hfta_status fill(hfta_feed *feed, int64_t number, slot *target) {
  if (feed->training)
    choose_training(feed, number, target);
  else
    choose_evaluation(feed, number, target);
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < feed->program->data_field_count && status == HFTA_OK;
       ++i)
    status = gather(feed, i, target->inputs[i]);
  return status == HFTA_OK && feed->training ? make_fields(feed, target)
                                             : status;
}

/// Does as `fill`, and reports the activity to the observer, if there is one.
static hfta_status fill_observed(hfta_feed *feed, int64_t number,
                                 slot *target) {
  if (!feed->observer)
    return fill(feed, number, target);
  hfta_activity activity = {
      .kind = HFTA_ACTIVITY_READ, .number = number, .begin = hfta_now()};
  hfta_status status = fill(feed, number, target);
  activity.end = hfta_now();
  feed->observer->done(feed->observer->argument, &activity);
  return status;
}

/// Waits until the consumer has released the slot. Returns false if the feed is
/// being stopped.
static bool wait_for_slot(hfta_feed *feed, slot *target) {
  pthread_mutex_lock(&feed->mutex);
  while (target->filled && !feed->stopping)
    pthread_cond_wait(&feed->changed, &feed->mutex);
  bool go_on = !feed->stopping;
  pthread_mutex_unlock(&feed->mutex);
  return go_on;
}

/// The feed's thread: gathers all batches in order, until the first failure.
static void *feed_main(void *argument) {
  hfta_feed *feed = argument;
  hfta_status status = HFTA_OK;
  for (int64_t number = feed->taken; number < feed->end && status == HFTA_OK;
       ++number) {
    slot *target = slot_of(feed, number);
    if (!wait_for_slot(feed, target))
      return NULL;
    status = fill_observed(feed, number, target);
    pthread_mutex_lock(&feed->mutex);
    feed->status = status;
    target->filled = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
  }
  return NULL;
}

//===----------------------------------------------------------------------===//
// The consumer
//===----------------------------------------------------------------------===//

hfta_status hfta_feed_next(hfta_feed *feed, const void *const **inputs,
                           int64_t *valid, hfta_error *error) {
  *inputs = NULL;
  *valid = 0;
  pthread_mutex_lock(&feed->mutex);
  if (feed->held == feed->most_held) {
    slot_of(feed, feed->taken - feed->held)->filled = false;
    --feed->held;
    pthread_cond_broadcast(&feed->changed);
  }
  slot *source = slot_of(feed, feed->taken);
  while (feed->taken < feed->end && !source->filled)
    pthread_cond_wait(&feed->changed, &feed->mutex);
  hfta_status status = feed->status;
  pthread_mutex_unlock(&feed->mutex);
  if (status != HFTA_OK)
    return hfta_fail(error, status, "%s", feed->error.message);
  if (feed->taken == feed->end)
    return HFTA_OK;
  ++feed->taken;
  ++feed->held;
  *inputs = (const void *const *)source->inputs;
  *valid = source->valid;
  return HFTA_OK;
}

void hfta_feed_offer(hfta_feed *feed, hfta_instance *instance) {
  slot *source = slot_of(feed, feed->taken);
  pthread_mutex_lock(&feed->mutex);
  bool is_there =
      feed->taken < feed->end && source->filled && feed->status == HFTA_OK;
  pthread_mutex_unlock(&feed->mutex);
  if (is_there)
    hfta_instance_offer(instance, (const void *const *)source->inputs);
}

/// Returns the size in bytes of a field's buffer, rounded up to a multiple of
/// 64, so that each buffer is aligned to 64 bytes.
static uint64_t padded_batch_bytes(const hfta_program *program,
                                   uint32_t field) {
  return (hfta_batch_bytes(program, field) + 63) / 64 * 64;
}

static hfta_status allocate_buffers(hfta_feed *feed, hfta_error *error) {
  const hfta_program *program = feed->program;
  uint32_t fields = hfta_program_field_count(program);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < fields; ++i)
    bytes += (uint64_t)feed->slot_count * padded_batch_bytes(program, i);
  feed->indices = calloc((size_t)program->batch, sizeof(*feed->indices));
  feed->keys = calloc((size_t)program->batch, sizeof(*feed->keys));
  bool complete = feed->indices && feed->keys;
  for (int64_t j = 0; j < feed->slot_count; ++j) {
    feed->slots[j].inputs = calloc((size_t)fields + 1, sizeof(void *));
    complete &= feed->slots[j].inputs != NULL;
  }
  void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    feed->memory = memory;
    feed->memory_bytes = bytes + 1;
  }
  if (!complete || !feed->memory)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for %lld batches",
                     (long long)feed->slot_count);
  char *at = feed->memory;
  for (uint32_t i = 0; i < fields; ++i)
    for (int64_t j = 0; j < feed->slot_count; ++j) {
      feed->slots[j].inputs[i] = at;
      at += padded_batch_bytes(program, i);
    }
  return HFTA_OK;
}

static hfta_status start_thread(hfta_feed *feed, hfta_error *error) {
  int code = hfta_small_thread_start(&feed->thread, feed_main, feed);
  if (code != 0)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot start the reader thread: %s", strerror(code));
  feed->thread_started = true;
  return HFTA_OK;
}

static hfta_status start(const hfta_dataset *dataset, const bool *reads,
                         bool training, const hfta_feed_span *span,
                         hfta_feed **out, hfta_error *error) {
  *out = NULL;
  int64_t slot_count = HFTA_BATCHES_OF_DATA - 1 + span->held;
  hfta_feed *feed = calloc(1, sizeof(*feed));
  if (!feed)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for %lld batches",
                     (long long)slot_count);
  feed->dataset = dataset;
  feed->program = dataset->program;
  feed->observer = span->observer;
  feed->reads = reads;
  feed->training = training;
  feed->taken = span->first;
  feed->end = span->end < span->first ? span->first : span->end;
  feed->most_held = span->held;
  feed->slot_count = slot_count;
  pthread_mutex_init(&feed->mutex, NULL);
  pthread_cond_init(&feed->changed, NULL);
  hfta_status status = allocate_buffers(feed, error);
  if (status == HFTA_OK && training)
    status = hfta_class_draw_make(dataset, &feed->draw, error);
  if (status == HFTA_OK)
    status = start_thread(feed, error);
  if (status != HFTA_OK) {
    hfta_feed_stop(feed);
    return status;
  }
  *out = feed;
  return HFTA_OK;
}

hfta_status hfta_feed_start_training(const hfta_dataset *dataset,
                                     const bool *reads,
                                     const hfta_feed_span *span,
                                     hfta_feed **out, hfta_error *error) {
  return start(dataset, reads, true, span, out, error);
}

hfta_status hfta_feed_start_evaluation(const hfta_dataset *dataset,
                                       const bool *reads, hfta_feed **out,
                                       hfta_error *error) {
  int64_t batch = dataset->program->batch;
  const hfta_feed_span all = {.end = (dataset->samples + batch - 1) / batch,
                              .held = 1};
  return start(dataset, reads, false, &all, out, error);
}

void *hfta_feed_memory(const hfta_feed *feed, uint64_t *bytes) {
  *bytes = feed->memory_bytes;
  return feed->memory;
}

void hfta_feed_stop(hfta_feed *feed) {
  if (!feed)
    return;
  if (feed->thread_started) {
    pthread_mutex_lock(&feed->mutex);
    feed->stopping = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    pthread_join(feed->thread, NULL);
  }
  if (feed->memory)
    munmap(feed->memory, feed->memory_bytes);
  for (int j = 0; j < MOST_SLOTS; ++j)
    free(feed->slots[j].inputs);
  free(feed->indices);
  free(feed->keys);
  hfta_class_draw_free(&feed->draw);
  pthread_cond_destroy(&feed->changed);
  pthread_mutex_destroy(&feed->mutex);
  free(feed);
}
