//===- trainer_feed.c - Batches and rates of steps ------------------------===//

#include "training/trainer_impl.h"

#include "instance/instance_facts.h"
#include "schedule/ahead.h"

hfta_status hfta_trainer_start_feed(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t first) {
  if (feeding->feed)
    return HFTA_OK;
  hfta_instance *instance = feeding->instance;
  feeding->fed_steps = first;
  hfta_instance_take_all_fields(instance);
  const hfta_feed_span span = {.first = first,
                               .end = self->total_steps,
                               .held = hfta_instance_may_run_ahead(instance)
                                           ? HFTA_MOST_POSTED_STEPS
                                           : 1,
                               .observer = hfta_trace_observer(self->trace)};
  hfta_status status = hfta_feed_start_training(
      &self->data.train, hfta_instance_reads(instance), &span, &feeding->feed,
      hfta_instance_error(instance));
  if (status != HFTA_OK)
    return status;
  uint64_t bytes;
  void *memory = hfta_feed_memory(feeding->feed, &bytes);
  feeding->is_locked = hfta_instance_may_run_ahead(instance) &&
                       hfta_instance_lock(instance, memory, bytes);
  return HFTA_OK;
}

void hfta_trainer_stop_feed(hfta_feeding *feeding) {
  hfta_feed *feed = feeding->feed;
  uint64_t bytes;
  hfta_instance_offer(feeding->instance, NULL);
  if (feed && feeding->is_locked)
    hfta_instance_unlock(feeding->instance, hfta_feed_memory(feed, &bytes));
  hfta_feed_stop(feed);
  feeding->feed = NULL;
  feeding->is_locked = false;
}

hfta_status hfta_trainer_take_batch(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t step, const void *const **inputs) {
  int64_t valid;
  if (feeding->feed && feeding->fed_steps != step - 1)
    hfta_trainer_stop_feed(feeding);
  hfta_status status = hfta_trainer_start_feed(self, feeding, step - 1);
  if (status == HFTA_OK)
    status = hfta_feed_next(feeding->feed, inputs, &valid,
                            hfta_instance_error(feeding->instance));
  feeding->fed_steps = step;
  return status;
}

hfta_status hfta_trainer_take_rates(hfta_trainer *self,
                                    hfta_instance *instance) {
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0; copy < self->program->copies && status == HFTA_OK;
       ++copy)
    status = hfta_instance_learning_rate(instance, copy, &self->rates[copy]);
  hfta_trainer_take_scheduled(self, instance);
  return status;
}
